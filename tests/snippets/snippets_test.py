"""Runs the code that documents, public headers and the program's help show, so that none of it is wrong unnoticed. Standard library only.

What a snippet names and nobody has, such as net.onnx, cat.jpg or two boards, has a stand-in. What cannot run here is checked, or told in
the end.
"""
import argparse
import contextlib
import itertools
import pathlib
import re
import sys
import tempfile
import unittest

import snippets
import stand_ins
from scene import ROOT, Tools
from session import Session
from snippets import Snippet

DOCUMENTS = ["README.md", "HACKING.md", *sorted(str(file.relative_to(ROOT)) for file in (ROOT / "docs").glob("*.md")),
             *sorted(str(file.relative_to(ROOT)) for folder in ("concepts", "decisions", "how-to") for file in (ROOT / "docs" / folder).glob("*.md"))]
HEADERS = sorted(str(file.relative_to(ROOT)) for file in (ROOT / "include" / "mete").glob("*.h"))
OPTIONS = TOOLS = None  # main() sets them


class Sample(unittest.TestCase):
    """What counts as a snippet."""

    def test_markdown(self):
        text = ("# Title\n    mete machine\n\nText, `mete\nplan`,\n    of a list\n\n    mete run net.onnx \\\n        cat.jpg\n\n"
                "```toml\ntop_k = 3\n```\n```\n    printed\n```\n")
        found = snippets.of_markdown("a.md", text)
        self.assertEqual([(s.place(), s.language, s.text) for s in found], [
            ("a.md:2", "sh", "mete machine\n"), ("a.md:4", "inline", "mete plan"), ("a.md:8", "sh", "mete run net.onnx \\\n    cat.jpg\n"),
            ("a.md:12", "toml", "top_k = 3\n"), ("a.md:15", "", "    printed\n")])
        with self.assertRaisesRegex(ValueError, "a.md:2: a fence"):
            snippets.of_markdown("a.md", "Text\n```cpp\nint a;\n")

    def test_comments(self):
        text = "// What it is.\n//\n//   int a = 1;  // one\n//\n//   int b = a;\n//\n// More.\nint c;  //   no snippet\n  //   a = 2;\n"
        self.assertEqual(snippets.of_header("a.h", text), [Snippet("a.h", 3, "cpp", "int a = 1;  // one\n\nint b = a;\n"),
                                                           Snippet("a.h", 9, "cpp", "a = 2;\n")])

    def test_help(self):
        text = "Text.\n\nExamples:\n  mete machine\n  mete bench net.onnx \\\n      --runs 1\n\nExit codes:\n  0  success\n"
        found, = snippets.of_help("mete --help", text)
        self.assertEqual((found.line, found.text), (4, "mete machine\nmete bench net.onnx \\\n    --runs 1\n"))

    def test_commands(self):
        text = "mete machine --json | jq '.a | .b'  # why\nmake a && make \\\n  b > 'c d'\n"
        found = snippets.commands(Snippet("a.md", 7, "sh", text))
        self.assertEqual([(c.place, c.words, c.piped, c.output) for c in found], [
            ("a.md:7", ("mete", "machine", "--json"), False, ""), ("a.md:7", ("jq", ".a | .b"), True, ""),
            ("a.md:8", ("make", "a"), False, ""), ("a.md:8", ("make", "b"), False, "c d")])


class Shown(unittest.TestCase):
    def play(self, found):
        """All snippets of a document, in order, in one folder; C++ in one program."""
        with session() as running:
            for snippet in found:
                for place, step in running.steps(snippet):
                    with self.subTest(place):
                        step()
            program = [snippet for snippet in found if snippet.language == "cpp"]
            if program:
                with self.subTest(program[0].place()):
                    build_and_run(running, program)

    def test_documents(self):
        for file in DOCUMENTS:
            self.play(snippets.of_markdown(file, (ROOT / file).read_text()))

    def test_links_lead_somewhere(self):
        for file in DOCUMENTS:
            for link in re.findall(r"\]\(([^)#:]+)\)", (ROOT / file).read_text()):
                with self.subTest(f"{file}: {link}"):
                    self.assertTrue((ROOT / file).parent.joinpath(link).exists())

    def test_headers(self):
        for file in HEADERS:
            self.play(snippets.of_header(file, (ROOT / file).read_text()))

    def test_help(self):
        with session() as running:
            pages = [*pages_of(running, "mete", "--help"), running.run(["mete", "help", "preprocess"])]
        for page in pages:
            name = " ".join(["mete", *page.args[1:]])
            found = snippets.of_help(name, page.stdout)
            with self.subTest(name):
                self.assertTrue(found, "it has no examples")
            self.play(found)


@contextlib.contextmanager
def session():
    with tempfile.TemporaryDirectory() as folder:
        running = Session(TOOLS, pathlib.Path(folder))
        try:
            yield running
        finally:
            running.end()


def pages_of(running, *words):
    """The help of a command and of all commands that it lists, and theirs."""
    page = running.run(words)
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", page.stdout, re.MULTILINE)
    names = re.findall(r"^  (\w+)", listed[1], re.MULTILINE) if listed else []
    return [page, *itertools.chain.from_iterable(pages_of(running, *words[:-1], name, "--help") for name in names)]


def build_and_run(running, found):
    """A program of the snippets of one file: what is no #include stands in main()."""
    included, statements = [], []
    for snippet in found:
        for at, line in enumerate(snippet.text.splitlines()):
            (included if line.startswith("#include") else statements).append(f'#line {snippet.line + at} "{ROOT / snippet.file}"\n{line}\n')
    source, program = running.folder / "snippet.cc", running.folder / "snippet"
    source.write_text(f"{''.join(included)}int main() {{\n{''.join(statements)}}}\n")
    for name in re.findall(r'"([^"/]+\.\w+)"', "".join(statements)):
        if name.endswith(".toml"):
            running.provide_devices(running.folder / name)
        else:
            stand_ins.make(running.folder / name)
    library = next(TOOLS.build.rglob("libmete.so")).parent
    sanitize = [f"-fsanitize={OPTIONS.sanitize}"] if OPTIONS.sanitize else []
    warnings = ["-Wall", "-Wextra", "-Werror"]
    for words in ([OPTIONS.compiler, "-std=c++20", *warnings, *sanitize, "-I", ROOT / "include", source, "-o", program, f"-L{library}",
                   "-lmete_network", "-lmete", f"-Wl,-rpath,{library}"], [program]):
        running.succeeds(found[0].place(), running.run(words))
    TOOLS.counts["C++ snippets compiled and run"] += len(found)


def tearDownModule():
    for what, count in sorted(TOOLS.counts.items()):
        print(f"{count:4} {what}")
    for why, count in sorted(TOOLS.elsewhere.items()):
        print(f"{count:8} {why}")
    for text in TOOLS.not_here:
        print(f"not here: {text}")


def main():
    global OPTIONS, TOOLS
    parser = argparse.ArgumentParser()
    for name in ("mete", "build", "compiler"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--sanitize", default="")
    OPTIONS, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as cache:
        TOOLS = Tools(OPTIONS.mete, OPTIONS.build, cache)
        unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
