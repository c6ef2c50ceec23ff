"""What two papers report of networks on uneven cores, and how a simulation compares. Pure: standard library only.

The figures are those of the project's public summary of AsyMo (MobiCom 2021) and SANI (OSDI 2026). It names neither the networks nor the
phones behind each figure, so none can be laid beside a single row: what can be compared is a bound or a mean over all networks.
"""
import collections

import simulated

kSame = 0.1          # guess: a roofline over estimated figures cannot tell less than a tenth apart
kAsymoConv = 1.46    # the most that AsyMo's paper reports for convolutional networks

# `low` and `high` are equal where the paper gives one figure. `of` computes ours, {board's file: number}, from boards. `most`: the paper's
# figure is the most that it saw, so the largest of ours counts. `why`: what may explain a verdict, by verdict.
Figure = collections.namedtuple("Figure", "paper what low high unit most of why")

_kBaseline = ("the paper's baseline is TensorFlow as it divides, ours `equal`, one slice a thread; and the simulation leaves out costs "
              "that both share")
_kRatios = "how uneven the cores are differs more between the machine files than between what was measured on phones ([8])"
_kKernels = ("SANI has a kernel for each kind of core (worth 9 % on matrix products and over 34 % on depthwise convolutions, by its "
             "paper), here both kinds run the same; and its port of AsyMo need not be like ours")

_kUnevenBig = ("where there are three clusters, the four faster cores are uneven themselves; elsewhere, layers whose blocks do not divide "
               "by four")
_kEstimated = dict.fromkeys(("less", "more", "scatters"), "the machine files estimate what share of its peak a core sustains; a profile of "
                            "a real device would settle it")


def _phones(of, *more):
    return lambda boards: of(simulated.phones(boards), *more)


def _hybrid(boards):
    return simulated.fast_to_slow_of(board for board in boards if board["file"] == simulated.kHybrid)


kFigures = [
    Figure("AsyMo", "convolutional networks beside an optimised TensorFlow, up to 46 % faster; here equal / asymo, a phone's largest",
           kAsymoConv, kAsymoConv, "x", True, _phones(simulated.most_gains, "conv", "equal", "asymo"),
           {"less": _kBaseline, "more": f"{_kRatios}; {_kBaseline}"}),
    Figure("AsyMo", "networks of dense layers, likewise, up to 97 % faster; here equal / asymo, a phone's largest",
           1.97, 1.97, "x", True, _phones(simulated.most_gains, "dense", "equal", "asymo"),
           {"less": _kBaseline, "more": f"{_kRatios}; {_kBaseline}"}),
    Figure("SANI", "beside its port of AsyMo, means of five phones, read as time saved; here 1 - sani / asymo, geometric mean",
           9.8, 15.7, "%", False, _phones(simulated.savings, "asymo", "sani"),
           {"less": _kKernels, "more": _kRatios, "scatters": f"{_kRatios}; {_kKernels}"}),
    Figure("SANI", "beside MNN's fixed ratio, likewise; here 1 - sani / ratio, geometric mean",
           12.0, 16.7, "%", False, _phones(simulated.savings, "ratio", "sani"),
           {"less": _kKernels, "more": _kRatios,
            "scatters": "a ratio of one half is near to the truth of machine files with two clusters, and far from it with three"}),
    Figure("SANI", "time spent waiting with equal slices on 4 big cores; here `equal` on all clusters but the slowest, mean",
           5, 5, "%", False, lambda boards: simulated.waiting(simulated.four_big(boards), "big"),
           {"less": "simulated cores of one cluster are exactly equal", "more": _kUnevenBig, "scatters": _kUnevenBig}),
    Figure("SANI", "the same with 1 little core more",
           30, 30, "%", False, lambda boards: simulated.waiting(simulated.four_big(boards), "one"),
           dict.fromkeys(("less", "more", "scatters"), _kRatios)),
    Figure("SANI", "little cores that join make it up to 37 % slower; here `equal` with 1 of them or all, over without, a phone's largest",
           1.37, 1.37, "x", True, _phones(simulated.most_collapses), {"less": _kRatios, "more": f"{_kRatios}; {_kBaseline}"}),
    Figure("others", "a phone's big core over its little one on sgemm, as measured; here what the machine files say of sustained f32",
           2.6, 3.4, "x", False, _phones(simulated.fast_to_slow_of), _kEstimated),
    Figure("others", "a hybrid Intel's P-core over its E-core on f32 multiply-adds, as measured; here likewise",
           2.6, 2.6, "x", False, _hybrid, _kEstimated),
]


def verdict(figure, ours):
    """ "agrees" (all within kSame), "less" and "more" (all beyond), "scatters" or "not simulated"."""
    if not ours:
        return "not simulated"
    values = [max(ours.values())] if figure.most else ours.values()
    low, high = figure.low * (1 - kSame), figure.high * (1 + kSame)
    sides = {"less" if value < low else "more" if value > high else "agrees" for value in values}
    return sides.pop() if len(sides) == 1 else "scatters"


def compare(boards):
    """[(figure, ours, verdict)]"""
    return [(figure, ours, verdict(figure, ours)) for figure in kFigures for ours in [figure.of(boards)]]
