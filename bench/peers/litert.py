"""Mete beside LiteRT on .tflite files: litert.py MODEL.tflite... (make compare-litert)

The two take turns in one run, so that what slows the machine slows both. LiteRT computes as it does by default, with XNNPACK where that takes the
operators. The table has the median of the turns' medians, and how many elements of the outputs are equal for the same random input.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
from ai_edge_litert.interpreter import Interpreter


def made(detail):
    random = numpy.random.default_rng(1)
    shape, kind = detail["shape"], detail["dtype"]
    if numpy.issubdtype(kind, numpy.floating):
        return random.uniform(-1, 1, shape).astype(kind)
    return random.integers(0, 100, shape).astype(kind)


class LiteRt:
    def __init__(self, path, threads):
        self.interpreter = Interpreter(model_path=str(path), num_threads=threads)
        self.interpreter.allocate_tensors()
        self.inputs = {d["name"]: made(d) for d in self.interpreter.get_input_details()}
        for detail in self.interpreter.get_input_details():
            self.interpreter.set_tensor(detail["index"], self.inputs[detail["name"]])
        self.interpreter.invoke()

    def turn(self, runs):
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            self.interpreter.invoke()
            times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times)

    def output(self):
        return self.interpreter.get_tensor(self.interpreter.get_output_details()[0]["index"])


def mete_turn(mete, path, threads, runs):
    done = subprocess.run([mete, "bench", path, "--threads", str(threads), "--runs", str(runs), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["median_ms"]


def mete_output(mete, path, inputs):
    with tempfile.TemporaryDirectory() as folder:
        command = [mete, "run", path, "--output", f"{folder}/out"]
        for i, (name, value) in enumerate(inputs.items()):
            numpy.save(f"{folder}/{i}.npy", value)
            command += ["--input", f"{name}={folder}/{i}.npy"]
        subprocess.run(command, capture_output=True, check=True)
        return numpy.load(next(pathlib.Path(folder, "out").glob("*.npy")))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--mete", default="build/release/mete")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=50, help="of a turn")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    print(f"{'model':40} {'mete ms':>9} {'LiteRT ms':>9} {'ratio':>6} {'equal':>7}")
    for model in options.models:
        theirs = LiteRt(model, options.threads)
        ours_ms, theirs_ms = [], []
        for _ in range(options.turns):
            ours_ms.append(mete_turn(options.mete, model, options.threads, options.runs))
            theirs_ms.append(theirs.turn(options.runs))
        ours, reference = mete_output(options.mete, model, theirs.inputs), theirs.output()
        equal = float(numpy.mean(numpy.isclose(ours.astype(float), reference.astype(float), rtol=1e-5, atol=1e-5)))
        a, b = statistics.median(ours_ms), statistics.median(theirs_ms)
        print(f"{pathlib.Path(model).name:40} {a:9.3f} {b:9.3f} {a / b:6.2f} {100 * equal:6.1f}%")


if __name__ == "__main__":
    sys.exit(main())
