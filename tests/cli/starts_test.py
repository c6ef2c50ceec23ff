"""mete profile --starts: which states there are, what is in memory before them, and when a start is not called cold. No time has a bar.
Standard library only."""
import json
import mmap
import os
import pathlib
import subprocess

import cli_testing
from cli_testing import BAD_FILE, FAILURE, LONG_S, OK, USAGE, Cli, main, mete

ALWAYS = {"resident", "killed"}
EMPTIED = {"evicted": {"model", "kept"}, "cold": {"model", "kept", "program"}, "first": {"model", "kept", "program"}}


class Starts(Cli):
    def setUp(self):
        self.cache = self.path("cache")

    def measured(self, *flags):
        """The answer, the notes, and whether files can leave memory here at all."""
        done = mete("profile", "--starts", self.net, "--rounds", 1, "--json", *flags, env={"METE_CACHE": str(self.cache)})
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads(done.stdout), done.stderr

    def check(self, answer, notes):
        """Each state was measured or was refused, and is then told of; nothing is called cold that was in memory."""
        states = {state["state"]: state for state in answer["states"]}
        self.assertLessEqual(ALWAYS | set(EMPTIED), set(states))
        for name, state in states.items():
            self.assertEqual(len(state["ms"]) + state["refused"], 1, state)
            self.assertEqual(name in answer["costs"], bool(state["ms"]), state)
            left = sum(state["in_memory"][group]["pages"] for group in EMPTIED.get(name, ()))
            self.assertEqual(left > 0, state["refused"] > 0, state)
            if state["refused"]:
                self.assertRegex(state["why_refused"], r" has \d+ of \d+ pages in memory")
                self.assertIn(state["why_refused"], notes)
        for cost in (answer["costs"][name] for name in states if name in answer["costs"]):
            self.assertAlmostEqual(sum(cost["steps"].values()), cost["ms"], delta=1e-6 * cost["ms"])  # of one start
            self.assertGreater(cost["ms"], 0)
        return states

    def test_each_state_is_measured_with_the_pages_before_it(self):
        answer, notes = self.measured()
        states = self.check(answer, notes)
        killed = states["killed"]["in_memory"]
        self.assertGreater(killed["model"]["pages"], 0)
        for group in ("model", "kept", "program"):
            self.assertEqual(killed[group]["pages"], killed[group]["of"])
        self.assertEqual(states["first"]["in_memory"]["kept"]["of"], 0)
        # What a start finds again, and how it is without.
        self.assertGreater(killed["kept"]["of"], 0)
        for part in ("without_weights", "without_timings"):
            self.assertLess(states[part]["in_memory"]["kept"]["of"], killed["kept"]["of"])
        self.assertEqual(answer["costs"]["resident"]["steps"]["process_ms"], 0)
        self.assertGreater(answer["costs"]["killed"]["steps"]["process_ms"], 0)

    def test_the_costs_are_kept_and_nothing_else(self):
        answer, _ = self.measured("--threads", 1)
        self.assertEqual(json.loads(pathlib.Path(answer["kept"]).read_text()), answer["costs"])
        self.assertEqual([str(path) for path in self.cache.rglob("*") if path.is_file()], [answer["kept"]])
        self.assertEqual([path.name for path in self.cache.iterdir()], ["starts"])

    def test_a_model_that_stays_in_memory_is_not_called_cold(self):
        with open(self.net, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as kept:
            self.assertGreater(sum(kept[at] for at in range(0, len(kept), mmap.PAGESIZE)), 0)
            answer, notes = self.measured()
        states = self.check(answer, notes)
        for name in EMPTIED:
            self.assertEqual(states[name]["refused"], 1)
            self.assertNotIn(name, answer["costs"])
            self.assertRegex(states[name]["why_refused"], r"^net\.onnx has \d+ of \d+ pages in memory")

    def test_the_text_has_a_row_for_each_state_and_names_what_is_shared(self):
        done = mete("profile", "--starts", self.net, "--rounds", 1, env={"METE_CACHE": str(self.cache)})
        self.assertEqual(done.returncode, OK, done.stderr)
        for text in ("until the answer", "resident", "killed, files in memory", "first ever, cold", "pages in memory before it", "shared: "):
            self.assertIn(text, done.stdout)

    def test_what_is_wrong_is_named(self):
        self.fails(BAD_FILE, "no-such.onnx", "profile", "--starts", self.root / "no-such.onnx")
        broken = self.path("broken.onnx", b"no model")
        self.fails(BAD_FILE, "broken.onnx", "profile", "--starts", broken)
        file = self.path("file", b"")
        self.fails(FAILURE, "METE_CACHE", "profile", "--starts", self.net, env={"METE_CACHE": str(file / "within")})
        self.fails(USAGE, "--rounds", "profile", "--starts", self.net, "--rounds", "0")
        self.fails(USAGE, "--starts", "profile", "--rounds", "3")
        self.fails(USAGE, "--check", "profile", "--starts", self.net, "--check", self.net)


class Release(Cli):
    def test_a_process_that_let_go_of_its_files_answers_as_before(self):
        commands = ({"do": "save", "folder": str(self.path("before"))}, {"do": "release"}, {"do": "save", "folder": str(self.path("after"))})
        done = subprocess.run([cli_testing.METE, "bench", self.net, "--on-command", "--tune", "never"], capture_output=True, text=True, timeout=LONG_S,
                              input="".join(json.dumps(command) + "\n" for command in commands),
                              env={**os.environ, "METE_CACHE": str(self.path("cache"))})
        self.assertEqual(done.returncode, OK, done.stderr)
        greeting, before, released, after = map(json.loads, done.stdout.splitlines())
        self.assertEqual(released, {"released": True})
        self.assertLessEqual(greeting["ready_ns"], greeting["read_ns"])
        self.assertLessEqual(greeting["read_ns"], greeting["loaded_ns"])
        for old, new in zip(before["files"], after["files"], strict=True):
            self.assertEqual(*(pathlib.Path(file).read_bytes() for file in (old, new)))


if __name__ == "__main__":
    main()
