"""Simulated chips to the document docs/results/chip.md. Pure: standard library only.

`results` is {type: {model: {board: {"alone": [ms on the CPU, ms on the GPU], "ms": {planner: simulated ms}, "predicted": {planner: ms}}}}}, in
the order in which they are printed.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import chips
import spread
from plot_marker import plot
from tables import aligned, listed, number

kCommand = "make reproduce-chip"
kPlanners = ["layer-to-processor", "mulayer", "codl", "dynamic"]

kHead = f"""# CPU and GPU of chips that are not here, beside what papers report

Written by `{kCommand}` (`bench/chip/reproduce.py`); do not edit.

**This is a simulation over estimates, not a measurement**: `mete simulate --machine BOARD --processors cpu,gpu` runs each planner's plan in virtual
time. A layer's time on the cores follows from a roofline of the machine file's figures, on a GPU from waves of blocks (`src/costs/gpu_estimate.h`).
What sharing takes is an estimate as well: 15 us for a launch into a queue with work and 70 us into an empty one, 20 us and 30 us a MiB to map,
70 us until a sleeping thread has seen that the other side is done; and so is by how much both sides slow each other while both compute, 1.1 to 1.3 times
(`mete machine --machine BOARD --sources`). How much of its peak a GPU's kernels reach is a guess on all boards; on the two Exynos it is chosen so that
VGG-16 takes as much longer on one processor than on the other as muLayer's authors measured. **Ratios between planners, by the same costs, are
worth reading; milliseconds are not.**

