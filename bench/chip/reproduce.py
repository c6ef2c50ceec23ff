"""Planners for the CPU and the GPU of a phone's chip, simulated, beside what muLayer's and CoDL's papers report: writes chip.md.

For each board with a GPU and each network `mete plan` and `mete simulate` plan and simulate. Nothing is measured, and the same sources give
the same file. Networks of the zoo are made where they are missing.
"""
import argparse
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import chips
import common_flags
import document
import networks
import page
from output import say

# Those of the papers that the zoo has, and networks of few operations, for which dividing gains least.
kModels = ["vgg16", "alexnet", "nin", "squeezenet1.0", "googlenet", "resnet50", "yolov2", "posenet_mobilenet", "mobilenet_v1", "mobilenet_v2",
           "vit_ti16"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Progress goes to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a model or a "
                                       "file that Mete cannot load; nothing is written then.")
    common_flags.add_mete(p)
    p.add_argument("--models", nargs="+", default=kModels, metavar="M",
                   help=f".onnx files, folders of them, or names of the zoo (default: {' '.join(kModels)})")
    common_flags.add_work(p)
    p.add_argument("--out", default=os.path.join(_root, "docs", "results"), metavar="FOLDER", help="of the file (default: docs/results)")
    return common_flags.parsed(p)


def simulate(flags, model, board, processors):
    """(what the document knows of a point, what is an estimate)"""
    words = [model, "--machine", os.path.join(_root, "boards", f"{board}.toml"), "--processors", processors]
    told = networks.mete(flags.mete, "simulate", *words)
    alone = networks.mete(flags.mete, "plan", *words)["alone_us"]
    ms, predicted = ({p["planner"]: p[key] * 1e-3 for p in told["planners"]} for key in ("simulated_us", "predicted_us"))
    return {"alone": [us * 1e-3 for us in alone], "ms": ms, "predicted": predicted}, told["estimates"]


def simulate_all(flags):
    results, estimates = {kind: {} for kind in chips.kTypes}, ""
    models = networks.chosen(flags.models)
    for i, word in enumerate(models, 1):
        name, path = networks.model_file(flags.mete, word, flags.work)
        for kind, processors in chips.kTypes.items():
            results[kind][name] = {}
            for board in chips.kBoards:
                results[kind][name][board], estimates = simulate(flags, path, board, processors)
        say(f"{i} of {len(models)}, {name}")
    return results, estimates


def main():
    flags = arguments()
    return page.write(flags.out, lambda: {"chip.md": document.document(*simulate_all(flags))})


if __name__ == "__main__":
    sys.exit(main())
