#!/usr/bin/env python3
"""Which nodes of a model are far from what the machine can do: shares.py [--mete FILE] [--threads N] [--starts N] MODEL.onnx...

Starts `mete inspect --explain` several times, keeps each node's least time and the highest limits, and prints the nodes below their
bar: 1x1 convolutions of at least 10 MFLOP below 85 % of the measured f32 peak, one-row products below 80 % of the measured read
bandwidth, other products and convolutions below 50 % of peak; and how many there are of each kind.
"""
import argparse
import json
import pathlib
import subprocess

kRoot = pathlib.Path(__file__).resolve().parent.parent


def explain(flags, model):
    command = [flags.mete, "inspect", model, "--explain", "--json", "--threads", str(flags.threads)]
    if flags.cores:
        command += ["--cores", flags.cores]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def least(answers):
    """Each node with its least time, and the highest limits."""
    limits = {key: max(a["limits"][key] for a in answers) for key in ("gflops", "read_gbytes")}
    steps = [min(same, key=lambda s: s["us"]) for same in zip(*(a["steps"] for a in answers))]
    return steps, limits


def judge(step, limits):
    """(kind, share of the limit, bar), or nothing for a node that has no bar."""
    if step["us"] <= 0 or step["flops"] <= 0:
        return None
    of_peak = step["flops"] / step["us"] * 1e-3 / limits["gflops"]
    if step["kernel"].startswith("matvec"):
        return "one row", step["bytes"] / step["us"] * 1e-3 / limits["read_gbytes"], 0.80
    if step["kernel"].startswith("conv_1x1") and step["flops"] >= 1e7:
        return "1x1 convolution", of_peak, 0.85
    return "other", of_peak, 0.50


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mete", default=str(kRoot / "build" / "release" / "mete"), metavar="FILE")
    parser.add_argument("--threads", type=int, default=1, metavar="N")
    parser.add_argument("--cores", metavar="0,1")
    parser.add_argument("--starts", type=int, default=3, metavar="N", help="of the program (default: 3)")
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    flags = parser.parse_args()
    for model in flags.models:
        steps, limits = least([explain(flags, model) for _ in range(flags.starts)])
        print(f"{pathlib.Path(model).stem}: {limits['gflops']:.0f} GFLOP/s, {limits['read_gbytes']:.1f} GB/s")
        kinds = {}
        for step in steps:
            judged = judge(step, limits)
            if not judged:
                continue
            kind, share, bar = judged
            kinds.setdefault((kind, bar), []).append(share)
            if share < bar:
                memory = step["bytes"] / step["us"] * 1e-3 / limits["read_gbytes"]
                print(f"  {100 * share:4.0f} %  {kind:15}  {step['us']:8.1f} us  {step['flops'] * 1e-6:8.1f} MFLOP  memory {100 * memory:4.0f} %  "
                      f"{step['kernel']:24}  {step['node']}")
        for (kind, bar), shares in kinds.items():
            print(f"  {kind}: {sum(s >= bar for s in shares)} of {len(shares)} at {100 * bar:.0f} % or more, least {100 * min(shares):.0f} %, "
                  f"median {100 * sorted(shares)[len(shares) // 2]:.0f} %")


if __name__ == "__main__":
    main()
