"""Plots as SVG: a row for each name, with points or bars along a common axis. Pure: standard library only."""
import math
import os
import sys
from xml.sax.saxutils import escape

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import svg
from problem import Problem

kWidth, kEdge = 760, 16      # pixels: of the picture, free on each side
kRow, kBar, kBetween = 20, 11, 10  # pixels: a row of points, a bar, between rows of bars
kApart, kAllApart = 3, 9     # pixels: of two series in a row, and of the first and the last at most, so that equal numbers show
kMark, kLineMark = 18, 30    # pixels: a mark of the legend and its gap
kManyRows = 20               # from so many rows on the axis stands above them, too
kTicks = 6                   # of an axis, about
kNearZero = 0.4              # an axis of points begins at 0 where the least number is below so many times the largest


def _ticks(least, most):
    """Round numbers from at or below the least to at or above the most."""
    rough = (most - least) / kTicks or 1
    step = next(s for s in (m * 10 ** math.floor(math.log10(rough)) for m in (1, 2, 2.5, 5, 10)) if s >= rough * (1 - 1e-9))
    first, last = math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9)
    last = max(last, first + 1)
    return [round(i * step, 10) for i in range(first, last + 1)]


class _Layout:
    """Where things are, in pixels."""

    def __init__(self, plot):
        self.plot, self.is_bars = plot, plot.form == "bars"
        numbers = [found[0] for _, values in plot.series for found in values if found] + ([plot.line] if plot.line is not None else [])
        begin = 0 if self.is_bars or min(numbers) < kNearZero * max(numbers) else min(numbers)
        self.ticks = _ticks(min(begin, *numbers), max(numbers))
        self.left = kEdge + max(map(svg.width_of, plot.names)) + 8
        written = max(svg.width_of(found[1]) for _, values in plot.series for found in values if found) + 6 if self.is_bars else 0
        self.right = kWidth - kEdge - max(written, svg.width_of(f"{self.ticks[-1]:g}") / 2)
        self.row = len(plot.series) * kBar + kBetween if self.is_bars else kRow
        self.legend = list(self._legend(y=44))
        self.top = self.legend[-1][1] + (30 if len(plot.names) > kManyRows else 14)
        self.bottom = self.top + self.row * len(plot.names)
        self.height = self.bottom + 48

    def _legend(self, y):
        """(x, y, number of the series or None for the line, words), as many on a line as fit."""
        x = kEdge
        entries = [(i, name, kMark) for i, (name, _) in enumerate(self.plot.series)]
        if self.plot.line is not None:
            entries.append((None, self.plot.line_says, kLineMark))
        for i, words, mark in entries:
            wide = mark + svg.width_of(words)
            if x > kEdge and x + wide > kWidth - kEdge:
                x, y = kEdge, y + 18
            yield x, y, i, words
            x += wide + 18

    def x(self, number):
        return round(self.left + (self.right - self.left) * (number - self.ticks[0]) / (self.ticks[-1] - self.ticks[0]), 1)

    def y(self, row):
        return self.top + self.row * row


def _mark(series, x, y, inner=""):
    """A shape of its own for each series, so that colours are not needed to tell them apart."""
    colour, end = f'class="c{series}"', f">{inner}</{{}}>" if inner else "/>"
    if series == 0:
        return f'<circle cx="{x:g}" cy="{y:g}" r="4.5" {colour}' + end.format("circle")
    if series == 5:
        return f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="none" class="k5" stroke-width="2"' + end.format("circle")
    shapes = {1: "m-4-4h8v8h-8z", 2: "m0-5.5 5.5 5.5-5.5 5.5-5.5-5.5z", 3: "m0-5 5 9h-10z", 4: "m0 5-5-9h10z"}
    return f'<path d="M{x:g} {y:g}{shapes[series]}" {colour}' + end.format("path")


def _line(x1, y1, x2, y2, kind, more=""):
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" class="{kind}"{more}/>'


kDashed = ' stroke-dasharray="5 3" stroke-width="1.5"'


def _legend(at):
    for x, y, series, words in at.legend:
        if series is None:
            yield _line(x, y - 4, x + kLineMark - 8, y - 4, "rule", kDashed)
        elif at.is_bars:
            yield f'<rect x="{x:g}" y="{y - 10:g}" width="11" height="11" class="c{series}"/>'
        else:
            yield _mark(series, x + 6, y - 4)
        yield svg.text(x + (kLineMark if series is None else kMark), y, words)


def _axis(at):
    for tick in at.ticks:
        yield _line(at.x(tick), at.top, at.x(tick), at.bottom, "grid")
        for y in (at.bottom + 16, *([at.top - 6] if len(at.plot.names) > kManyRows else [])):
            yield svg.text(at.x(tick), y, f"{tick:g}", svg.kMiddle)
    yield svg.text(kWidth / 2, at.bottom + 36, at.plot.axis, svg.kMiddle)


def _points(at, row):
    y, last = at.y(row) + at.row / 2, len(at.plot.series) - 1
    yield _line(at.left, y, at.right, y, "grid")
    apart = min(kApart, kAllApart / max(last, 1))
    for i, (name, values) in enumerate(at.plot.series):
        if values[row]:
            yield _mark(i, at.x(values[row][0]), round(y + apart * (i - last / 2), 1), f"<title>{escape(name)}: {values[row][1]}</title>")


def _bars(at, row):
    for i, (name, values) in enumerate(at.plot.series):
        if values[row]:
            y, (begin, end) = at.y(row) + kBetween / 2 + i * kBar, sorted((at.x(0), at.x(values[row][0])))
            yield (f'<rect x="{begin:g}" y="{y:g}" width="{end - begin:.1f}" height="{kBar - 1}" class="c{i}">'
                   f"<title>{escape(name)}: {values[row][1]}</title></rect>")
            yield svg.text(round(end + 4, 1), y + kBar - 2, values[row][1], ' font-size="11" class="over"')


def _check(where, at):
    for words, wide, most in ((at.plot.title, 1.1, kWidth), (at.plot.axis, 1, kWidth), *((words, 1, kWidth - kLineMark) for *_, words in at.legend)):
        if wide * svg.width_of(words) > most - 2 * kEdge:
            raise Problem(where, "a line of a plot's text is too long", f"'{words}'", f"at most {int((most - 2 * kEdge) / wide / svg.width_of('x'))} characters",
                          "fewer words")
    if at.right - at.left < kWidth / 4:
        raise Problem(where, "the names of a plot's rows leave no room", f"{max(at.plot.names, key=len)}", "shorter names", "another column of names")


def draw(where, plot, description):
    """The text of the SVG; the description is what those who do not see the picture get."""
    if not any(found for _, values in plot.series for found in values):
        raise Problem(where, "a plot has nothing to show", "no number", "at least one", "other columns or rows")
    at = _Layout(plot)
    _check(where, at)
    parts = [svg.text(kEdge, 24, plot.title, svg.kBold), *_legend(at), *_axis(at)]
    if plot.line is not None:
        parts.append(_line(at.x(plot.line), at.top, at.x(plot.line), at.bottom, "rule", kDashed))
    for row, name in enumerate(plot.names):
        parts.append(svg.text(at.left - 8, at.y(row) + at.row / 2 + 4, name, svg.kEnd))
        parts += _bars(at, row) if at.is_bars else _points(at, row)
    return svg.picture(kWidth, at.height, plot.title, description, parts)
