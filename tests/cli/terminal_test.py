"""What a person sees on a terminal of 80x24: nothing wraps, whatever takes long shows how far it is, an interrupt loses nothing, colours."""
import json
import os
import pathlib
import re
import tempfile

import cli_testing
from cli_testing import BOARDS, CANCELLED, OK, Cli, mete
from terminal import COLUMNS, ERASE, ESCAPE, OnTerminal, on_terminal, progress_of, screen_lines

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


def commands(words=()):
    """Every command and its sub-commands, as the help itself lists them."""
    text = mete(*words, "--help").stdout
    found = [list(words)]
    listed = re.search(r"^(?:Commands|Subcommands):\n((?:  .*\n)+)", text, re.MULTILINE)
    for name in re.findall(r"^  (\w[\w-]*)", listed[1], re.MULTILINE) if listed else []:
        found += commands([*words, name])
    return found


class Terminal(Cli):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.large = cls.root / "large.onnx"
        assert mete("zoo", "make", "resnet18", "-o", cls.large).returncode == OK

    def fits(self, *args, code=OK, **options):
        written, got = on_terminal(*args, **options)
        self.assertEqual(got, code, written)
        lines = screen_lines(written)
        for line in lines:
            self.assertLessEqual(len(line), COLUMNS, f"{' '.join(map(str, args))}: {line}")
        self.assertNotIn("\x1b", "".join(lines))
        return lines


class Width(Terminal):
    def test_help_fits(self):
        found = commands()
        self.assertGreater(len(found), 18)
        self.assertIn(["zoo", "make"], found)
        for words in found:
            self.fits(*words, "--help")
        for words in (["help"], ["help", "run"], ["help", "preprocess"], ["-V"]):
            self.fits(*words)
        self.fits(code=cli_testing.USAGE)

    def test_answers_fit(self):
        digits = [MODELS / "digits.onnx", MODELS / "digit.png"]
        self.fits("run", *digits)
        self.fits("run", *digits, "--profile", "--explain")
        self.fits("run", self.net, self.picture)  # warnings, and many classes
        self.fits("run", self.net, "--input", self.tensor)

    def test_measurements_fit(self):
        self.fits("bench", self.net, "--runs", 2, "--warmup", 0, "--explain", "--profile")
        self.fits("bench", self.net, "--runs", 4, "--warmup", 0, "--streams", 2)
        self.fits("inspect", self.net)
        self.fits("inspect", self.net, "--explain")
        self.fits("inspect", self.net, "--memory")

    def test_plans_fit(self):
        boards = BOARDS / "rk3399x6.toml"
        self.fits("plan", self.large)
        self.fits("plan", self.large, "--machine", "rk3399")
        self.fits("plan", self.large, "--processors", boards)
        self.fits("plan", self.large, "--processors", boards, "--explain")
        self.fits("simulate", self.large, "--machine", "tensor-g4")
        self.fits("simulate", self.net, "--processors", boards)
        self.fits("simulate", self.net, "--machine", "rk3399", "--objective", "energy")

    def test_machines_fit(self):
        self.fits("machine")
        for board in sorted(BOARDS.glob("*.toml")):
            if "x6" not in board.name:
                self.fits("machine", "--machine", board)
                self.fits("machine", "--machine", board, "--sources")
        self.fits("zoo", "list")
        self.fits("keys", "make", self.root / "keys", "laptop", "pi-1=192.168.1.20")
        self.fits("keys", "show", self.root / "keys")

    def test_errors_fit(self):
        self.fits("run", self.root / "a-model-with-quite-a-long-name-that-is-not-there.onnx", code=cli_testing.BAD_FILE)
        self.fits("bench", self.net, "--policy", "adaptve", code=cli_testing.USAGE)
        self.fits("bench", self.net, "--plan", self.net, code=cli_testing.BAD_FILE)
        self.fits("bnch", code=cli_testing.USAGE)

    def test_profiles_fit(self):
        with tempfile.TemporaryDirectory() as cache:
            env = {"METE_CACHE": cache}
            self.fits("profile", "--seconds", 1, env=env)
            self.fits("plan", self.large, env=env)
            self.fits("profile", "--check", self.net, "--nodes", "--seconds", 1, env=env)


