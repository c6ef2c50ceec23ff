"""Tables in Markdown to names and numbers. Pure: standard library only."""
import dataclasses
import re

from problem import Problem

_kNumber = r"[+-]?\d+(?:,\d{3})*(?:\.\d+)?"
# Where in a cell a number stands: "7.24 (0.69)" has 7.24 first and 0.69 in brackets, "95.0 / 86.0" has 86.0 second.
kParts = {"first": re.compile(rf"\**({_kNumber})"), "brackets": re.compile(rf".*\(({_kNumber})\)"), "second": re.compile(rf"[^/]*/ *\**({_kNumber})")}
_kNothing = ("", "-")


@dataclasses.dataclass
class Table:
    """`where` is for messages; every row has as many cells as the heads."""
    where: str
    heads: list
    rows: list

    def column(self, head):
        if head not in self.heads:
            raise Problem(self.where, "the table has no such column", f"'{head}'", f"one of {', '.join(map(repr, self.heads))}", "one of these")
        return [row[self.heads.index(head)] for row in self.rows]


def _cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def next_table(page, lines, begin):
    """The first table from the line on; lines count from 0."""
    at = next((i for i in range(begin, len(lines)) if lines[i].startswith("|")), None)
    if at is None:
        raise Problem(f"{page}:{begin}", "no table stands below the plot", "the end of the page", "a table", "to put the plot above its table")
    end = next((i for i in range(at, len(lines)) if not lines[i].startswith("|")), len(lines))
    heads, *rows = [_cells(line) for line in lines[at:end]]
    for i, row in enumerate(rows):
        if len(row) != len(heads):
            raise Problem(f"{page}:{at + i + 2}", "a row has other columns than its table", f"{len(row)}", f"{len(heads)}", "to mend the row")
    return Table(f"{page}:{at + 1}", heads, rows[1:])


def number(table, cell, part, words):
    """(the number, as it is written) of a cell; None where the cell says that there is none. `words` are cells that stand for a number."""
    if cell in _kNothing:
        return None
    found = kParts[part].match(cell)
    if found:
        return float(found[1].replace(",", "")), found[1]
    for word, value in words.items():
        if cell == word or cell.startswith(f"{word} ("):
            return float(value), word
    raise Problem(table.where, f"a cell has no number ({part})", f"'{cell}'", "a number, '-' or nothing", "another column, part or rows, or a word of `words`")
