"""What comparisons with another runtime on the same file share: inputs, turns, differences and the table.

The two take turns in one run, so that what slows the machine slows both. A runtime has `inputs` by name, turn(runs) for the median of runs in milliseconds, and
outputs() by name.
"""
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy

kTurnMs = 300


def random_values(shape, kind, seed=1):
    random = numpy.random.default_rng(seed)
    if kind == numpy.bool_:
        return numpy.ones(shape, kind)
    if numpy.issubdtype(kind, numpy.floating):
        return random.uniform(-1, 1, shape).astype(kind)
    return random.integers(0, 100, shape).astype(kind)


def median_ms(run, runs):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


class Mete:
    """`mete` on a model, with the inputs of another runtime in files of `folder`."""

    def __init__(self, program, path, threads, inputs, folder):
        self.program, self.path, self.folder, self.flags = program, path, folder, ["--threads", str(threads), "--json"]
        for i, (name, value) in enumerate(inputs.items()):
            numpy.save(f"{folder}/{i}.npy", value)
            self.flags += ["--input", f"{name}={folder}/{i}.npy"]

    def turn(self, runs):
        return self._json("bench", "--runs", str(runs))["median_ms"]

    def outputs(self):
        answer = self._json("run", "--output", f"{self.folder}/out")
        names = [output["name"] for output in answer["results"][0]["outputs"]]
        return {name: numpy.load(file) for name, file in zip(names, answer["files"])}

    def _json(self, command, *flags):
        done = subprocess.run([self.program, command, self.path, *self.flags, *flags], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"mete {command} {self.path}: {done.stderr.strip()}")
        return json.loads(done.stdout)


def difference(ours, theirs):
    """The share of equal elements of all outputs, and the largest difference, as the table has it."""
    equal, relative, steps = [], 0.0, 0
    for name, reference in theirs.items():
        if name not in ours:
            raise RuntimeError(f"there is no output '{name}'; got {', '.join(ours)}")
        a, b = ours[name].astype(float), reference.astype(float)
        if a.shape != b.shape:
            return 0.0, f"{'x'.join(map(str, a.shape))} for {'x'.join(map(str, b.shape))}"
        equal.append(numpy.isclose(a, b, rtol=1e-5, atol=1e-5, equal_nan=True).ravel())
        most = numpy.nanmax(numpy.abs(a - b), initial=0)
        if numpy.issubdtype(reference.dtype, numpy.integer):
            steps = max(steps, int(most))
        elif most > 0:
            relative = max(relative, most / max(numpy.nanmax(numpy.abs(b)), 1e-30))
    integers = any(numpy.issubdtype(value.dtype, numpy.integer) for value in theirs.values())
    floats = any(numpy.issubdtype(value.dtype, numpy.floating) for value in theirs.values())
    largest = ", ".join([f"{relative:.0e}"] * floats + [f"{steps} steps"] * integers)
    return float(numpy.mean(numpy.concatenate(equal))) if equal else 1.0, largest


class Table:
    """A row for each model, and the geometric mean of the ratios."""

    def __init__(self, options, peer):
        self.options, self.ratios, self.failed = options, [], 0
        print(f"| {'model':44} | {'mete ms':>9} | {peer + ' ms':>15} | {'ratio':>6} | {'equal':>7} | {'largest difference':>18} |")
        print(f"|{'-' * 46}|{'-' * 10}:|{'-' * 16}:|{'-' * 7}:|{'-' * 8}:|{'-' * 19}:|")

    def row(self, name, path, theirs):
        """`theirs`: a runtime with the model loaded. An error of Mete is a row, too."""
        with tempfile.TemporaryDirectory() as folder:
            ours = Mete(self.options.mete, path, self.options.threads, theirs.inputs, folder)
            ours_ms, theirs_ms = [], []
            try:
                equal, largest = difference(ours.outputs(), theirs.outputs())
                runs = self.options.runs or max(3, min(50, int(kTurnMs / theirs.turn(2))))
                for _ in range(self.options.turns):
                    ours_ms.append(ours.turn(runs))
                    theirs_ms.append(theirs.turn(runs))
            except RuntimeError as error:
                self.failed += 1
                print(f"| {name:44} | {error}", flush=True)
                return
        a, b = statistics.median(ours_ms), statistics.median(theirs_ms)
        self.ratios.append(a / b)
        print(f"| {name:44} | {a:9.3f} | {b:15.3f} | {a / b:6.2f} | {100 * equal:5.1f} % | {largest:>18} |", flush=True)

    def end(self):
        if not self.ratios:
            print("\nno network was compared")
            return 1
        print(f"\ngeometric mean of the ratios: {statistics.geometric_mean(self.ratios):.2f}, of {len(self.ratios)} files; "
              f"{sum(ratio <= 1 for ratio in self.ratios)} at most 1.00")
        return 1 if self.failed else 0


def add_flags(parser):
    parser.add_argument("--mete", default="build/release/mete")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, help="of a turn (default: those of about a third of a second, 3 to 50)")
    parser.add_argument("--turns", type=int, default=5)


def name_of(path):
    return pathlib.Path(path).name