class Progress(Terminal):
    def shows(self, label, *args, **options):
        """While the command works its progress is on the terminal, before the first line of the answer, and it is gone in the end."""
        written, code = on_terminal(*args, **options)
        self.assertEqual(code, OK, written)
        shown = progress_of(written)
        self.assertTrue(any(label in line for line in shown), f"{label}: {shown}")
        self.assertLess(written.index(label), written.rindex(ERASE))
        for line in shown:
            self.assertLess(len(line), COLUMNS)
        self.assertNotIn(label, "\n".join(screen_lines(written)))

    def test_what_takes_long_shows_how_far_it_is(self):
        with tempfile.TemporaryDirectory() as cache:  # without a tuning file
            env = {"METE_CACHE": cache}
            self.shows("run ", "bench", self.large, "--seconds", 3, env=env)
            self.shows("measuring ", "profile", "--seconds", 4, env=env)

    def test_pipes_get_none_of_it(self):
        for flags in ([], ["--json"]):
            with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as answers:
                self.assertEqual(on_terminal("bench", self.large, "--seconds", 2, *flags, stdout=answers, stderr=errors), ("", OK))
                errors.seek(0)
                answers.seek(0)
                self.assertEqual(errors.read(), "")
                self.assertNotIn("\x1b", answers.read())

    def test_json_on_a_terminal_is_json_alone(self):
        written, code = on_terminal("bench", self.large, "--seconds", 2, "--json")
        self.assertEqual(code, OK)
        self.assertEqual(json.loads(written)["interrupted"], False)


class Interrupts(Terminal):
    def test_bench_prints_what_it_has(self):
        command = OnTerminal("bench", self.large, "--seconds", 600)
        self.assertTrue(command.read_until("run "), command.written)  # runs are counted
        command.interrupt()
        self.assertEqual(command.finish(), CANCELLED)
        text = " ".join("\n".join(screen_lines(command.written)).split())
        self.assertRegex(text, r"median [\d.]+ [mu]?s \+- .* until the interrupt\)")
        self.assertIn("[bench] interrupted; what is printed is of the", text)

    def test_bench_as_json_has_what_it_has(self):
        with tempfile.TemporaryFile("w+") as answers:
            command = OnTerminal("bench", self.large, "--seconds", 600, "--warmup", 0, stdout=answers)
            self.assertTrue(command.read_until("run "), command.written)
            command.interrupt()
            self.assertEqual(command.finish(), CANCELLED)
            answers.seek(0)
            self.assertIn("median", answers.read())

    def test_profile_leaves_no_file_behind(self):
        with tempfile.TemporaryDirectory() as cache:
            command = OnTerminal("profile", "--seconds", 600, env={"METE_CACHE": cache})
            self.assertTrue(command.read_until("measuring "), command.written)
            command.interrupt()
            self.assertEqual(command.finish(), CANCELLED)
            self.assertEqual([f for f in pathlib.Path(cache).rglob("*") if "profile" in f.name and f.is_file()], [])


class Colours(Terminal):
    def test_only_on_a_terminal_that_wants_them(self):
        def coloured(**env):
            written, _ = on_terminal("run", MODELS / "digits.onnx", MODELS / "digit.png", env=env)
            return bool(ESCAPE.search(written.replace(ERASE, "")))
        self.assertTrue(coloured())
        self.assertFalse(coloured(NO_COLOR="1"))
        self.assertNotIn("\x1b", mete("run", MODELS / "digits.onnx", MODELS / "digit.png").stdout)


if __name__ == "__main__":
    cli_testing.main()
