#!/usr/bin/env python3
"""How much longer a run takes from Python than from C++: overhead.py --mete PROGRAM [MODEL...] [--rounds N] [--threads N]

Python and `mete bench` take turns. Without a MODEL it is an addition of three numbers, whose run takes less than a microsecond: what is more is
what Python adds. The rows of a model are the median of the turns' medians, the least run of all turns, and "outside": what a call takes beside the run that its
trace shows, which the noise of long runs does not reach.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import mete
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "tests"))
import networks

BURST_S = 0.3
OUTSIDE_RUNS = 300


def python_us(run):
    """The median and the least of a burst of runs."""
    took, end = [], time.perf_counter() + BURST_S
    while time.perf_counter() < end:
        start = time.perf_counter_ns()
        run()
        took.append((time.perf_counter_ns() - start) / 1e3)
    return statistics.median(took), min(took)


def program_us(flags, model):
    words = [flags.mete, "bench", model, "--threads", str(flags.threads), "--seconds", str(BURST_S), "--warmup", "3", "--json"]
    said = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    return said["median_ms"] * 1e3, said["min_ms"] * 1e3


def outside_us(flags, path, run):
    """What a call takes beside the run that its trace shows, from C++ and from Python: medians."""
    words = [pathlib.Path(flags.mete).parent / "outside", path, str(OUTSIDE_RUNS), str(flags.threads)]
    program = float(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    took = []
    for _ in range(OUTSIDE_RUNS):
        trace = mete.Trace()
        start = time.perf_counter_ns()
        run(trace)
        took.append((time.perf_counter_ns() - start) / 1e3 - trace.total_ms * 1e3)
    return program, statistics.median(took)


def measured(flags, path):
    """Microseconds of a run from C++, from Python with inputs in a list, and by the names of ONNX Runtime's API: a row of medians, one of least."""
    model = mete.Model.load(path)
    random = np.random.default_rng(1)
    inputs = [random.random(port.shape, np.float32) for port in model.inputs]
    session = mete.Session(model, threads=flags.threads, tune="before")
    options = mete.SessionOptions()
    options.intra_op_num_threads, options.tune = flags.threads, "before"
    as_other = mete.InferenceSession(path, options)
    feed = {port.name: array for port, array in zip(model.inputs, inputs)}
    turns = [(program_us(flags, path), python_us(lambda: session.run(inputs)), python_us(lambda: as_other.run(None, feed)))
             for _ in range(flags.rounds)]
    ways = list(zip(*turns))
    program, session_outside = outside_us(flags, path, lambda trace: session.run(inputs, trace=trace))
    return {"outside": [program, session_outside, float("nan")], "median": [statistics.median(median for median, _ in way) for way in ways], "least": [min(least for _, least in way) for way in ways]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--mete", default="build/release/mete", help="the program to measure with")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        addition = pathlib.Path(folder) / "addition.onnx"
        addition.write_bytes(networks.add(shape=(1, 3)))
        print(f"{'us of a run':32} {'C++':>10} {'Session':>10} {'more':>7} {'InferenceSession':>17} {'more':>7}")
        for path in map(str, flags.models or [addition]):
            for row, (program, session, other) in measured(flags, path).items():
                if other != other:  # only a Session takes a trace
                    print(f"{pathlib.Path(path).name + ', ' + row:32} {program:10.1f} {session:10.1f} {session - program:7.1f}")
                    continue
                print(f"{pathlib.Path(path).name + ', ' + row:32} {program:10.1f} {session:10.1f} {session - program:7.1f} {other:17.1f} "
                      f"{other - program:7.1f}")


if __name__ == "__main__":
    main()
