#!/usr/bin/env python3
"""Compares the real includes with the table in cmake/layers.cmake.

The command line (PROGRAM) may include the public headers and PROGRAM_LAYERS; each file of it that includes more, itself or
through other headers of the command line, has a line in a mete_exceptions() of the table, with the layers that it needs, under the reason.

The module of the Python package (MODULE) may include the public headers and its own folder.

A file of a library may include the headers of its own folder, of the libraries in its LAYERS (and, through
them, of theirs), and of include/mete; tests (*_test.cc, *_fuzz.cc, *_testing.h) also those of its TEST_LAYERS. Prints each violation with
the way out; the exit status is 1 where there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = "apps/mete/"
PROGRAM_LAYERS = ["base"]  # tables, JSON, units, errors: functions without state
MODULE = "python/binding/"
KEYWORDS = ("LINKS", "LAYERS", "TEST_LAYERS", "TEST_LINKS", "WITHOUT")


def read_table(text):
    """{name: {"folder": ..., "LAYERS": [...], "TEST_LAYERS": [...]}} of every mete_library() line."""
    text = re.sub(r"#.*", "", text)
    table = {}
    for call in re.findall(r"\bmete_library\(([^)]*)\)", text):
        words = call.split()
        entry = {"folder": words[1], **{k: [] for k in KEYWORDS}}
        key = None
        for word in words[2:]:
            if word in KEYWORDS:
                key = word
            elif key:
                entry[key].append(word)
        table[words[0]] = entry
    return table


def read_exceptions(text):
    """{path: [layer, ...]} of every mete_exceptions("reason" FILE LAYERS layer... [FILE LAYERS layer...]...)."""
    exceptions = {}
    for group in re.findall(r'\bmete_exceptions\("[^"]+"([^)]*)\)', re.sub(r"#.*", "", text)):
        for path, layers in re.findall(r"(\S+)\s+LAYERS((?:\s+(?!\S+\s+LAYERS)\S+)+)", group):
            exceptions[path] = layers.split()
    return exceptions


def reachable(table, names):
    """`names` and everything below them."""
    seen, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name not in seen and name in table:
            seen.add(name)
            todo.extend(table[name]["LAYERS"])
    return seen


def owner_of(table, path):
    """The library whose folder holds `path` (the deepest one), or None."""
    best = None
    for name, entry in table.items():
        folder = entry["folder"] + "/"
        if path.startswith(folder) and (best is None or len(folder) > len(table[best]["folder"]) + 1):
            best = name
    return best


def resolve(include, source, root):
    """The path, relative to `root`, of the file that #include "..." means, or None where it is not ours."""
    for base in (source.parent, root / "src", root / "include", root / PROGRAM, root):
        candidate = base / include
        if candidate.is_file():
            return candidate.resolve().relative_to(root).as_posix()
    return None


def included(source, root=ROOT):
    """(line number, path) of each of our own files that `source` includes, but for public headers."""
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        target = match and resolve(match.group(1), source, root)
        if target and not target.startswith("include/"):
            yield number, target


def check_file(table, source):
    path = source.relative_to(ROOT).as_posix()
    owner = owner_of(table, path)
    if owner is None:
        return []
    allowed = reachable(table, [owner])
    if re.search(r"_(test|fuzz|testing)\.(cc|h)$", path):
        allowed |= reachable(table, table[owner]["TEST_LAYERS"])
    problems = []
    for number, target in included(source):
        other = owner_of(table, target)
        if other is None and any(table[name]["folder"].startswith(target.rpartition("/")[0] + "/") for name in allowed):
            continue  # a header above several libraries (src/import/import.h) belongs to each of them
        if other is None and target.startswith("src/"):
            problems.append(f"{path}:{number}: {target} belongs to no library in cmake/layers.cmake")
        elif other is not None and other not in allowed:
            problems.append(f"{path}:{number}: {owner} may not include {other} ({target}); "
                            f"turn the dependency round, or add {other} to the LAYERS of {owner} in cmake/layers.cmake")
    return problems


def program_layers(table, source, root, seen=()):
    """{layer: (line number of `source`, path of the header of that layer)} of the layers that a file of the command line includes, itself or
    through other headers of the command line."""
    others = {}
    for number, target in included(source, root):
        other = owner_of(table, target)
        if other and other not in PROGRAM_LAYERS:
            others.setdefault(other, (number, target))
        elif target.startswith(PROGRAM) and target not in seen:
            for layer, (_, header) in program_layers(table, root / target, root, (*seen, target)).items():
                others.setdefault(layer, (number, header))
    return others


def check_program_file(table, exceptions, source, root=ROOT):
    path = source.relative_to(root).as_posix()
    named = exceptions.get(path, [])
    unknown = [name for name in named if name not in table]
    if unknown:
        return [f"cmake/layers.cmake: {path} names layers that there are not: {', '.join(unknown)}"]
    others = program_layers(table, source, root)
    problems = [f"{path}:{number}: the command line is written on the public headers; got {target} of {name}, expected a header of include/mete; "
                f"try a public function, or a line in a mete_exceptions() of cmake/layers.cmake"
                for name, (number, target) in others.items() if name not in named]
    problems += [f"cmake/layers.cmake: {path} has an exception for {name}, which it does not include; try to delete it"
                 for name in named if name not in others]
    return problems


def check_module_file(source, root=ROOT):
    path = source.relative_to(root).as_posix()
    return [f"{path}:{number}: the Python module is written on the public headers; got {target}, expected a header of include/mete; try a public function"
            for number, target in included(source, root) if not target.startswith(MODULE)]


def find_cycles(table):
    return [f"cmake/layers.cmake: {name} reaches itself through its LAYERS"
            for name, entry in table.items() if name in reachable(table, entry["LAYERS"])]


def main():
    text = (ROOT / "cmake/layers.cmake").read_text()
    table, exceptions = read_table(text), read_exceptions(text)
    problems = find_cycles(table)
    problems += [f"cmake/layers.cmake: {path} has an exception, but there is no such file" for path in exceptions if not (ROOT / path).is_file()]
    files = 0
    for folder in ("src", "apps", "python", "zoo", "tools"):
        for source in sorted((ROOT / folder).rglob("*")):
            if source.suffix in (".h", ".cc"):
                files += 1
                path = source.relative_to(ROOT).as_posix()
                if path.startswith(PROGRAM):
                    problems += check_program_file(table, exceptions, source)
                elif path.startswith(MODULE):
                    problems += check_module_file(source)
                else:
                    problems += check_file(table, source)
    for problem in problems:
        print(problem)
    print(f"layers: {files} files, {len(table)} libraries, {len(exceptions)} files of the command line with exceptions, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
