"""What `mete simulate` says of boards, to ratios. Pure: standard library only.

A board is {"file", "name", "estimates", "clusters": [{"name", "cores", "gflops" of a core}, the fastest first], "results"}; a result
{"model", "conv_share", "dense_share", "ms": {policy: median}, "ideal_ms", "best": {"ms", "cores"}, "equal": {which: {"ms", "waiting"}}}.
Which is "big", all clusters but the slowest; "one", with a single core of the slowest; "all", with all of it. Boards of equal cores have
only "all".
"""
import statistics

import spread

kPolicies = ["equal", "ratio", "asymo", "sani", "adaptive"]
kHybrid = "core-i9-13900h"
kPhones = ["exynos-7420", "kirin-970", "snapdragon-845", "snapdragon-888", "tensor-g4"]  # uneven ones
kDense = {"Gemm", "MatMul", "mete.MatMul"}  # recurrent layers are in one piece: no policy has anything to divide
kCompared = {"conv", "dense"}


def node_ns(node, cores):
    """On all cores at once, were there nothing to wait for."""
    speed = sum(n / ns for n, ns in zip(cores, node["block_ns"]) if ns > 0)
    return node["blocks"] / speed if speed > 0 else 0.0


def shares(nodes, cores):
    """(of convolutions, of dense layers) in the time."""
    total = sum(node_ns(node, cores) for node in nodes)
    conv = sum(node_ns(node, cores) for node in nodes if node["op"] == "Conv")
    dense = sum(node_ns(node, cores) for node in nodes if node["op"] in kDense)
    return conv / total, dense / total


def waiting_share(cores):
    """Of the cores' time, as the outcome of a policy tells it."""
    waiting = sum(core["waiting_ns"] for core in cores)
    return waiting / (waiting + sum(core["busy_ns"] + core["taking_ns"] for core in cores))


def kind(result):
    return "conv" if result["conv_share"] >= 0.5 else "dense" if result["dense_share"] >= 0.5 else "other"


def faster(result, policy, than):
    return result["ms"][than] / result["ms"][policy]


def geometric_means(board):
    """{policy: how many times as fast as equal}, over the networks."""
    return {p: spread.geometric_mean([faster(r, p, "equal") for r in board["results"]]) for p in kPolicies}


def beside_best(board):
    """{policy: how many times as fast as the best subset of the cores}, over the networks."""
    return {p: spread.geometric_mean([r["best"]["ms"] / r["ms"][p] for r in board["results"]]) for p in kPolicies}


def fast_to_slow(board):
    return board["clusters"][0]["gflops"] / board["clusters"][-1]["gflops"]


def uneven(board):
    return fast_to_slow(board) > 1


def phones(boards):
    return [board for board in boards if board["file"] in kPhones]


def four_big(boards):
    return [b for b in phones(boards) if sum(c["cores"] for c in b["clusters"][:-1]) == 4]


def _each(boards, kinds, of):
    """{board: of(its results of these kinds)}; without boards that have none."""
    chosen = {board["file"]: [r for r in board["results"] if kind(r) in kinds] for board in boards}
    return {file: of(results) for file, results in chosen.items() if results}


def most_gains(boards, which, slower, policy):
    """{board: the largest gain on networks of that kind}"""
    return _each(boards, {which}, lambda results: max(faster(r, policy, slower) for r in results))


def savings(boards, theirs, policy):
    """{board: percent of time saved}"""
    return _each(boards, kCompared, lambda results: 100 * (1 - 1 / spread.geometric_mean([faster(r, policy, theirs) for r in results])))


def waiting(boards, which):
    """{board: percent of waiting}, mean over the networks."""
    return _each(boards, kCompared, lambda results: 100 * statistics.fmean(r["equal"][which]["waiting"] for r in results))


def most_collapses(boards):
    """{board: the worst that joining little cores did to a network}"""
    return _each(boards, kCompared, lambda results: max(
        r["equal"][joined]["ms"] / r["equal"]["big"]["ms"] for r in results for joined in ("one", "all")))


def fast_to_slow_of(boards):
    return {board["file"]: fast_to_slow(board) for board in boards}
