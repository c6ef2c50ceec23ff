#!/usr/bin/env python3
"""Runs schemathesis on a `mete serve` and its own /openapi.json: fuzz_openapi.py --mete PROGRAM --schemathesis PROGRAM [--seconds 600] [--seed 1]

Fails where schemathesis finds something, the server has ended, or SIGTERM does not end it with 0.
"""
import argparse
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
    args = parser.parse_args()
    with serving.served(args.mete) as server, tempfile.TemporaryDirectory() as folder:  # where schemathesis leaves its files
        before = server.rss_kib()
        # --max-time ends the run, not the number of examples
        found = subprocess.run([os.path.abspath(args.schemathesis), "--config-file", HERE / "schemathesis.toml", "run", f"http://{server.http}/openapi.json",
                                "--max-time", str(args.seconds), "--max-examples", "1000000", "--continue-on-failure", "--seed", str(args.seed),
                                "--generation-database", "none", "--request-timeout", "20"], cwd=folder).returncode
        if not server.runs():
            print(f"the server has ended with {server.process.returncode}: {server.said()[-2000:]}")
            return 1
        print(f"resident memory: {before} KiB at the start, {server.rss_kib()} KiB at the end")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
