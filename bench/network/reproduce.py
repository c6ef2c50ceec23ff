"""Planners for several boards on 100 Mb/s, simulated, beside what Legion's paper reports: writes network.md.

For each pool of boards and network `mete simulate --processors` plans and simulates. Nothing is measured, and the same sources give the same
file. Networks of the zoo are made where they are missing.
"""
import argparse
import os
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import common_flags
import document
import networks
import page
import pools
from output import say

kModels = ["vgg16", "vgg19", "yolov2", "resnet18", "resnet50", "mobilenet_v1", "googlenet", "inception_v3"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Progress goes to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a model or a "
                                       "file that Mete cannot load; nothing is written then.")
    common_flags.add_mete(p)
    p.add_argument("--models", nargs="+", default=kModels, metavar="M",
                   help=f".onnx files, folders of them, or names of the zoo (default: {' '.join(kModels)})")
    common_flags.add_work(p)
    p.add_argument("--out", default=os.path.join(_root, "docs", "results"), metavar="FOLDER", help="of the file (default: docs/results)")
    flags = common_flags.parsed(p)
    return flags


def simulate(flags, model, pool, folder):
    """({planner: speed-up}, what is an estimate)"""
    path, boards = os.path.join(folder, "pool.toml"), os.path.join(_root, "boards")
    with open(os.path.join(boards, pools.kLinkFile), encoding="utf-8") as file:
        link = pools.link_figures(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(pools.devices_file(pool, boards, link))
    told = networks.mete(flags.mete, "simulate", model, "--processors", path)
    return {p["planner"]: p["speed_up"] for p in told["planners"]}, told["estimates"]


def simulate_all(flags):
    results, estimates = {}, ""
    models = networks.chosen(flags.models)
    with tempfile.TemporaryDirectory() as folder:
        for i, word in enumerate(models, 1):
            name, path = networks.model_file(flags.mete, word, flags.work)
            results[name] = {}
            for pool in pools.kPools:
                results[name][pool.name], estimates = simulate(flags, path, pool, folder)
            best = max(results[name].items(), key=lambda item: item[1]["dynamic"])
            say(f"{i} of {len(models)}, {name}: up to {best[1]['dynamic']:.2f}x, on {best[0]}")
    return results, estimates


def main():
    flags = arguments()
    return page.write(flags.out, lambda: {"network.md": document.document(*simulate_all(flags))})


if __name__ == "__main__":
    sys.exit(main())
