"""tools/slowcore as a context: one core is slow for every program until it is left."""
import json
import os
import subprocess
import tempfile

import machine
from cores import Failed, kRoot
from protocol import last_words

kReady = "ready"
kEndS = 60  # guess: its probe takes a second or two

kOthersText = ("others: the processor time of other programs meanwhile, on whatever core, as a share of what the two cores have (by the "
               "processes' own accounts).")


class NotSlow(Failed):
    """Its text says why."""


def last_json(text):
    """The JSON object that stands among notes, a line with a brace alone at its start and end."""
    lines = text.splitlines()
    if "{" not in lines or "}" not in lines:
        raise NotSlow(f"no report; got: {last_words(text)}")
    first = len(lines) - 1 - lines[::-1].index("{")
    return json.loads("\n".join(lines[first:lines.index("}", first) + 1]))


class SlowCore:
    """Its command says that the core is slow, and ends with its stdin: however we end, the core is free again."""

    def __init__(self, program, core, speed, *more):
        self.core, self.speed, self.report = core, speed, None
        self.command = [program, "--core", str(core), "--speed", str(speed), "--json", *map(str, more), "--",
                        "sh", "-c", f"echo {kReady}; exec cat"]

    def __enter__(self):
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        if self.process.stdout.readline().strip() != kReady:
            raise NotSlow(f"[slowcore] core {self.core} is not slow: {self._end()}")
        return self

    def __exit__(self, kind, _value, _trace):
        words = self._end()
        if kind is None:
            self.report = last_json(words)

    def cpu_s(self):
        return machine.process_s(self.process.pid)

    def _end(self):
        """What it wrote to stderr."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=kEndS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        with self.errors:
            self.errors.seek(0)
            return self.errors.read().strip()


def add_flags(parser, speed, what):
    parser.add_argument("--slowcore", default=os.path.join(kRoot, "build", "release", "slowcore"), metavar="FILE", help="the program")
    parser.add_argument("--speed", type=float, default=speed, metavar="F", help=f"of the {what} while it is slowed (default: {speed:g})")
