"""Simulated boards to the document docs/results/cores.md. Pure: standard library only."""
import textwrap

import papers
import simulated
from tables import aligned, listed, number

kCommand = "make reproduce-cores"

kColumns = 140  # of prose, as in the other documents

kHead = f"""# Policies on boards that are not here, beside what papers report

Written by `{kCommand}` (`bench/cores/reproduce.py`); do not edit.

**This is a simulation of policies over a roofline, not a measurement**: `mete simulate` runs the policies themselves under a virtual clock.
The time of a node on a core is that of its arithmetic at the core's sustained peak or that of its bytes at the core's part of the bandwidth,
whichever is longer. The ratios between policies are worth reading; the milliseconds are guesses.

**Some inputs are estimates**: the time of every node of every network, the cost of starting a kernel, and most figures of the machine files
(listed below for each board; `boards/*.toml` has the source of each). For operators without multiply-adds only the bytes count. A recurrent
layer has a piece for each sequence and direction, with weights that are read once; so nothing of Char-RNN, with one of each, is divided. A thread whose
last region ended 100 us ago, or that had no work for 2 ms, sleeps and must be woken, as in Mete's pool. The simulation leaves out heat,
governors, other programs, data that caches keep from layer to layer, and kernels that suit one kind of core better.

`equal` divides evenly, `ratio` gives little cores half a slice as MNN does, and `asymo` and `sani` follow the two papers as far as public
copies tell. `adaptive` is Mete's default: with it, the planner (`mete plan`) leaves cores out of a node if they are predicted to gain nothing,
while the other policies divide every node among all cores. A part of its gain on networks of small nodes is therefore the planner's. The
public summary from which the papers' figures are taken has no latencies in milliseconds, and does not say which networks ran on which phone.
The networks here are therefore 16 of those of the zoo (`mete zoo list`) that `make compare` measures, and Char-RNN. Both papers' kinds of networks
are among them, but no row is a paper's row."""

kReading = """A column is a phone with uneven cores, or the hybrid Intel. A network counts as convolutional, or as one of dense layers, if these
layers take at least half of its estimated time on that board; other networks (Char-RNN, and those that mostly move data) are not compared.
Each line of the list has a figure of a paper, and behind "here" the simulated figure beside it. The last column of the table says that all
simulated figures are within a tenth ("agrees"), that all are "less" or all "more", or that they scatter. "Up to 46 % faster" is read as 1.46
times as fast; the largest simulated figure is then compared."""
kMeans = """The numbers say how many times as fast as equal slices on all cores a policy is, in the geometric mean over the networks. The
column "fast : slow" has the sustained f32 rate of a core of the fastest cluster divided by that of a core of the slowest. A subset is some
of the clusters, or a part of one, with equal slices or with `adaptive` as planned for it."""
kSlower = "These are the networks on which `adaptive` on all cores is slower than the best subset, which it should never be, with its relative speed:"


def _value(value, unit):
    return f"{value:.2f}x" if unit == "x" else f"{value:.1f} %"


def _reported(figure):
    if figure.low == figure.high:
        return _value(figure.low, figure.unit)
    return f"{figure.low:g} .. {_value(figure.high, figure.unit)}"


def comparison(boards):
    """What the papers' figures are, theirs beside ours, and a line for each that disagrees."""
    compared = list(enumerate(papers.compare(boards), 1))
    columns = [*simulated.kPhones, simulated.kHybrid]
    rows = [["", "paper", "reported", *columns, "simulated"]]
    for i, (figure, ours, said) in compared:
        cells = [_value(ours[c], figure.unit) if c in ours else "-" for c in columns]
        rows.append([f"[{i}]", figure.paper, _reported(figure), *cells, said])
    what = [f"[{i}] {figure.paper}: {figure.what}." for i, (figure, _, _) in compared]
    apart = [f"[{i}] {said}: {figure.why[said]}." for i, (figure, _, said) in compared if said in figure.why]
    return "\n\n".join([listed(what, markdown=True), aligned(rows, markdown=True), "Where they disagree, and what may be why:",
                        listed(apart, markdown=True) or "- nowhere"])


def mean_line(board):
    return ", ".join(f"{policy} {mean:.2f}x" for policy, mean in simulated.geometric_means(board).items())


def means_table(boards):
    rows = [["board", "cores", "fast : slow", *simulated.kPolicies, "adaptive / best subset"]]
    for board in boards:
        mean = simulated.geometric_means(board)
        rows.append([board["name"], _cores(board), f"{simulated.fast_to_slow(board):.2f}", *(f"{mean[p]:.2f}x" for p in mean),
                     f"{simulated.beside_best(board)['adaptive']:.2f}x"])
    return aligned(rows, markdown=True)


def _cores(board):
    return " + ".join(f"{cluster['cores']} {cluster['name']}" for cluster in board["clusters"])


def board_table(board):
    rows = [["ms", "convolutions", *simulated.kPolicies, "ideal", "best subset", "on"]]
    for r in board["results"]:
        times = [number(ms) for ms in (*(r["ms"][p] for p in simulated.kPolicies), r["ideal_ms"], r["best"]["ms"])]
        rows.append([r["model"], f"{100 * r['conv_share']:.0f} %", *times, r["best"]["cores"]])
    mean, best = simulated.geometric_means(board), simulated.beside_best(board)
    rows.append(["as fast as equal, geometric mean", "", *(f"{mean[p]:.2f}x" for p in simulated.kPolicies), "", "", ""])
    rows.append(["as fast as the best subset", "", *(f"{best[p]:.2f}x" for p in simulated.kPolicies), "", "", ""])
    return aligned(rows, markdown=True)


def slower_than_best(boards):
    """Where the default is slower than some of the cores alone would be, which it should never be."""
    lines = []
    for board in boards:
        beside = {r["model"]: f"{r['best']['ms'] / r['ms']['adaptive']:.2f}" for r in board["results"]}
        slow = [f"{model} {ratio}x" for model, ratio in beside.items() if float(ratio) < 1]
        if slow:
            lines.append(f"{board['name']}: {', '.join(slow)}")
    return listed(lines, markdown=True) or "- nowhere"


def _wrapped(text):
    return textwrap.fill(text, kColumns, break_long_words=False, break_on_hyphens=False)


def _board(board):
    about = f"`boards/{board['file']}.toml`: {_cores(board)}. Estimates: {board['estimates']}."
    return [f"## {board['name']}", _wrapped(about), board_table(board)]


def document(boards):
    parts = [kHead, "## What the papers report, and what the simulation says", kReading, comparison(boards), "## All boards",
             "![Times as fast as equal slices](cores.svg)", kMeans, means_table(boards), kSlower, slower_than_best(boards)]
    for board in boards:
        parts += _board(board)
    return "\n\n".join(parts) + "\n"
