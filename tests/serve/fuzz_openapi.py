#!/usr/bin/env python3
"""Runs schemathesis on a `mete serve` and its own /openapi.json: fuzz_openapi.py --mete PROGRAM --schemathesis PROGRAM [--seconds 600] [--seed 1]

Fails where schemathesis finds something, the server has ended, its memory grows by more than --growth-mib behind a quarter of the time, or SIGTERM
does not end it with 0.
"""
import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

import serving

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mete", required=True)
    parser.add_argument("--schemathesis", required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth-mib", type=float, default=16)
    args = parser.parse_args()
    with serving.served(args.mete) as server, tempfile.TemporaryDirectory() as folder:  # where schemathesis leaves its files
        # --max-time ends the run, not the number of examples
        with subprocess.Popen([os.path.abspath(args.schemathesis), "--config-file", HERE / "schemathesis.toml", "run", f"http://{server.http}/openapi.json",
                               "--max-time", str(args.seconds), "--max-examples", "1000000", "--continue-on-failure", "--seed", str(args.seed),
                               "--generation-database", "none", "--request-timeout", "20"], cwd=folder) as asking:
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    asking.wait(args.seconds / 4)
                first = server.rss_kib() if server.runs() else 0
                found = asking.wait()
            finally:
                asking.kill()  # if it has not ended
        if not server.runs():
            print(f"the server has ended with {server.process.returncode}: {server.said()[-2000:]}")
            return 1
        last = server.rss_kib()
        print(f"resident memory: {first} KiB at a quarter of the time, {last} KiB at the end")
        if last - first > args.growth_mib * 1024:
            print(f"memory has grown by {(last - first) / 1024:.1f} MiB; expected {args.growth_mib} at most")
            return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
