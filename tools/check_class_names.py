#!/usr/bin/env python3
"""Finds classes that have one full name and two definitions.

The linker keeps one copy of the functions of such a class (the one definition rule), so an object of the one class may be destroyed by
the other one's destructor, without a message. Classes in an unnamed namespace are not meant. Prints each pair with the way out; the
exit status is 1 where there is one.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMESPACE = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? \{")
CLASS = re.compile(r"(?:template <.*> ?)?(?:class|struct|union|enum class) (\w+)(?: final)?(?: : [^;{]*)? \{")


def classes(text):
    """The full name of each class that `text`, formatted as tools/format.sh does, defines at the level of a namespace."""
    names, inside = [], []
    for line in text.splitlines():
        if match := NAMESPACE.match(line):
            inside.append(match.group(1))
        elif line.startswith("}  // namespace") and inside:
            inside.pop()
        elif (match := CLASS.match(line)) and None not in inside:
            names.append("::".join([*inside, match.group(1)]))
    return names


def find_same_names(texts):
    """A problem for each name that two of `texts`, {path: text}, define. No program has both a file of a folder without/ and the one that
    it stands for (cmake/layers.cmake)."""
    paths = collections.defaultdict(list)
    for path, text in texts.items():
        if "/without/" not in path:
            for name in classes(text):
                paths[name].append(path)
    return [f"{name} is defined in {' and '.join(found)}: the linker takes them for one class; rename one, or move it into an unnamed namespace"
            for name, found in paths.items() if len(found) > 1]


def main():
    files = [p for folder in ("include", "src", "apps", "zoo", "tools") for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".h", ".cc")]
    problems = find_same_names({p.relative_to(ROOT).as_posix(): p.read_text(errors="replace") for p in files})
    for problem in problems:
        print(problem)
    print(f"class names: {len(files)} files, {len(problems)} names with two definitions")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
