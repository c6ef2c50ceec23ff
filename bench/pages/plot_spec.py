"""What a page says of a plot, in TOML, with its table to what the plot shows. Pure: standard library only.

    title, axis   what is shown, and what the numbers are, with their unit
    names         the column whose cells name the rows
    series        [{column, name, part}, ...]: what is shown of each row; name: that of the column, part: of the cell (page_tables.kParts)
    form          "points" or "bars" (points)
    line, line_says  a number at which the plot has a line, and what the line means
    only          {column = text}: rows whose cells are this text alone
    without       [name, ...]: rows that are left out
    words         {word = number}: cells of words that stand for a number
"""
import dataclasses
import tomllib

from page_tables import kParts, number
from problem import Problem

kForms = ("points", "bars")
kMost = {"points": 6, "bars": 6}  # series that can be told apart: svg.kColours
_kNeeded = {"title": str, "axis": str, "names": str, "series": list}
_kTypes = {**_kNeeded, "form": str, "line": (int, float), "line_says": str, "only": dict, "without": list, "words": dict}
_kSeries = {"column": str, "name": str, "part": str}
_kToWrite = "what bench/pages/plot_spec.py lists"


@dataclasses.dataclass
class Plot:
    """`series` is [(name, [(number, as written) or None, for each of names])]."""
    title: str
    axis: str
    names: list
    series: list
    form: str = "points"
    line: float | None = None
    line_says: str = ""


def _check(where, what, values, types, needed):
    for key in needed:
        if key not in values:
            raise Problem(where, f"{what} lacks '{key}'", ", ".join(values) or "nothing", ", ".join(needed), _kToWrite)
    for key, value in values.items():
        if key not in types:
            raise Problem(where, f"{what} has an unknown key", f"'{key}'", f"one of {', '.join(types)}", _kToWrite)
        if not isinstance(value, types[key]) or isinstance(value, bool):
            raise Problem(where, f"{what} has '{key}' of another type", repr(value), _kToWrite, "to mend it")


def read(where, text):
    """The specification as a dictionary, checked but for its table."""
    try:
        spec = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise Problem(where, "a plot's marker is no TOML", str(problem), "key = value on each line", _kToWrite) from None
    _check(where, "a plot", spec, _kTypes, _kNeeded)
    form = spec.setdefault("form", "points")
    if form not in kForms:
        raise Problem(where, "a plot has an unknown form", f"'{form}'", f"one of {', '.join(kForms)}", "one of these")
    if ("line" in spec) != ("line_says" in spec):
        raise Problem(where, "a line of a plot says what it means", "one of line and line_says", "both or none", "to add the other")
    if not 1 <= len(spec["series"]) <= kMost[form]:
        raise Problem(where, "a plot has series that can be told apart", f"{len(spec['series'])}", f"1 to {kMost[form]}", "two plots")
    for series in spec["series"]:
        _check(where, "a series", series if isinstance(series, dict) else {}, _kSeries, ["column"])
        if series.setdefault("part", "first") not in kParts:
            raise Problem(where, "a series has an unknown part", f"'{series['part']}'", f"one of {', '.join(kParts)}", "one of these")
    return spec


def _kept(spec, table):
    """The numbers of the rows that the plot shows."""
    names, kept = table.column(spec["names"]), set(range(len(table.rows)))
    for head, text in spec.get("only", {}).items():
        kept &= {i for i, cell in enumerate(table.column(head)) if cell == text}
    kept -= {i for i, name in enumerate(names) if name in spec.get("without", [])}
    if not kept:
        raise Problem(table.where, "a plot shows no row of its table", f"only = {spec.get('only', {})}", "at least one row", "other rows")
    return sorted(kept)


def of_table(spec, table):
    kept, names, words = _kept(spec, table), table.column(spec["names"]), spec.get("words", {})
    series = []
    for wanted in spec["series"]:
        cells = table.column(wanted["column"])
        series.append((wanted.get("name", wanted["column"]), [number(table, cells[i], wanted["part"], words) for i in kept]))
    return Plot(spec["title"], spec["axis"], [names[i].strip("`") for i in kept], series, spec["form"], spec.get("line"), spec.get("line_says", ""))
