#!/usr/bin/env python3
"""Compares the real includes with the table in cmake/layers.cmake.

A file of a library may include the headers of its own folder, of the libraries in its LAYERS (and, through
them, of theirs), and of include/mete; tests (*_test.cc, *_fuzz.cc, *_testing.h) also those of its TEST_LAYERS. Prints each violation with
the way out; the exit status is 1 where there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
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


def resolve(include, source):
    """The path, relative to the root, of the file that #include "..." means, or None where it is not ours."""
    for base in (source.parent, ROOT / "src", ROOT / "include", ROOT):
        candidate = base / include
        if candidate.is_file():
            return candidate.resolve().relative_to(ROOT).as_posix()
    return None


def check_file(table, source):
    path = source.relative_to(ROOT).as_posix()
    owner = owner_of(table, path)
    if owner is None:
        return []
    allowed = reachable(table, [owner])
    if re.search(r"_(test|fuzz|testing)\.(cc|h)$", path):
        allowed |= reachable(table, table[owner]["TEST_LAYERS"])
    problems = []
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        target = match and resolve(match.group(1), source)
        if not target or target.startswith("include/"):
            continue
        other = owner_of(table, target)
        if other is None and any(table[name]["folder"].startswith(target.rpartition("/")[0] + "/") for name in allowed):
            continue  # a header above several libraries (src/import/import.h) belongs to each of them
        if other is None and target.startswith("src/"):
            problems.append(f"{path}:{number}: {target} belongs to no library in cmake/layers.cmake")
        elif other is not None and other not in allowed:
            problems.append(f"{path}:{number}: {owner} may not include {other} ({target}); "
                            f"turn the dependency round, or add {other} to the LAYERS of {owner} in cmake/layers.cmake")
    return problems


def find_cycles(table):
    return [f"cmake/layers.cmake: {name} reaches itself through its LAYERS"
            for name, entry in table.items() if name in reachable(table, entry["LAYERS"])]


def main():
    table = read_table((ROOT / "cmake/layers.cmake").read_text())
    problems = find_cycles(table)
    files = 0
    for folder in ("src", "apps", "zoo", "tools"):
        for source in sorted((ROOT / folder).rglob("*")):
            if source.suffix in (".h", ".cc"):
                files += 1
                problems += check_file(table, source)
    for problem in problems:
        print(problem)
    print(f"layers: {files} files, {len(table)} libraries, {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
