"""Trained classifiers in each precision, on a CPU, on a GPU and on both: right answers, bytes and time. Writes precision.md.

`mete quantize` makes an 8-bit file of each network from some of the pictures. `mete run` then classifies all pictures in each way. The CPU is
one core, and the GPU is PoCL's sub-device of another core (METE_GPU=cpu): an OpenCL device that computes on a CPU and stands for a GPU. The
networks and pictures are those of $METE_SHARED (default: ../shared beside the source tree): models/, and images/val, where a file's name
begins with its class.
"""
import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import statistics
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here] + [os.path.join(_here, "..", folder) for folder in ("common", "cores", "peers")]
import awake
import common_flags
import machine
import measured
import networks
import page
import quantizer
import sources
from output import say
from tables import aligned, listed, number

kTop = 5


@dataclasses.dataclass(frozen=True)
class Way:
    name: str
    weights: str  # the type of the weights: f32, f16 or 8 bits
    words: str    # of mete run; {cpu} and {gpu} are cores


# All layers of both processors together are divided by channels, in proportion to their speeds: as muLayer does, and without the trial that
# would take the faster processor alone. --save-plan lets mete run wait for the GPU's kernels, so that no picture is computed without them.
_BOTH = "--processors cpu:{cpu},gpu:0/{gpu}:f16 --planner mulayer --keep-plan --save-plan plan.json"
kWays = [
    Way("f32 on the CPU", "f32", "--cores {cpu}"),
    Way("f16 on the GPU", "f16", "--processors gpu:0/{gpu}:f16"),
    Way("8 bits on the CPU", "8 bits", "--cores {cpu}"),
    Way("8 bits, f16 on the GPU", "8 bits", "--processors gpu:0/{gpu}:f16"),
    Way("8 bits on the CPU, f16 on the GPU", "8 bits", _BOTH),
    Way("the same with --exact", "8 bits", _BOTH + " --exact"),
]
kFloats, kBytes = kWays[0], kWays[2]  # what others are compared with


@dataclasses.dataclass
class Answers:
    top: list  # of each picture its five classes, the likeliest first
    ms: float  # of a request, the median
    weights_bytes: int
    divided: tuple = None  # of both processors: groups in which both compute, and all groups


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Progress goes to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a network that Mete "
                                       "cannot load or run; nothing is written then.")
    common_flags.add_mete(p)
    p.add_argument("--shared", type=pathlib.Path, default=os.environ.get("METE_SHARED", os.path.join(_root, "..", "shared")), metavar="FOLDER",
                   help="networks and pictures")
    p.add_argument("--models", nargs="+", choices=sorted(quantizer.NETWORKS), default=list(quantizer.NETWORKS), metavar="M",
                   help=f"some of {', '.join(quantizer.NETWORKS)} (default: all)")
    p.add_argument("--pictures", type=int, metavar="N", help="the first N of them (default: all)")
    p.add_argument("--calibration", type=int, default=64, metavar="N", help="pictures that mete quantize gets, spread over all (default: 64)")
    p.add_argument("--cores", default="0,1", metavar="A,B", help="of the CPU and of the GPU (default: 0,1)")
    p.add_argument("--out", default=os.path.join(_root, "docs", "results"), metavar="FOLDER", help="of the page (default: docs/results)")
    flags = common_flags.parsed(p)
    cores = flags.cores.split(",")
    if len(cores) != 2 or not all(core.isdigit() for core in cores) or cores[0] == cores[1]:
        p.error(f"[--cores] got {flags.cores}, expected two cores such as 0,1")
    if not (flags.shared / "images" / "val").is_dir():
        p.error(f"[--shared] no networks and pictures in {flags.shared}; expected models/ and images/val")
    flags.cores = [int(core) for core in cores]
    return flags


def divided_groups(path):
    """(groups in which several processors compute, all groups) of a plan that mete run has saved"""
    with open(path) as file:
        groups = json.load(file)["groups"]
    return sum(sum(bool(share["outputs"]) for share in group["shares"]) > 1 for group in groups), len(groups)


