#!/usr/bin/env python3
"""Rewrites src/text/unicode_tables.cc: tools/unicode_tables.py (the tables are those of this Python's unicodedata)"""
import pathlib
import sys
import unicodedata

FILE = pathlib.Path(__file__).resolve().parents[1] / "src/text/unicode_tables.cc"
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()  # Category
CATEGORY_BITS, CHANGED = 5, 0x80000000
KOREAN = range(0xAC00, 0xD7A4)
SURROGATES = range(0xD800, 0xE000)


def characters():
    return (code for code in range(sys.maxunicode + 1) if code not in SURROGATES)


def category_runs():
    last = None
    for code in range(sys.maxunicode + 1):
        category = CATEGORIES.index(unicodedata.category(chr(code)))
        if category != last:
            last = category
            yield code << CATEGORY_BITS | last


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
    tables = [table("CategoryRuns", "kCategoryRuns", category_runs()), table("DecomposedCharacters", "kDecomposed", changes(decomposed)),
              table("LowercaseCharacters", "kLowercase", changes(str.lower))]
    FILE.write_text(f"// tools/unicode_tables.py makes this file, by Unicode {unicodedata.unidata_version}.\n"
                    '#include "text/unicode_tables.h"\n\nnamespace mete {\nnamespace {\n\n// clang-format off\n'
                    + "\n".join(data for data, _ in tables) + "// clang-format on\n\n}  // namespace\n\n"
                    + "".join(function for _, function in tables) + "\n}  // namespace mete\n")


if __name__ == "__main__":
    main()
