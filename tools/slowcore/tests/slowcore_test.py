"""Runs slowcore as its users do. Standard library only. No bar on times: what is reached is the machine's affair."""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

SLOWCORE, EMULATED = None, False
OK, FAILURE, USAGE, CANCELLED = 0, 1, 2, 5
CORE = max(os.sched_getaffinity(0))


def slowcore(*args):
    return subprocess.run([SLOWCORE, *map(str, args)], capture_output=True, text=True, timeout=100)


def refusal():
    """Why nothing can be run for real here, or None."""
    if EMULATED:
        return "an emulator's threads cannot keep a core"
    try:
        limit = int(pathlib.Path("/proc/sys/kernel/sched_rt_runtime_us").read_text())
        if 0 <= limit < 500000:
            return f"the kernel leaves real-time threads {limit} us only (sched_rt_runtime_us)"
    except FileNotFoundError:
        pass
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError:
        return "SCHED_FIFO is refused: needs CAP_SYS_NICE, or 'ulimit -r' of 1 or more"
    return None


class Arguments(unittest.TestCase):
    def wrong(self, args, *parts):
        done = slowcore(*args)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("slowcore: error: ["), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_what_is_missing_or_unknown_is_named(self):
        self.wrong(["--speed", 0.5], "[usage]", "--core", "slowcore --help")
        self.wrong(["--core", CORE], "[usage]", "--speed")
        self.wrong(["--core", CORE, "--speed", 0.5, "--no-such-flag"], "--no-such-flag")
        self.wrong(["--core", CORE, "--speed", "fast"], "--speed")

    def test_ranges(self):
        for speed in ("0.04", "0.96", "1", "-1", "nan"):
            self.wrong(["--core", CORE, "--speed", speed], "[--speed]", "expected 0.05 to 0.95")
        for period in (149, 301, 0):
            self.wrong(["--core", CORE, "--speed", 0.5, "--period-us", period], "[--period-us]", "expected 150 to 300")
        self.wrong(["--core", CORE, "--speed", 0.5, "--for", -1], "[--for]")
        self.wrong(["--core", CORE, "--speed", 0.5, "--on-off", 0], "[--on-off]")
        self.wrong(["--core", CORE, "--speed", 0.5, "--on-off", 1, "--on-share", 1], "[--on-share]")

    def test_a_core_that_is_not_there(self):
        for core in (-1, 99999, 1023):
            self.wrong(["--core", core, "--speed", 0.5, "--for", 0], "[--core]", f"got {core}", "expected one of", str(CORE))

    def test_time_and_command_exclude_each_other(self):
        self.wrong(["--core", CORE, "--speed", 0.5, "--for", 1, "--", "true"], "[--for]")
        self.wrong(["--core", CORE, "--speed", 0.5, "--"], "[--]")

    def test_errors_in_json(self):
        done = slowcore("--core", CORE, "--speed", 2, "--json")
        self.assertEqual(done.returncode, USAGE)
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "USAGE")

    def test_help(self):
        done = slowcore("--help")
        self.assertEqual(done.returncode, OK)
        for part in ("--core", "--on-off", "Exit codes", "CAP_SYS_NICE", "Examples"):
            self.assertIn(part, done.stdout)

    def test_without_the_right_it_says_which_one(self):
        if EMULATED or os.geteuid() == 0 or refusal() is None:
            self.skipTest("this process has the right to SCHED_FIFO")
        done = slowcore("--core", CORE, "--speed", 0.5, "--for", 0)
        self.assertEqual(done.returncode, FAILURE)
        for part in ("CAP_SYS_NICE", "ulimit -r"):
            self.assertIn(part, done.stderr)


class ForReal(unittest.TestCase):
    def setUp(self):
        why_not = refusal()
        if why_not:
            self.skipTest(why_not)

    def skip_where_busy(self, errors):
        """On a machine that has no time for the probe, slowcore says so and ends."""
        if "too little time to measure" in errors:
            self.skipTest(errors.strip())

    def check_report(self, text):
        lines = text.splitlines()
        report = json.loads("\n".join(lines[lines.index("{"):lines.index("}") + 1]))  # between notes, each an object on a line
        self.assertEqual(report["core"], CORE)
        self.assertGreater(report["speed"], 0)
        self.assertLess(report["speed"], 1)
        return report

    def test_ends_and_reports(self):
        done = slowcore("--core", CORE, "--speed", 0.5, "--for", 0.1, "--json")
        self.skip_where_busy(done.stderr)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(self.check_report(done.stdout)["asked"], 0.5)

    def test_a_command_is_a_normal_one_and_its_exit_code_comes_back(self):
        look = ("import os, signal; print(os.sched_getscheduler(0), sorted(os.sched_getaffinity(0)), "
                "sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))); raise SystemExit(7)")
        done = slowcore("--core", CORE, "--speed", 0.5, "--json", "--", sys.executable, "-c", look)
        self.skip_where_busy(done.stderr)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.stdout, f"{os.SCHED_OTHER} {sorted(os.sched_getaffinity(0))} []\n")
        self.assertEqual(self.check_report(done.stderr)["exit_code"], 7)

    def test_a_command_that_is_not_there(self):
        done = slowcore("--core", CORE, "--speed", 0.5, "--", "no-such-program-anywhere")
        self.skip_where_busy(done.stderr)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("no-such-program-anywhere", done.stderr)

    def test_interrupts_end_it(self):
        for name, flags, code in ((signal.SIGTERM, ["--for", "1000"], CANCELLED), (signal.SIGINT, ["--on-off", "0.01"], OK)):
            with subprocess.Popen([SLOWCORE, "--core", str(CORE), "--speed", "0.5", *flags], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as program:
                first = program.stderr.readline()
                self.skip_where_busy(first)
                self.assertIn("slow now", first)
                program.send_signal(name)
                _, errors = program.communicate(timeout=60)
                self.assertEqual(program.returncode, code, errors)

    def test_a_signal_to_us_ends_the_command(self):
        with subprocess.Popen([SLOWCORE, "--core", str(CORE), "--speed", "0.5", "--", "sleep", "1000"], stderr=subprocess.PIPE,
                              text=True) as program:
            first = program.stderr.readline()
            self.skip_where_busy(first)
            self.assertIn("slow now", first)
            program.send_signal(signal.SIGTERM)
            _, errors = program.communicate(timeout=60)
            self.assertEqual(program.returncode, 128 + signal.SIGTERM, errors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--slowcore", required=True)
    parser.add_argument("--emulated", action="store_true")
    known, rest = parser.parse_known_args()
    SLOWCORE, EMULATED = known.slowcore, known.emulated
    unittest.main(argv=[sys.argv[0], *rest])
