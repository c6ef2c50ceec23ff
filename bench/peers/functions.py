"""How exact each engine's functions of one value are, and what an element of them costs, on one core.

One node, or the few nodes that exporters write for it, computes the function of a million values between -12 and 12. The error of an output is its distance
from the function in f64, in units in the last place (ulp) of the nearest f32. `make compare-functions` runs this with the peers' Python.
"""
import argparse
import math
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "common"), str(ROOT / "tests" / "cli")]
import numpy as np  # noqa: E402

import convert  # noqa: E402
import engines  # noqa: E402
from networks import on_command  # noqa: E402
from onnx_files import model as onnx_file  # noqa: E402
from output import kFailure, kSuccess, say  # noqa: E402
from protocol import WorkerFailed, running  # noqa: E402
from tables import aligned, number  # noqa: E402

kShape = [1, 64, 128, 128]
kMost = 12.0  # the largest magnitude of an input, a guess: larger ones are rare in networks
kBursts, kRuns = 7, 5
kMostUlp = 16  # of Mete: a bound for a fast form of exp, whose argument is reduced in f32, and one division or product behind it


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    return np.fromiter(map(math.erf, x.ravel()), np.float64, x.size).reshape(x.shape)


FUNCTIONS = {  # the nodes, and the function in f64
    "Sigmoid": ([("Sigmoid", ["x"], ["y"])], sigmoid),
    "Tanh": ([("Tanh", ["x"], ["y"])], np.tanh),
    "Exp": ([("Exp", ["x"], ["y"])], np.exp),
    "Erf": ([("Erf", ["x"], ["y"])], erf),
    "Swish": ([("Sigmoid", ["x"], ["s"]), ("Mul", ["x", "s"], ["y"])], lambda x: x * sigmoid(x)),
}


def ulps(got, want):
    """The largest distance of f32 values from those in f64, in units in the last place of the latter as f32."""
    unit = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
    return float((np.abs(got.astype(np.float64) - want) / unit).max())


def prepare(name, nodes, inputs, peers, work):
    path = os.path.join(work, f"{name}.onnx")
    with open(path, "wb") as file:
        file.write(onnx_file([("x", kShape)], nodes, ["y"]))
    prepared = engines.PreparedNode(path, [{"name": "x", "type": "f32", "shape": kShape}], inputs)
    if "ncnn" in peers:
        try:
            prepared.converted = convert.convert(path, prepared.ports, os.path.join(work, f"{name}.ncnn"))
        except convert.NotConverted as reason:
            prepared.reasons["ncnn"] = f"not converted: {reason}"
    return prepared


def measure(mete, prepared, peers, core, work):
    """{engine: (values, ns of an element)} and {engine: why it has none}."""
    words = ["--threads", "1", "--cores", str(core), *prepared.input_words()]
    commands = {"mete": on_command(mete, prepared.path, os.path.join(work, "cache"), *words)}
    commands.update({peer: prepared.command(peer, 1) for peer in peers if prepared.can(peer)})
    failed = dict(prepared.reasons)
    with running({name: (command, {core}) for name, command in commands.items()}, failed) as workers:
        values, least = {}, {name: math.inf for name in workers}
        for name, worker in workers.items():
            folder = tempfile.mkdtemp(dir=work)
            values[name] = np.load(worker.ask(do="save", folder=folder)["files"][0])
        for _ in range(kBursts):
            for name, worker in workers.items():
                least[name] = min(least[name], *worker.ask(do="time", warm=1, runs=kRuns)["ns"])
    return {name: (values[name], least[name] / values[name].size) for name in values}, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mete", default=str(ROOT / "build" / "release" / "mete"), metavar="FILE", help="the program")
    parser.add_argument("--engines", nargs="+", choices=engines.kPeers, default=list(engines.kPeers), metavar="E", help="peers (default: all)")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the core that all run on (default: this process's last)")
    flags = parser.parse_args()
    rows, exact = [], True
    with tempfile.TemporaryDirectory() as work:
        x = np.random.default_rng(1).uniform(-kMost, kMost, kShape).astype(np.float32)
        np.save(os.path.join(work, "x.npy"), x)
        for name, (nodes, function) in FUNCTIONS.items():
            prepared = prepare(name, nodes, {"x": os.path.join(work, "x.npy")}, flags.engines, work)
            results, failed = measure(flags.mete, prepared, flags.engines, flags.core, work)
            want = function(x.astype(np.float64))
            errors = {engine: ulps(values.reshape(kShape), want) for engine, (values, _) in results.items()}
            exact = exact and errors.get("mete", math.inf) <= kMostUlp
            rows.append([name] + [f"{number(errors[e])} ulp, {number(results[e][1])} ns" if e in results else "-" for e in ("mete", *flags.engines)])
            for engine, reason in failed.items():
                say(f"{name}: {engine}: {reason}")
    print(aligned([["function", "mete", *flags.engines], *rows], markdown=True))
    return kSuccess if exact else kFailure


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WorkerFailed as problem:
        sys.exit(f"[functions] {problem}")