`layer-to-processor` has each layer on the faster processor, `mulayer` divides all layers by channels in proportion to speeds that are linear in
operations, `codl` divides greedy chains by a grid of ratios. All of them are built from the same shares and kernels; `dynamic` is Mete's own.
f32 and f16 are the types of a GPU's products; the cores compute f32. muLayer computes bytes on the cores and f16 on the GPU, so that its published
savings have those of the shorter types in them, and these have not."""


def times(value):
    return f"{value:.2f}x"


def points(results):
    """(type, model, board, what is known of it) of all."""
    return [(kind, model, board, point) for kind, models in results.items() for model, boards in models.items()
            for board, point in boards.items()]


def best_alone(point):
    return min(point["alone"])


def table(boards):
    rows = [["chip", "CPU, ms", "GPU, ms", *kPlanners, "ours, ms"]]
    for board, point in boards.items():
        alone = best_alone(point)
        rows.append([chips.kBoards[board], *(number(ms) for ms in point["alone"]), *(times(alone / point["ms"][p]) for p in kPlanners),
                     number(point["ms"]["dynamic"])])
    return aligned(rows, markdown=True)


kPlotted = ("vgg16", "mobilenet_v1")  # a network of much work in each layer, and one of little


def plots(model, kind):
    if model in kPlotted:
        yield plot(f"chip-{model}-{kind}.svg", f"For each chip how many times as fast as its better single processor {model} is with four planners, GPU in {kind}.",
                   kPlanners, title=f"{model} on the CPU and the GPU of phones' chips, GPU in {kind}: a simulation",
                   axis="times as fast as the best single processor", names="chip", line=1, line_says="as fast as that processor")


kSame = 1e-6  # what sums of microseconds round to


def worse_than(results, of, figure="ms"):
    """Points at which ours takes longer than `of(point)`, as text."""
    return [f"{model} on {chips.kBoards[board]} in {kind} ({point[figure]['dynamic'] / of(point):.3f})"
            for kind, model, board, point in points(results) if point[figure]["dynamic"] > of(point) * (1 + kSame)]


def mean_speed(results, planner, boards=tuple(chips.kBoards)):
    """How many times as fast as a planner ours is, in the geometric mean over these boards; nothing without points."""
    ratios = [point["ms"][planner] / point["ms"]["dynamic"] for _, _, board, point in points(results) if board in boards]
    return spread.geometric_mean(ratios) if ratios else None


def summary(results):
    """What holds on every point, and where it does not."""
    every = points(results)
    said = []
    others = {"the best single processor": best_alone, **{f"`{p}`": (lambda point, p=p: point["ms"][p]) for p in kPlanners[:-1]}}
    for name, of in others.items():
        worse = worse_than(results, of)
        said.append(f"`dynamic` is never slower than {name} on {len(every) - len(worse)} of {len(every)} points" +
                    (f"; slower (times as long): {', '.join(worse)}." if worse else "."))
    for planner in ("layer-to-processor", "codl"):  # mulayer predicts by times of its own
        worse = worse_than(results, lambda point, p=planner: point["predicted"][p], "predicted")
        said.append(f"By the plans' predictions, in which all wait for the slower processor after each group, `dynamic` is never slower than "
                    f"`{planner}` on {len(every) - len(worse)} of {len(every)} points" + (f"; slower: {', '.join(worse)}." if worse else "."))
    harmed = [p for *_, p in every if p["ms"]["mulayer"] > best_alone(p) * (1 + kSame)]
    said.append(f"`mulayer` is slower than the best single processor on {len(harmed)} points.")
    alone = spread.geometric_mean([best_alone(p) / p["ms"]["dynamic"] for *_, p in every])
    said.append(f"In the geometric mean `dynamic` is {alone:.2f} times as fast as the best single processor, " +
                ", ".join(f"{mean_speed(results, p):.2f} times as fast as `{p}`" for p in kPlanners[:-1]) + ".")
    return listed(said, markdown=True)


def mulayer_rows(results):
    rows = [["chip", "type", "less than the CPU", "than the GPU", "than layer-to-processor", "muLayer, published", "VGG-16: faster one", "published"]]
    for board, saves in chips.kMulayerSaves.items():
        for kind, models in results.items():
            known = [models[m][board] for m in chips.kMulayerModels if m in models and board in models[m]]
            if not known:
                continue

            def saved(of):
                return f"{100 * (1 - 1 / spread.geometric_mean([of(p) / p['ms']['dynamic'] for p in known])):.1f} %"
            faster, ratio = chips.kMulayerRatio[board]
            cpu, gpu = models["vgg16"][board]["alone"] if kind == "f32" and board in models.get("vgg16", {}) else (0, 0)
            said = times(cpu / gpu if faster == "GPU" else gpu / cpu) if cpu else "-"
            rows.append([chips.kBoards[board], kind, saved(lambda p: p["alone"][0]), saved(lambda p: p["alone"][1]),
                         saved(lambda p: p["ms"]["layer-to-processor"]), f"{saves} %", said, f"{faster} {ratio:.2f}x"])
    return rows


def codl_rows(results):
    rows = [["network", "chip", "type", "CoDL, published ms", "`codl` ms", "ours, ms"]]
    for model, boards in chips.kCodlMs.items():
        for board, ms in boards.items():
            for kind, models in results.items():
                if board in models.get(model, {}):
                    known = models[model][board]["ms"]
                    rows.append([model, chips.kBoards[board], kind, str(ms), number(known["codl"]), number(known["dynamic"])])
    return rows


def over_mulayer_rows(results):
    rows = [["chips", "CoDL over muLayer's way, published", "`codl` over `mulayer`", "ours over `mulayer`"]]
    for name, (boards, published) in chips.kCodlOverMulayer.items():
        ours, codl = mean_speed(results, "mulayer", boards), mean_speed(results, "codl", boards)
        if ours:
            rows.append([name, times(published), times(ours / codl), times(ours)])
    return rows


def published(results):
    """Papers' figures beside ours, where these networks and boards were simulated."""
    parts = []
    for text, rows in (
            ("muLayer: by how much the time of a request is less, in the geometric mean over its networks of the zoo (" +
             ", ".join(chips.kMulayerModels) + "), and how many times as fast one of the processors is as the other.", mulayer_rows(results)),
            ("CoDL: milliseconds on phones, those that its authors publish beside its sources. Our estimates of kernels are not those of its kernels.",
             codl_rows(results)),
            ("CoDL's gain over muLayer's way of dividing, over all networks here. The published one is of measured phones, where waiting for the GPU "
             "took about a millisecond, and of other networks.", over_mulayer_rows(results))):
        if len(rows) > 1:
            parts += [text, aligned(rows, markdown=True)]
    return parts


def document(results, estimates):
    parts = [kHead, "## What holds", summary(results), f"Estimates: {estimates}."]
    if beside := published(results):
        parts += ["## Published figures beside ours", *beside]
    parts += ["## All networks", "Of each planner how many times as fast as the best single processor it is."]
    for kind, models in results.items():
        for model, boards in models.items():
            parts += [f"### {model}, GPU in {kind}", *plots(model, kind), table(boards)]
    return "\n\n".join(parts) + "\n"
