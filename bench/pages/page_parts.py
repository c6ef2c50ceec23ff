"""A page of docs/results with its markers. People write the words around them.

    <!-- from bench/results: NAME, ...; table: TABLE -->   a table of the newest measurements of these names (kinds.kKinds) stands below
    <!-- end -->                                           and ends here

    <!-- plot                                              a plot of the next table (plot_spec.py); the line below the marker embeds it,
    title = "..."                                          and its alternative text is the picture's description
    -->
    ![what the plot shows](NAME.svg)
"""
import re

import page_tables
import plot_picture
import plot_spec
from problem import Problem

_kFrom = re.compile(r"<!-- from bench/results: (.+); table: (\S+) -->")
_kEnd = "<!-- end -->"
_kPlot = "<!-- plot"
_kImage = re.compile(r"!\[(.+)\]\(([\w.-]+\.svg)\)")
_kPicture = re.compile(r"!\[[^\]]*\]\(([\w.-]+\.svg)\)")


def _table(page, lines, at, measurements, text):
    """(the lines from the marker to its end, the line behind them)"""
    where, marker = f"{page}:{at + 1}", _kFrom.fullmatch(lines[at])
    if not marker:
        raise Problem(where, "a marker of a table is not understood", lines[at], "<!-- from bench/results: NAME, ...; table: TABLE -->", "to mend it")
    end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("<!-- ")), None)
    if end is None or lines[end] != _kEnd:
        raise Problem(where, "a marker of a table has no end", "the end of the page" if end is None else lines[end], _kEnd, "that line behind the table")
    table, dates = measurements.table(where, [name.strip() for name in marker[1].split(",")], marker[2])
    for date in dates:
        if date not in text:
            raise Problem(where, "the page does not say when its figures were measured", f"no {date}", "each date of the measurements in its words",
                          "to correct the page's words")
    return [lines[at], "", table, "", lines[end]], end + 1


def with_tables(page, text, measurements):
    """The page's text with its tables as the measurements have them."""
    lines, done, at = text.split("\n"), [], 0
    while at < len(lines):
        if lines[at].startswith("<!-- from"):
            part, at = _table(page, lines, at, measurements, text)
            done += part
            continue
        if lines[at] == _kEnd:
            raise Problem(f"{page}:{at + 1}", "an end has no marker", _kEnd, "<!-- from bench/results: ... --> above it", "to delete one of them")
        done.append(lines[at])
        at += 1
    return "\n".join(done)


def _plot(page, lines, at):
    """(the SVG's name, its text)"""
    where = f"{page}:{at + 1}"
    end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith(("-->", "<!--"))), None)
    if lines[at] != _kPlot or end is None or lines[end] != "-->":
        raise Problem(where, "a marker of a plot has no end", lines[at] if end is None else lines[end], "<!-- plot, lines of TOML, -->", "the line -->")
    image = _kImage.fullmatch(lines[end + 1]) if end + 1 < len(lines) else None
    if not image:
        raise Problem(where, "a plot is embedded below its marker, with words for those who do not see it", f"'{''.join(lines[end + 1:end + 2])}'",
                      "![what the plot shows](NAME.svg)", "that line")
    spec = plot_spec.read(where, "\n".join(lines[at + 1:end]))
    plot = plot_spec.of_table(spec, page_tables.next_table(page, lines, end + 2))
    return image[2], plot_picture.draw(where, plot, image[1])


def plots(page, text):
    """[(the SVG's name, its text)] of a page whose tables are as they shall be."""
    lines = text.split("\n")
    return [_plot(page, lines, at) for at, line in enumerate(lines) if line.startswith(_kPlot)]


def embedded(text):
    """The names of the pictures that a page shows."""
    return set(_kPicture.findall(text))