def answers_in(flags, way, path, preprocess, pictures, folder, environment):
    plan = os.path.join(folder, "plan.json")
    words = [plan if word == "plan.json" else word for word in way.words.format(cpu=flags.cores[0], gpu=flags.cores[1]).split()]
    told = measured.mete(flags, environment, "run", str(path), *map(str, pictures), *preprocess, "--top-k", str(kTop), *words)
    floats = measured.mete(flags, environment, "inspect", str(path))["constant_bytes"]
    divided = divided_groups(plan) if plan in words else None
    if divided and not divided[0]:
        raise networks.BadModel(f"[{path}] {way.name}: no layer is divided over both processors; got a plan of {divided[1]} groups")
    return Answers([[top["class"] for top in result["top"]] for result in told["results"]],
                   statistics.median(result["ms"] for result in told["results"]), floats // 2 if way.weights == "f16" else floats, divided)


def measure_network(flags, name, pictures, pocl):
    """{way: answers}"""
    _, preprocess = quantizer.NETWORKS[name]
    path = flags.shared / "models" / f"{name}.onnx"
    calibration, _ = quantizer.divide(flags.shared / "images" / "val", flags.calibration)
    results = {}
    with tempfile.TemporaryDirectory() as folder, awake.awake(flags.cores):
        environment = measured.environment(_BOTH, pocl, os.path.join(folder, "cache"))
        quantized = os.path.join(folder, f"{name}.onnx")
        chosen = [word for picture in calibration.paths for word in ("--calibrate", str(picture))]
        measured.mete(flags, environment, "quantize", str(path), *chosen, "--pictures", str(len(calibration.paths)), "-o", quantized,
                      *preprocess)
        for way in kWays:
            say(f"{name}: {way.name}")
            results[way.name] = answers_in(flags, way, quantized if way.weights == "8 bits" else path, preprocess, pictures.paths, folder,
                                           environment)
    return results


def share(holds):
    holds = list(holds)
    return 100 * sum(holds) / len(holds)


def top_share(answers, classes, k):
    """The share of pictures whose class is among the first k answers."""
    return share(right in top[:k] for top, right in zip(answers.top, classes))


def same_share(answers, others, k):
    """The share of pictures with the same first k classes in the same order."""
    return share(a[:k] == b[:k] for a, b in zip(answers.top, others.top))


def table(results, classes):
    rows = [["computed in", "top-1, %", "top-5, %", "class of f32, %", "all five of 8 bits on the CPU, %", "weights, MiB", "ms"]]
    for way in kWays:
        answers = results[way.name]
        rows.append([way.name, *(f"{top_share(answers, classes, k):.1f}" for k in (1, kTop)),
                     f"{same_share(answers, results[kFloats.name], 1):.1f}",
                     f"{same_share(answers, results[kBytes.name], kTop):.1f}" if way.weights == "8 bits" else "-",
                     number(answers.weights_bytes / 2**20), number(answers.ms)])
    return aligned(rows, markdown=True)


def summary(by_network, classes):
    lines = []
    for way in kWays[1:]:
        losses = {name: top_share(results[kFloats.name], classes, kTop) - top_share(results[way.name], classes, kTop)
                  for name, results in by_network.items()}
        worst = max(losses, key=losses.get)
        lines.append(f"{way.name}: the largest loss of top-5 against {kFloats.name} is {losses[worst]:+.1f} points ({worst}).")
    lines += [f"{name}, {way.name}: both processors compute in {results[way.name].divided[0]} of {results[way.name].divided[1]} groups."
              for name, results in by_network.items() for way in kWays if results[way.name].divided]
    return lines


kHead = """# What each precision costs on a CPU, a GPU and both

Written by `make bench-precision` (`bench/chip/precision.py`); do not edit.
"""

kLegend = [
    "top-1, top-5: the share of pictures whose class is the first answer, or among the first five. One standard error of top-1 is about 2 points "
    "with 500 pictures.",
    "class of f32: the share of pictures with the first answer of f32 on the CPU. all five of 8 bits on the CPU: the share with the same first "
    "five answers in the same order as 8 bits on the CPU, which has exact sums of integers.",
    "weights: the constants of the file; those of f16 take half of f32's. ms: the median of the requests, pictures not read.",
    "8 bits on the CPU, f16 on the GPU: all layers are divided by channels in proportion to the processors' speeds, as muLayer does (`--planner "
    "mulayer --keep-plan`). Mete's own planner would give the faster processor alone where that is sooner.",
    "f16 on the GPU: halves in memory, sums in f32; from 8 bits, bytes in memory, whose levels f16 has exactly, and sums in f32, which round "
    "from 2^24 on. With --exact those are sums of integers, and values between bytes are f32.",
]


def document(flags, by_network, pictures, described):
    parts = [kHead, f"Measured on {datetime.date.today().isoformat()} on one core of an {described['cpu']} and PoCL's sub-device of another core, "
             f"commit {sources.state()}, {len(pictures.paths)} pictures with known classes; {flags.calibration} pictures, spread over all, are the "
             "quantizer's calibration. **The GPU is an OpenCL device that computes on a CPU and has no arithmetic of halves**: its answers "
             "have the roundings that Mete's kernels have on any GPU, and its milliseconds are no GPU's. Other programs may have run meanwhile."]
    parts += [f"## {name}\n\n" + table(results, pictures.classes) for name, results in by_network.items()]
    parts += ["## What holds\n\n" + listed(summary(by_network, pictures.classes), markdown=True), listed(kLegend, markdown=True)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def measure(flags):
    _, pictures = quantizer.divide(flags.shared / "images" / "val", 0)
    pictures = quantizer.Pictures(pictures.paths[:flags.pictures])
    with tempfile.TemporaryDirectory() as pocl:
        by_network = {name: measure_network(flags, name, pictures, pocl) for name in flags.models}
    return {"precision.md": document(flags, by_network, pictures, machine.describe())}


def main():
    flags = arguments()
    return page.write(flags.out, lambda: measure(flags))


if __name__ == "__main__":
    sys.exit(main())
