"""Simulated pools to the document docs/results/network.md. Pure: standard library only.

`results` is {model: {pool's name: {planner: speed-up beside the best single processor}}}, in the order in which they are printed.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import spread
from plot_marker import plot
from tables import aligned, listed

kCommand = "make reproduce-network"
kPlanners = ["layerwise", "uniform", "neurosurgeon", "legion", "fss", "dynamic"]

# Legion's speed-ups over one board, read off a chart (±5 %), by network and number of RK3399 boards.
kPublished = {
    "vgg16": {2: 1.42, 3: 1.82, 4: 2.0, 5: 2.15, 6: 2.42},
    "vgg19": {2: 1.45, 3: 1.8, 4: 2.05, 5: 2.15, 6: 2.47},
    "yolov2": {2: 0.75, 3: 1.1, 4: 1.22, 5: 1.4, 6: 1.4},
}

kHead = f"""# Planners for several boards that are not here, beside what a paper reports

Written by `{kCommand}` (`bench/network/reproduce.py`); do not edit.

**This is a simulation over estimates, not a measurement**: `mete simulate --processors` runs each planner's plan in virtual time. The time of a
layer on a board follows from a roofline of its machine file's figures, on all of its cores and as `mete plan` divides it. Links are 100 Mb/s
Ethernet less headers, with estimates of the latency and of the cost of a message. The ratios between planners are worth reading. The size of a
speed-up depends on the ratio of a board's speed to its link: if the file's board is faster than the paper's, sending takes more of the time that
computing saves.

A speed-up is relative to the best single board. `legion` and `fss` (full search: every fused group is measured, here simulated) gather and scatter
through the caller between groups, on all boards, as in the paper; `layerwise` stands for MoDNN, `uniform` for DeepThings. `dynamic` is Mete's own:
slices stay where they are between groups, and a board that makes requests slower is left out."""


def published(model, pool):
    name, _, count = pool.partition(" x")
    return kPublished.get(model, {}).get(int(count)) if name == "rk3399" and count.isdigit() else None


def times(value):
    return f"{value:.2f}x"


def table(model, pools):
    has_published = any(published(model, pool) for pool in pools)
    rows = [["boards", *kPlanners, *(["Legion, published"] if has_published else [])]]
    for pool, speed_ups in pools.items():
        row = [pool, *(times(speed_ups[p]) for p in kPlanners)]
        if has_published:
            row.append(times(published(model, pool)) if published(model, pool) else "-")
        rows.append(row)
    return aligned(rows, markdown=True)


def plots(model):
    """Of networks that a paper has figures of: the planners that are worth a look beside it."""
    if model in kPublished:
        yield plot(f"network-{model}.svg", f"For each set of boards how many times as fast as one board {model} is with four planners, and with Legion as published.",
                   ["uniform", "legion", "fss", "dynamic", "Legion, published"], title=f"{model} on several boards: a simulation",
                   axis="times as fast as the best single board", names="boards", line=1, line_says="as fast as one board")


def points(results):
    return [(model, pool, speed_ups) for model, pools in results.items() for pool, speed_ups in pools.items()]


kSame = 1e-6  # what sums of microseconds round to


def summary(results):
    """What holds on every point, and where it does not."""
    every = points(results)
    said = []
    for than, others in (("never slower than the best single board", {"": 1.0}), ("never slower than `legion`", "legion"),
                         ("never slower than `fss`", "fss")):
        of = (lambda s, o=others: s[o] if isinstance(o, str) else 1.0)
        worse = [f"{model} on {pool} ({s['dynamic'] / of(s):.3f})" for model, pool, s in every if s["dynamic"] < of(s) * (1 - kSame)]
        said.append(f"`dynamic` is {than} on {len(every) - len(worse)} of {len(every)} points" +
                    (f"; slower: {', '.join(worse)}." if worse else "."))
    mean = spread.geometric_mean([s["dynamic"] / s["legion"] for _, _, s in every])
    below = [s for _, _, s in every if s["legion"] < 1 - kSame]
    said.append(f"It is {mean:.2f} times as fast as `legion` in the geometric mean; `legion` is slower than one board on {len(below)} points.")
    return listed(said, markdown=True)


def document(results, estimates):
    parts = [kHead, "## What holds", summary(results), f"Estimates: {estimates}."]
    for model, pools in results.items():
        parts += [f"## {model}", *plots(model), table(model, pools)]
    return "\n\n".join(parts) + "\n"
