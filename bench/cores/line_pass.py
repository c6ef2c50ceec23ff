"""How long a cache line takes from one core to another, by line_pass.cc."""
import json
import os
import subprocess

from cores import Failed, kRoot
from protocol import last_words


def add_flag(parser):
    parser.add_argument("--line-pass", default=os.path.join(kRoot, "build", "release", "line_pass"), metavar="FILE",
                        help="the program that tells how far the cores are from each other")


def pass_ns(program, pair):
    done = subprocess.run([program, str(pair["fast"]), str(pair["slow"])], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failed(f"[line_pass] {last_words(done.stderr)}")
    return json.loads(done.stdout)["ns"]
