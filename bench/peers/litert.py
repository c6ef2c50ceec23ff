"""Mete beside LiteRT on .tflite files: litert.py MODEL.tflite... (make compare-litert)

The two take turns in one run, so that what slows the machine slows both. LiteRT computes as it does by default, with XNNPACK where that takes the
operators. The table has the median of the turns' medians, how many elements of all outputs are equal for the same random input, and the largest
difference: as a share of the largest value of an output of floats, or in steps of one of integers.
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

    def outputs(self):
        return {d["name"]: self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()}


def mete_turn(mete, path, threads, runs):
    done = subprocess.run([mete, "bench", path, "--threads", str(threads), "--runs", str(runs), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["median_ms"]


def mete_outputs(mete, path, inputs):
    with tempfile.TemporaryDirectory() as folder:
        command = [mete, "run", path, "--json", "--output", f"{folder}/out"]
        for i, (name, value) in enumerate(inputs.items()):
            numpy.save(f"{folder}/{i}.npy", value)
            command += ["--input", f"{name}={folder}/{i}.npy"]
        answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        names = [output["name"] for output in answer["results"][0]["outputs"]]
        return {name: numpy.load(file) for name, file in zip(names, answer["files"])}


def difference(ours, theirs):
    """The share of equal elements of all outputs, and the largest difference, as the table has it."""
    equal, relative, steps = [], 0.0, 0
    for name, reference in theirs.items():
        a, b = ours[name].astype(float), reference.astype(float)
        equal.append(numpy.isclose(a, b, rtol=1e-5, atol=1e-5).ravel())
        most = numpy.max(numpy.abs(a - b), initial=0)
        if numpy.issubdtype(reference.dtype, numpy.integer):
            steps = max(steps, int(most))
        elif most > 0:
            relative = max(relative, most / max(numpy.max(numpy.abs(b)), 1e-30))
    integers = any(numpy.issubdtype(value.dtype, numpy.integer) for value in theirs.values())
    return float(numpy.mean(numpy.concatenate(equal))), f"{steps} steps" if integers else f"{relative:.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--mete", default="build/release/mete")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=50, help="of a turn")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    ratios = []
    print(f"| {'model':44} | {'mete ms':>9} | {'LiteRT ms':>9} | {'ratio':>6} | {'equal':>7} | {'largest difference':>18} |")
    print(f"|{'-' * 46}|{'-' * 10}:|{'-' * 10}:|{'-' * 7}:|{'-' * 8}:|{'-' * 19}:|")
    for model in options.models:
        theirs = LiteRt(model, options.threads)
        ours_ms, theirs_ms = [], []
        for _ in range(options.turns):
            ours_ms.append(mete_turn(options.mete, model, options.threads, options.runs))
            theirs_ms.append(theirs.turn(options.runs))
        equal, largest = difference(mete_outputs(options.mete, model, theirs.inputs), theirs.outputs())
        a, b = statistics.median(ours_ms), statistics.median(theirs_ms)
        ratios.append(a / b)
        print(f"| {pathlib.Path(model).name:44} | {a:9.3f} | {b:9.3f} | {a / b:6.2f} | {100 * equal:5.1f} % | {largest:>18} |")
    print(f"\ngeometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}, of {len(ratios)} files")


if __name__ == "__main__":
    sys.exit(main())
