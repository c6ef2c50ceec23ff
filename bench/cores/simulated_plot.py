"""A bar for each board and policy, as SVG: how many times as fast as equal slices. Pure: standard library only."""
import math

import papers
import simulated
import svg as picture

kColours = {"equal": picture.kGrey, "ratio": picture.kOchre, "asymo": picture.kBlue, "sani": picture.kGreen, "adaptive": picture.kVermilion}
kBar, kGap, kHeight = 12, 22, 260   # pixels: a bar's width, between boards, of the plot
kLeft, kTop, kBottom = 40, 40, 110  # pixels: margins for numbers, the legend, names


def top_of(means):
    """Of the scale: the next half above every bar and the line."""
    return math.ceil(2 * max([papers.kAsymoConv, *(value for mean in means for value in mean.values())])) / 2


def _bars(x, mean, y):
    for i, (policy, value) in enumerate(mean.items()):
        yield (f'<rect x="{x + i * kBar}" y="{y(value):.1f}" width="{kBar - 1}" height="{y(0) - y(value):.1f}" class="c{kColours[policy]}">'
               f"<title>{policy} {value:.2f}</title></rect>")


def _scale(width, top, y):
    line = y(papers.kAsymoConv)
    for step in range(int(2 * top) + 1):
        yield f'<line x1="{kLeft}" x2="{width}" y1="{y(step / 2):.1f}" y2="{y(step / 2):.1f}" class="grid"/>'
        yield f'<text x="{kLeft - 6}" y="{y(step / 2) + 4:.1f}" text-anchor="end">{step / 2:.1f}</text>'
    yield f'<line x1="{kLeft}" x2="{width}" y1="{line:.1f}" y2="{line:.1f}" class="k{kColours["asymo"]}" stroke-dasharray="5 4"/>'


def _legend():
    for i, (policy, colour) in enumerate(kColours.items()):
        yield f'<rect x="{kLeft + 90 * i}" y="4" width="12" height="12" class="c{colour}"/>'
        yield f'<text x="{kLeft + 90 * i + 17}" y="14">{policy}</text>'
    x = kLeft + 90 * len(kColours)
    yield f'<line x1="{x}" x2="{x + 30}" y1="10" y2="10" class="k{kColours["asymo"]}" stroke-dasharray="5 4"/>'
    yield f'<text x="{x + 36}" y="14">the most that AsyMo reports of convolutional networks</text>'


def svg(boards):
    means = [simulated.geometric_means(board) for board in boards]
    top = top_of(means)
    group = len(simulated.kPolicies) * kBar + kGap
    width, bottom = kLeft + kGap + group * len(boards), kTop + kHeight

    def y(value):
        return bottom - kHeight * value / top
    parts = [*_legend(), picture.text(kLeft, kTop - 6, "times as fast as equal slices"), *_scale(width, top, y)]
    for i, (board, mean) in enumerate(zip(boards, means)):
        x = kLeft + kGap + i * group
        parts += _bars(x, mean, y)
        parts.append(picture.text(0, 0, board["file"], f' transform="translate({x + 30},{bottom + 14}) rotate(30)"'))
    return picture.picture(width + 60, bottom + kBottom, "Simulated: times as fast as equal slices, geometric mean over the networks",
                           "Bars of the policies " + ", ".join(kColours) + " for each board; a longer bar is a faster policy.", parts)
