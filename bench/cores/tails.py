"""Times under interference to quantiles and tables. Pure: standard library only.

A result is {"model", "ms": {policy: [[ms of each run] of each round]}, "line_ns": [of each round], "slow": slowcore's report,
"others_share"}.
"""
import itertools
import random

import near
import spread
from tables import aligned, number

kQuantiles = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
kResamples = 400      # guess: the ends of an interval move by some percent of its width from one seed to the next
kInterval = 0.05, 0.95


def quantiles(bursts):
    runs = list(itertools.chain.from_iterable(bursts))
    return {name: spread.quantile(runs, q) for name, q in kQuantiles.items()}


def ratios(theirs, ours):
    return {name: value / quantiles(ours)[name] for name, value in quantiles(theirs).items()}


def intervals(theirs, ours, seed=1):
    """{quantile: (low, high)} of their ratio, 90 %, from rounds drawn again with replacement: the runs of a round share the load's mood."""
    source = random.Random(seed)
    drawn = {name: [] for name in kQuantiles}
    for _ in range(kResamples):
        rounds = source.choices(range(len(ours)), k=len(ours))
        for name, value in ratios([theirs[i] for i in rounds], [ours[i] for i in rounds]).items():
            drawn[name].append(value)
    return {name: tuple(spread.quantile(values, q) for q in kInterval) for name, values in drawn.items()}


def compare(result, ours, theirs):
    """{quantile: {"ratio", "low", "high"}}, theirs over ours."""
    a, b = result["ms"][theirs], result["ms"][ours]
    spans = intervals(a, b)
    return {name: {"ratio": ratio, "low": spans[name][0], "high": spans[name][1]} for name, ratio in ratios(a, b).items()}


def ratio_cells(result, ours, theirs):
    return [f"{c['ratio']:.2f} ({c['low']:.2f} - {c['high']:.2f})" for c in compare(result, ours, theirs).values()]


def table(results, policies, markdown):
    """A row a model and policy, and one for how many times the first policy's quantiles each other one's are."""
    rows = [["model", "policy", *(f"{name} ms" for name in kQuantiles), "slow for", "others"]]
    limit_ns = near.limit_ns(results)
    for r in results:
        meanwhile = [f"{100 * r['slow']['on_off']['slow_share']:.0f} %", f"{100 * r['others_share']:.0f} %"]
        for policy in policies:
            rows.append([r["model"], policy, *(number(ms) for ms in quantiles(r["ms"][policy]).values()), *meanwhile])
        of_near = near.near_rounds(r, limit_ns)
        count = f"{len(of_near['line_ns'])} of {len(r['line_ns'])}"
        for policy in policies[1:]:
            what = f"{policy} / {policies[0]}"
            rows.append([r["model"], what, *ratio_cells(r, policies[0], policy), "", ""])
            cells = ratio_cells(of_near, policies[0], policy) if of_near["line_ns"] else ["-"] * len(kQuantiles)
            rows.append([r["model"], f"{what}, near ({count})", *cells, "", ""])
    return aligned(rows, markdown)
