"""The files of bench/results, and the tables of pages that are made from them.

A file is DATE-NAME.json; a page asks for NAME and gets the newest. An older one of a name, and a name that no page asks for, is a problem: figures
live in the pages, and a measurement that no page shows is a figure that nobody sees.
"""
import json
import re

from kinds import kKinds, kind_of
from problem import Problem

_kFile = re.compile(r"(\d{4}-\d\d-\d\d)-(.+)\.json")
_kAgain = "to measure again, or another file"


def _read(path):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise Problem(path.name, "it cannot be read as JSON", str(problem), "what a program of bench writes", _kAgain) from None
    if not isinstance(document, dict) or kind_of(document) is None:
        got = f"the keys {', '.join(sorted(document))}" if isinstance(document, dict) else f"a {type(document).__name__}"
        kinds = ", ".join(f"{kind} ({', '.join(sorted(keys))})" for kind, (keys, _) in kKinds.items())
        raise Problem(path.name, "it is of no known kind", got, f"one of {kinds}", "a row in kKinds of bench/pages/kinds.py, or to delete the file")
    return document


class Measurements:
    """Each file is read once. `used` has the files that a page has asked for."""

    def __init__(self, folder):
        self.files, self.used = {}, set()
        for path in sorted(folder.glob("*.json")):
            named = _kFile.fullmatch(path.name)
            if not named:
                raise Problem(path.name, "its name has no date", path.stem, "DATE-NAME.json, as 2026-11-22-amd-epyc-cores-0.4.json", "to rename it")
            self.files.setdefault(named[2], []).append((named[1], path))
        self.documents = {path: _read(path) for of_name in self.files.values() for _, path in of_name}

    def newest(self, where, name):
        """(path, document)"""
        if name not in self.files:
            raise Problem(where, "no measurement has this name", name, f"one of {', '.join(sorted(self.files)) or 'none at all'}",
                          "to measure it into bench/results, or another name")
        path = max(self.files[name])[1]
        self.used.add(path)
        return path, self.documents[path]

    def table(self, where, names, wanted):
        """(the table as Markdown, the dates of its measurements)"""
        found = [self.newest(where, name) for name in names]
        kinds = sorted({kind_of(document) for _, document in found})
        if len(kinds) > 1:
            raise Problem(where, "a table has measurements of one kind", ", ".join(kinds), "one kind", "a table for each")
        of_kind = kKinds[kinds[0]][1]
        if wanted not in of_kind:
            raise Problem(where, f"measurements of the kind {kinds[0]} have no such table", wanted, f"one of {', '.join(of_kind)}", "one of these")
        make, most = of_kind[wanted]
        if most is not None and len(found) > most:
            raise Problem(where, f"the table {wanted} is made from fewer measurements", f"{len(found)} names", str(most), "a table for each")
        files = ", ".join(path.name for path, _ in found)
        try:
            return make([document for _, document in found]), sorted({document["date"] for _, document in found})
        except KeyError as problem:
            raise Problem(files, f"the table {wanted} needs a key that is missing", f"no {problem}", "what its program writes today", _kAgain) from None
        except (AttributeError, IndexError, StopIteration, TypeError, ValueError) as problem:
            raise Problem(files, f"the table {wanted} cannot be made", str(problem) or type(problem).__name__, "what its program writes today",
                          _kAgain) from None

    def check_that_all_are_used(self):
        for name, of_name in sorted(self.files.items()):
            newest = max(of_name)[1]
            for _, path in of_name:
                if path not in self.used:
                    why = f"{newest.name} is newer" if path != newest else f"no page has a table from {name}"
                    raise Problem(path.name, "no page shows this measurement", why, "every file of bench/results in a page",
                                  "a marker in a page of docs/results, or to delete the file")
