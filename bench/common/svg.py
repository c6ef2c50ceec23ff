"""Pictures as SVG that are readable in light and in dark mode. Pure: standard library only.

A page shows them as <img>, where nothing but the picture's own style applies; so each paints its background, and its colours are classes that
the style tells for both modes: c0 to c5 fill, k0 to k5 draw lines.
"""
from xml.sax.saxutils import escape

# (light, dark): blue, vermilion, green, purple, ochre and grey, which people who see red and green alike can tell apart (after Okabe and Ito).
kColours = (("#0072b2", "#58b0e8"), ("#d55e00", "#ff9a52"), ("#00805e", "#3fc79a"), ("#a04f86", "#e29bc9"), ("#9a6700", "#e3b341"),
            ("#6e7781", "#a0a8b2"))
kBlue, kVermilion, kGreen, kPurple, kOchre, kGrey = range(6)
_kInk, _kPaper, _kGrid, _kRule = ("#1f2328", "#f0f3f6"), ("#ffffff", "#0d1117"), ("#d8dee4", "#30363d"), ("#57606a", "#b1bac4")
# Pixels of a character of 12: the mean of DejaVu Sans, one of the widest fonts that a browser takes for sans-serif.
_kCharacter = 7.2


def width_of(text):
    """At most so many pixels, but for words of wide letters alone."""
    return len(text) * _kCharacter


def _rules(mode):
    yield f"text{{fill:{_kInk[mode]}}}.paper{{fill:{_kPaper[mode]}}}.grid{{stroke:{_kGrid[mode]}}}.rule{{stroke:{_kRule[mode]}}}"
    yield f".over{{paint-order:stroke;stroke:{_kPaper[mode]};stroke-width:3px}}"  # words over lines
    for i, colour in enumerate(kColours):
        yield f".c{i}{{fill:{colour[mode]}}}.k{i}{{stroke:{colour[mode]}}}"


def text(x, y, words, more=""):
    return f'<text x="{x:g}" y="{y:g}"{more}>{escape(words)}</text>'


kEnd, kMiddle, kBold = ' text-anchor="end"', ' text-anchor="middle"', ' font-weight="bold"'


def picture(width, height, title, description, parts):
    """The whole file. A screen reader has the title and the description."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img" '
        'aria-labelledby="title desc" font-family="sans-serif" font-size="12">',
        f'<title id="title">{escape(title)}</title>', f'<desc id="desc">{escape(description)}</desc>',
        f'<style>{"".join(_rules(0))}@media(prefers-color-scheme:dark){{{"".join(_rules(1))}}}</style>',
        f'<rect width="{width:g}" height="{height:g}" class="paper"/>', *parts, "</svg>", ""])
