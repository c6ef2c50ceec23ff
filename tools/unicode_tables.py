#!/usr/bin/env python3
"""Rewrites src/text/unicode_tables.cc: tools/unicode_tables.py (the tables are those of this Python's unicodedata)"""
import pathlib
import sys
import unicodedata

FILE = pathlib.Path(__file__).resolve().parents[1] / "src/text/unicode_tables.cc"
KINDS = {"L": 1, "N": 2, "Mn": 3, "P": 4, "Cc": 5, "Cf": 5, "Co": 5}  # CharacterKind
KIND_BITS, CHANGED = 3, 0x80000000
KOREAN = range(0xAC00, 0xD7A4)
SURROGATES = range(0xD800, 0xE000)


def characters():
    return (code for code in range(sys.maxunicode + 1) if code not in SURROGATES)


def kind(code):
    category = unicodedata.category(chr(code))
    return KINDS.get(category, KINDS.get(category[0], 0))


def kind_runs():
    last = None
    for code in characters():
        if kind(code) != last:
            last = kind(code)
            yield code << KIND_BITS | last


def changes(change):
    for code in characters():
        text = change(chr(code))
        if text != chr(code):
            yield CHANGED | code
            yield from map(ord, text)


def decomposed(character):
    if ord(character) in KOREAN or unicodedata.category(character) == "Mn":
        return character
    return "".join(c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn")


def table(function, name, numbers):
    lines, line = [], ""
    for number in numbers:
        word = f"{number:#x},"
        if len(line) + len(word) > 105:
            lines.append(line)
            line = ""
        line += word
    body = "\n".join([*lines, line])
    return f"constexpr uint32_t {name}[] = {{\n{body}}};\n", f"std::span<const uint32_t> {function}() {{ return {name}; }}\n"


def main():
    tables = [table("KindRuns", "kKindRuns", kind_runs()), table("DecomposedCharacters", "kDecomposed", changes(decomposed)),
              table("LowercaseCharacters", "kLowercase", changes(str.lower))]
    FILE.write_text(f"// tools/unicode_tables.py makes this file, by Unicode {unicodedata.unidata_version}.\n"
                    '#include "text/unicode_tables.h"\n\nnamespace mete {\nnamespace {\n\n// clang-format off\n'
                    + "\n".join(data for data, _ in tables) + "// clang-format on\n\n}  // namespace\n\n"
                    + "".join(function for _, function in tables) + "\n}  // namespace mete\n")


if __name__ == "__main__":
    main()
