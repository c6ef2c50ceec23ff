"""Every mistake of mistakes.py gets its message: one that names what is wrong and says what to do instead. Standard library only."""
import json
import pathlib
import sys
import tempfile
import unittest

import cli_testing
import mistakes
from cli_testing import OK, mete


class Mistakes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.paths = mistakes.make_files(pathlib.Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_row(self, line, json_too=False):
        """The command, done. Words like METE_CONV=fast before it are its environment."""
        words = [w.format(**self.paths) for w in line.split()]
        env = {}
        while words and words[0].split("=")[0].isupper():
            name, value = words.pop(0).split("=", 1)
            env[name] = value
        return mete(*words, *(["--json"] if json_too else []), env=env)

    def check(self, line, code, names, remedy):
        done = self.run_row(line)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        told = [t for t in done.stderr.splitlines() if t]
        kind = "mete: error: [" if code != OK else "mete: "
        problem = [t for t in told if t.startswith(kind)]
        self.assertTrue(problem, done.stderr)
        self.assertLessEqual(len(problem), 3, "too many lines for one mistake:\n" + done.stderr)
        for text in [*names, remedy.format(**self.paths)]:
            self.assertTrue(any(text in t for t in problem), f"'{text}' is missing in:\n{done.stderr}")
        for t in problem:
            self.assertNotRegex(t, r"[^\x20-\x7e]", "a message has bytes that are no text")
        self.check_json(line, code)

    def check_json(self, line, code):
        done = self.run_row(line, json_too=True)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in done.stderr.splitlines():
            json.loads(text)
        if done.stdout:
            json.loads(done.stdout)

    def test_there_are_a_hundred_of_them(self):
        self.assertGreaterEqual(len({line for line, *_ in mistakes.ALL}), 100)

    def test_each_message_names_what_is_wrong_and_the_remedy(self):
        for line, code, names, remedy in mistakes.ALL:
            with self.subTest(line):
                self.check(line, code, names, remedy)


def show():
    """Prints every mistake with its message, for somebody who reads them all."""
    Mistakes.setUpClass()
    root = str(Mistakes.paths["folder"].parent)
    for line, *_ in mistakes.ALL:
        done = Mistakes().run_row(line)
        print(f"$ mete {line}   (exit code {done.returncode})\n{done.stderr.replace(root + '/', '')}", flush=True)
    Mistakes.tearDownClass()


if __name__ == "__main__":
    arguments = cli_testing.read_arguments()
    if arguments == ["--show"]:
        show()
    else:
        unittest.main(argv=[sys.argv[0], *arguments])
