"""The policies of AsyMo and SANI, and ours, on simulated boards, beside what their papers report: writes cores.md and cores.svg.

For each machine file and network `mete simulate` computes the latency of every policy in virtual time. Nothing is measured, and the same
sources give the same files. Networks of the zoo are made where they are missing.
"""
import argparse
import glob
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import common_flags
import cores
import networks
import page
import simulated
import simulated_plot
import simulated_text
from output import say

kModels = [*networks.kModels, "char_rnn"]  # 16 of those of `make compare`, and the zoo's only network that is recurrent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Progress goes to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a model or a "
                                       "machine file that Mete cannot load; nothing is written then.")
    common_flags.add_mete(p)
    p.add_argument("--boards", nargs="+", default=[os.path.join(cores.kRoot, "boards")], metavar="B",
                   help="machine files, or folders of them (default: boards)")
    p.add_argument("--models", nargs="+", default=kModels, metavar="M",
                   help=f".onnx files, folders of them, or names of the zoo (default: {' '.join(kModels)})")
    common_flags.add_work(p)
    p.add_argument("--out", default=os.path.normpath(os.path.join(cores.kRoot, "docs", "results")), metavar="FOLDER",
                   help="of the two files (default: docs/results)")
    flags = common_flags.parsed(p)
    flags.boards = [file for word in flags.boards for file in board_files(p, word)]
    return flags


def board_files(p, word):
    files = [f for f in sorted(glob.glob(os.path.join(glob.escape(word), "*.toml"))) if is_machine(f)] if os.path.isdir(word) else [word]
    if not files or not os.path.isfile(files[0]):
        p.error(f"[--boards] no machine file; got '{word}', expected a .toml file or a folder of them")
    return files


def is_machine(path):
    """Not a file of several devices."""
    with open(path, encoding="utf-8") as file:
        return "[[device]]" not in file.read()


def describe(flags, path):
    """A board without results."""
    machine = networks.mete(flags.mete, "machine", "--machine", path)
    clusters = [{"name": c["name"], "cores": physical(c), "gflops": c["f32_gflops"] * c["figures"]["compute_share"]["value"]}
                for c in machine["clusters"]]
    return {"file": os.path.basename(path)[:-len(".toml")], "name": machine["name"], "clusters": clusters, "results": []}


def physical(cluster):
    """Threads of one core count once."""
    threads = max([len(group) for group in cluster["siblings"]], default=1)
    return len(cluster["cores"]) // threads


def subsets(board):
    """{which: value of --cores}, for equal slices; see simulated.py."""
    if not simulated.uneven(board):
        return {}
    *fast, slow = [cluster["name"] for cluster in board["clusters"]]
    return {"big": ",".join(fast), "one": ",".join([*fast, f"{slow}:1"])}


def equal_on(outcome):
    return {"ms": outcome["median_ms"], "waiting": simulated.waiting_share(outcome["cores"])}


def simulate(flags, board, machine, name, model):
    told = networks.mete(flags.mete, "simulate", model, "--machine", machine, "--policy", "all")
    outcomes = {outcome["policy"]: outcome for outcome in told["policies"]}
    conv, dense = simulated.shares(told["nodes"], [cluster["cores"] for cluster in board["clusters"]])
    result = {"model": name, "conv_share": conv, "dense_share": dense, "ideal_ms": told["ideal_ms"],
              "ms": {policy: outcomes[policy]["median_ms"] for policy in simulated.kPolicies},
              "best": {"ms": told["best_subset"]["median_ms"], "cores": told["best_subset"]["cores"]},
              "equal": {"all": equal_on(outcomes["equal"])}}
    for which, words in subsets(board).items():
        alone = networks.mete(flags.mete, "simulate", model, "--machine", machine, "--policy", "equal", "--cores", words)
        result["equal"][which] = equal_on(alone["policies"][0])
    return result, told["estimates"]


def simulate_all(flags, models):
    boards = []
    for i, machine in enumerate(flags.boards, 1):
        board = describe(flags, machine)
        for name, path in models:
            result, board["estimates"] = simulate(flags, board, machine, name, path)
            board["results"].append(result)
        boards.append(board)
        say(f"{i} of {len(flags.boards)}, {board['name']}: {simulated_text.mean_line(board)}")
    return boards


def models_of(flags):
    models = []
    for i, model in enumerate(words := networks.chosen(flags.models), 1):
        models.append(networks.model_file(flags.mete, model, flags.work))
        say(f"network {i} of {len(words)}: {models[-1][0]}")
    return models


def pages(flags):
    boards = simulate_all(flags, models_of(flags))
    return {"cores.svg": simulated_plot.svg(boards), "cores.md": simulated_text.document(boards)}


def main():
    flags = arguments()
    return page.write(flags.out, lambda: pages(flags))


if __name__ == "__main__":
    cores.end(main)
