"""The code that documents, public headers and the program's help show to people, each piece with its place. Standard library only."""
import dataclasses
import re
import shlex

# A fence without a language holds what a program prints, or a picture. A block indented by four spaces is shell.
FENCED = re.compile(r"^```(?P<language>[^\s`]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:\A|^\n|^#.*\n)(?P<code>(?:    .*\n)+)", re.MULTILINE)
# Comment lines whose text is three spaces behind the slashes, and empty ones between these.
IN_COMMENT = re.compile(r"^ *//   .*\n(?:(?: *//\n)* *//   .*\n)*", re.MULTILINE)
# What mete --help shows below the word, down to the next text that is not indented.
EXAMPLES = re.compile(r"\bExamples:\n(?P<code>(?:  .*\n)+)")
# Commands in a sentence.
INLINE = re.compile(r"`(?P<code>(?:mete|make|cmake|ctest|python3|(?:bench|tools|build/release)/[\w./-]+)\s[^`]+)`")
SEPARATORS = ("&&", ";")


@dataclasses.dataclass(frozen=True)
class Snippet:
    file: str  # as people know it: README.md, or mete run --help
    line: int  # of its first line of code
    language: str  # sh, cpp, toml, ini, python; inline: shell in a sentence; "": nothing that runs
    text: str

    def place(self, line=0):
        return f"{self.file}:{self.line + line}"


def of_markdown(file, text):
    found = [_snippet(file, text, match, match["language"]) for match in FENCED.finditer(text)]
    prose = FENCED.sub(_blank, text)
    if "```" in prose:
        raise ValueError(f"{file}:{_line(prose, prose.index('```'))}: a fence that begins or ends within a line, or has no end")
    found += [_snippet(file, prose, match, "sh") for match in INDENTED.finditer(prose)]
    prose = INDENTED.sub(_blank, prose)
    found += [_snippet(file, prose, match, "inline") for match in INLINE.finditer(prose)]
    return sorted(found, key=lambda snippet: snippet.line)


def of_header(file, text):
    return [Snippet(file, _line(text, match.start()), "cpp", re.sub(r"^ *//(   )?", "", match[0], flags=re.MULTILINE))
            for match in IN_COMMENT.finditer(text)]


def of_help(file, text):
    return [_snippet(file, text, match, "sh") for match in EXAMPLES.finditer(text)]


def _blank(match):
    """As many lines, so that those behind them keep their numbers."""
    return "#\n" * match[0].count("\n") + ("" if match[0].endswith("\n") else "#")


def _line(text, position):
    return text.count("\n", 0, position) + 1


def _snippet(file, text, match, language):
    code = match["code"]
    if language == "sh":
        code = re.sub("^" + re.match(" *", code)[0], "", code, flags=re.MULTILINE)
    if language == "inline":
        code = " ".join(code.split())
    return Snippet(file, _line(text, match.start("code")), language, code)


@dataclasses.dataclass(frozen=True)
class Command:
    """One program of a shell line with its arguments."""
    place: str
    words: tuple
    piped: bool  # it reads what the command before it prints
    output: str  # the file that > names, or ""

    def __str__(self):
        return shlex.join(self.words)


def commands(snippet):
    """Those of a shell snippet, in order. Lines that end in a backslash go on in the next one; comments are no part of them."""
    found, begun, number = [], "", 0
    for at, line in enumerate(snippet.text.splitlines()):
        number = number if begun else at
        begun += line.removesuffix("\\") + " "
        if not line.endswith("\\"):
            found += _commands_of_line(snippet.place(number), begun)
            begun = ""
    return found


def _commands_of_line(place, line):
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;>")
    lexer.whitespace_split = True
    found, words, piped = [], [], False
    for word in [*lexer, ";"]:
        if word in SEPARATORS or word == "|":
            found += [_command(place, words, piped)] if words else []
            words, piped = [], word == "|"
        else:
            words.append(word)
    return found


def _command(place, words, piped):
    output = ""
    if ">" in words[:-1]:
        at = words.index(">")
        output = words[at + 1]
        words = words[:at] + words[at + 2:]
    return Command(place, tuple(words), piped, output)
