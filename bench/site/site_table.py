"""A table of figures on the disk, a row at a time: a second start finds what the first one has measured."""
import csv
import os


class Table:
    """Rows as dictionaries of texts and numbers. The columns `keys` name a row."""

    def __init__(self, path, keys, figures):
        self.path, self.keys, self.columns, self.rows = path, keys, [*keys, *figures], {}
        if os.path.exists(path):
            for row in read(path):
                self.rows[self._key(row)] = row
        else:
            with open(path, "w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow(self.columns)

    def __contains__(self, key):
        return key in self.rows

    def add(self, **row):
        """Is on the disk when this returns."""
        text = {name: _text(row.get(name, "")) for name in self.columns}
        with open(self.path, "a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, self.columns).writerow(text)
        parsed = _parsed(text)
        self.rows[self._key(parsed)] = parsed

    def _key(self, row):
        return tuple(row[name] for name in self.keys)


def _text(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _parsed(row):
    """Figures as numbers: the columns whose names have a unit."""
    return {name: float(text) if text and name.endswith(("_ms", "_s", "_j", "_kib", "_bytes")) else text for name, text in row.items()}


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [_parsed(row) for row in csv.DictReader(file) if None not in row.values()]
