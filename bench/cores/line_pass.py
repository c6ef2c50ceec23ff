"""How long a cache line takes from one core to another, by line_pass.cc."""
import json
import os
import subprocess

import near
from cores import Failed, kRoot
from protocol import last_words


def add_flag(parser):
    parser.add_argument("--line-pass", default=os.path.join(kRoot, "build", "release", "line_pass"), metavar="FILE",
                        help="the program that tells how far the cores are from each other")


def check_flag(parser, flags):
    if not os.access(flags.line_pass, os.X_OK):
        parser.error(f"[--line-pass] no program at '{flags.line_pass}'; try 'make release'")


def pass_ns(program, pair):
    done = subprocess.run([program, str(pair["fast"]), str(pair["slow"])], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failed(f"[line_pass] {last_words(done.stderr)}")
    return json.loads(done.stdout)["ns"]


class Marks:
    """What a line took before the first round, as this is made, and after each."""

    def __init__(self, program, pair):
        self.program, self.pair, self.ns = program, pair, []
        self.after_round()

    def after_round(self, _turn=None):
        self.ns.append(pass_ns(self.program, self.pair))

    def of_rounds(self):
        return near.line_of_rounds(self.ns)
