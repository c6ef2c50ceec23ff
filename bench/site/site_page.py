"""docs/results/site.md, its pictures and steps, of what lies in the folder of a run."""
import csv
import io
import os
import statistics
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import cells as site_cells
import dads
import output
import site_pictures
import site_runs
import site_setting
import site_states
import site_watch
from output import say
from site_links import kLinks
from site_names import kStates, kSteps, kWays, kWholeWays
from tables import aligned, listed, number

kCommand = "make reproduce-site"
kPage, kStepsFile, kStepsPicture, kTimePicture = "site.md", "site-steps.csv", "site-steps.svg", "site-over-time.svg"


def percent(part):
    return "-" if part != part else f"{100 * part:.1f} %"


def head(told):
    links = ", ".join(f"{name} {kLinks[name].up:g} Mb/s up and a round trip of {kLinks[name].round_trip:g} ms ({kLinks[name].source})"
                      for name in told["links"])
    return f"""# On the device or on a server: Guo's experiment

Written by `{kCommand}` (`bench/site/reproduce.py`); do not edit. Measured on an {told["machine"]} (two virtual cores of a shared host), commit
{told["commit"]}; the starts of the command that came to their end took {told["seconds"] / 60:.0f} minutes.

**The device is an emulation**: core {told["cores"][0]} at {told["speed"]:g} of its speed, slowed from outside (`tools/slowcore`), with its caches and memory as they are. The
server is `mete serve` on core {told["cores"][1]}, in a network namespace of its own behind a delay line (`docs/lab.md`). SqueezeNet 1.1 has its real weights, AlexNet and
NIN are of the zoo, with random ones. {told["photos"]} photos fit into 3840x2160, or into half or a quarter of that. Links: {links}.
**Mete is told the link's rates and round trip before the first photo** (the site's file has the lab's figures, with a connection of one round trip, as
there is no TLS), and goes on from them by what it measures: these results do not show how it learns a link of which it knows nothing.
Each request connects anew, and the server is asked first whether it is there where it may be sooner.

A cell is a network, a photo, a size, a link, and a state of the model on the device: `resident`, `evicted` (the process lives, its pages are on the
disk), `killed` (no process, files in memory), `cold` (no page of model, program and what is kept in memory, as mincore says before each start; the C
library and its like stay, as others map them) and `first-ever` (cold, and nothing is packed or timed). Times are from outside: from the command, or
from the start of the process where there is none, until the answer is there.

What cannot depend on something is measured once: the device's way does not depend on the link; the exchange does not depend on the state, so that
starts are measured over {told["links"][-1]}, with the photos of the smallest size and, for a scaled picture, {site_runs.kScaledStarts} of each other size, and their median is
added to the exchanges of the others (of the same size, where the picture is scaled); over slow links the exchange of a raw
photo is that of the first network, with the computing of the other; and scaled pictures have as many bytes whatever the photo, so that over links on which
one takes longer than the limit it is sent once for each size. A cut, in which the device computes some layers and the worker of the server those behind them,
is a way where the model is resident; in the other states the site's file names no worker, so that no cut is weighed there. Plans are made before each run, by the process that answers. Where the model is resident, and over
{told["links"][-1]} in each state, the choice is that of this process. **Over the other links, where the model is not resident, the choice is composed**: the least of the sums of the terms
before the server of the process in that state, and of those for the exchange of the resident process over the link.

**Steady runs.** A shared host gives its virtual cores more or less of a physical one from moment to moment, whatever Mete does. So a fixed work (a sum over
16 KiB, in processor time, so that the load that slows the device does not count) is timed on both cores at once before and after each run, and the time for which the
host takes them away is read. A run is steady where all four times are within {100 * site_cells.kSteady:.0f} % of their core's median over the experiment, and at most {100 * site_cells.kSteady:.0f} % of the
run were taken away from either core. A composed time is steady where its runs are, and more than half of those of a start. Predictions are told of all runs, and of
steady ones: the latter say how good the planner is on a machine that keeps its speed.

A way that Mete foresees to take longer than {told["limit_s"]:g} s is given up then, but with one photo of each size, and any way {site_states.kPatience} times later than foreseen, or more: it
takes longer than that. Its prediction is wrong where it is shorter by more than 10 %, and is not judged elsewhere. A cell in which a way that was given up may
still be within 10 % of the soonest one is undecided, and no choice is judged there. {len(told["warm_ups"])} photos (a photo in one size is one) were answered from
each state before any was measured, so that times of the program and of its kernels were known; they are not judged."""


def share_table(judged, by, names):
    """Choices and predictions by a dimension: `by`, its place in a cell."""
    rows = [["", "cells", "choice within 10 % of the best", "predictions within 10 %", "of the chosen way", "steady predictions", "of these within 10 %"]]
    for name in [*names, None]:
        losses = [loss for cell, loss in judged.losses.items() if name in (None, cell[by])]
        of_name = [p for p in judged.predictions if name in (None, p.cell[by])]
        steady = [p for p in of_name if p.is_steady]
        if losses:
            rows.append([name or "all", str(len(losses)), percent(site_cells.share(losses, lambda loss: loss <= site_cells.kNear)),
                         held(of_name), held(p for p in of_name if p.is_chosen), str(len(steady)), held(steady)])
    return aligned(rows, True)


def held(predictions):
    return percent(site_cells.share(predictions, site_cells.Prediction.holds))


def way_table(judged):
    rows = [["way", "predictions", "within 10 %", "predicted / measured, median", "5th percentile", "95th"]]
    for way in kWays:
        for title, steady_only in ((way, False), (f"{way}, steady", True)):
            of_way = [p for p in judged.predictions if p.way == way and (p.is_steady or not steady_only)]
            ratios = sorted(p.ms / p.measured_ms for p in of_way)
            if ratios:
                rows.append([title, str(len(ratios)), held(of_way),
                             *(f"{ratios[min(len(ratios) - 1, int(q * len(ratios)))]:.2f}" for q in (0.5, 0.05, 0.95))])
    return aligned(rows, True)


def step_table(cells):
    """How far each step is from what was planned, of runs that were measured as a whole."""
    rows = [["way", *(step.removesuffix("_ms") for step in kSteps)]]
    for way in kWays:
        texts = []
        for step in kSteps:
            pairs = [(cells.plans[key][step], run[step]) for key, run in cells.runs.items()
                     if key[-1] == way and key in cells.plans and run["bound"] != ">" and run[step] and run[step] > 1]
            texts.append(f"{statistics.median(p / m for p, m in pairs):.2f} ({percent(site_cells.share(pairs, lambda x: site_cells.is_near(*x)))})"
                         if pairs else "-")
        rows.append([way, *texts])
    return aligned(rows, True)


def choice_table(cells, judged):
    """The soonest way as measured, by link and state: in how many cells it is which. All photos, judged or not."""
    rows = [["link", *cells.states]]
    for link in cells.links:
        row = [link]
        for state in cells.states:
            won = [site_cells.best(times) if site_cells.is_decided(times) else "undecided" for cell, times in cells.all() if cell[3:] == (link, state)]
            row.append(", ".join(f"{way} {won.count(way)}" for way in [*kWays, "undecided"] if way in won) or "-")
        rows.append(row)
    return aligned(rows, True)


def left_out_table(judged):
    rows = [["left out", "chosen otherwise than the best, by more than 10 %", "longer than the best, mean of those", "most", "chose a cut that was not measured"]]
    for what, losses in [("nothing (Mete)", judged.losses), *judged.left_out.items()]:
        wrong = [loss for loss in losses.values() if loss > site_cells.kNear]
        rows.append([what, f"{len(wrong)} of {len(losses)} ({percent(len(wrong) / len(losses) if losses else float('nan'))})",
                     percent(statistics.mean(wrong)) if wrong else "-", percent(max(wrong)) if wrong else "-", str(len(judged.unknown.get(what, [])))])
    return aligned(rows, True)


def spread(values):
    return f"{number(statistics.median(values))} ({number(min(values))} to {number(max(values))})" if values else "-"


def device_table(cells):
    """The device's way by model, size and state: median and spread over the photos."""
    rows = [["ms, median over the photos (least to most)", *cells.states]]
    for model in cells.models:
        for size in dict.fromkeys(size for _, size in cells.photos):
            rows.append([f"{model}, {size}"] + [spread([run["whole_ms"] for key, run in cells.runs.items()
                                                        if key[0] == model and key[2] == size and key[4:] == (state, "device")]) for state in cells.states])
    return aligned(rows, True)


def exchange_table(cells):
    """Ways with a resident model over the links, of the first network."""
    rows = [["ms, median over the photos (least to most)", *cells.links]]
    for way in ("raw", "scaled", "cut"):
        for size in dict.fromkeys(size for _, size in cells.photos):
            row = [f"{way}, {size}"]
            for link in cells.links:
                runs = [run for key, run in cells.runs.items() if key[0] == cells.models[0] and key[2:] == (size, link, "resident", way)]
                longer = sum(run["bound"] == ">" for run in runs)
                row.append(spread([run["whole_ms"] for run in runs if run["bound"] != ">"]) + (f"; {longer} longer" if longer else ""))
            rows.append(row)
    return aligned(rows, True)


def cut_table(cells):
    """Cuts of resident models, by network and link: where they are, in how many cells they were measured, and how they stand beside other ways."""
    rows = [["", "layers on the device", "planned in cells", "foreseen, of the soonest other way foreseen", "measured in",
             "of the soonest other way measured", "soonest in"]]
    for model in cells.models:
        for link in cells.links:
            all_cells = list(site_cells.cuts(cells, model, link))
            found = [cut for cut in all_cells if cut]
            if found:
                ratios = [cut.measured for cut in found if cut.measured]
                longer = sum(cut.time is not None and cut.time.is_bound for cut in found)
                rows.append([f"{model}, {link}", ranged([cut.layers for cut in found]), f"{len(found)} of {len(all_cells)}", spread([cut.foreseen for cut in found]),
                             str(sum(cut.time is not None for cut in found)), spread(ratios) + (f"; {longer} given up" if longer else ""),
                             str(sum(ratio < 1 for ratio in ratios))])
    return aligned(rows, True)


def ranged(values):
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least} to {most}"


def bars(cells):
    """For a picture: the steps of the first photo at its largest size, of each way and state, over the links."""
    model, (photo, size) = cells.models[0], cells.photos[0]
    for state in cells.states:
        run = cells.runs.get((model, photo, size, cells.device_link, state, "device"))
        if run:
            yield f"device, {state}", {step: run[step] for step in kSteps}
    for link in cells.links:
        for way in ("raw", "scaled", "cut"):
            run = cells.runs.get((model, photo, size, link, "resident", way))
            if run and run["bound"] != ">" and run["whole_ms"] < 3000:
                yield f"{way}, {link}", {step: run[step] for step in kSteps}


def over_time(folder):
    rows = list(site_watch.table(folder).rows.values())
    plots = []
    for state in dict.fromkeys(row["state"] for row in rows):
        for figure, label, unit in (("cpu_ms", "processor time", "ms"), ("rss_kib", "memory", "KiB"), ("energy_j", "joules (simulated)", "J")):
            plots.append((f"{state}: {label}", unit, {way: [(row["at_ms"], row[figure]) for row in rows if (row["state"], row["way"]) == (state, way)]
                                                      for way in kWholeWays}))
    return plots


def sums(cells):
    """How far steps and wholes are apart."""
    apart = [a for a in (site_cells.apart(run) for run in cells.runs.values()) if a is not None]
    worst = max(apart, default=0)
    near = percent(site_cells.share(apart, lambda a: a <= site_cells.kAddUp))
    return f"{near} of {len(apart)} runs have steps that add up to the whole within {100 * site_cells.kAddUp:.0f} %; the furthest is {percent(worst)} off."


def worst(judged, count=5):
    """The choices that cost most, in words."""
    most = sorted(judged.losses.items(), key=lambda item: -item[1])[:count]
    return [f"{', '.join(cell)}: {percent(loss)} longer than the best way" for cell, loss in most if loss > site_cells.kNear]


def dads_text(flags):
    with tempfile.TemporaryDirectory() as folder:
        return dads.text({"resnet18": dads.resnet(flags, folder), "tiny_yolov2": dads.yolo(flags, folder)}, True)


def near_choices(losses):
    losses = list(losses)
    return f"{percent(site_cells.share(losses, lambda loss: loss <= site_cells.kNear))} of {len(losses)}"


def near_predictions(predictions):
    predictions = list(predictions)
    return f"{held(predictions)} of {len(predictions)}"


def near_repeats(cells, steady_only=False):
    repeated = site_cells.repeats(cells, steady_only)
    return f"{percent(site_cells.share(repeated, lambda r: site_cells.is_near(*r)))} of {len(repeated)}"


def steady_runs(cells):
    return f"{percent(site_cells.share(cells.runs.values(), cells.is_steady))} of {len(cells.runs)}"


def failures(cells, failed):
    """In words; a later start may have measured what failed before."""
    left = [f"{', '.join(key)}: {row['why']}" for key, row in failed.items() if key not in cells.runs]
    return [f"{len(left)} ways that were to be measured have no answer that counts, and are composed or not known.", *left[:5]]


def page(told, cells, judged, dads_points, failed):
    everything = list(cells.all())
    ways = [time for _, times in everything for time in times.values()]
    bounds = sum(time.is_bound for time in ways)
    runs = sum(time.is_run and not time.is_bound for time in ways)
    board = site_watch.kBoard
    idle, active = site_watch.power()
    parts = [head(told), "## What holds",
             listed([f"{len(everything)} cells, {len(ways)} ways in them: {runs} measured as they are in the cell, {bounds} given up or composed of such runs, the others "
                     f"composed; {len(cells.runs)} runs in all.",
                     sums(cells),
                     f"Mete's choice is within 10 % of the best way as measured in {near_choices(judged.losses.values())} cells (bar: 95 %); of those each of whose ways "
                     f"is a run of its own, in {near_choices(loss for cell, loss in judged.losses.items() if cell in judged.whole)}.",
                     f"{len(judged.undecided)} more cells are undecided, and in {len(judged.unanswered)} the chosen way has no answer that counts.",
                     f"Its predictions, made before each photo, are within 10 % in {near_predictions(judged.predictions)} ways of cells (bar: 90 %); in cells each of whose "
                     f"ways is a run of its own, in {near_predictions(p for p in judged.predictions if p.cell in judged.whole)}.",
                     f"**Of ways whose runs are all steady, in {near_predictions(p for p in judged.predictions if p.is_steady)}** (in cells each of whose ways is a run of "
                     f"its own, in {near_predictions(p for p in judged.predictions if p.is_steady and p.cell in judged.whole)}): {steady_runs(cells)} runs are steady.",
                     f"The same photo is decoded and scaled for several ways and links, and that takes within 10 % of the median of the other times in {near_repeats(cells)} runs, and in "
                     f"{near_repeats(cells, True)} steady ones: no prediction of it can be within 10 % more often than the machine repeats itself.",
                     "A run may stand in several cells: one of the device's way does in those of all links.",
                     *failures(cells, failed), *worst(judged)], True),
             "## What would be chosen without a term", "Each row chooses by the same predictions without some of their terms; what it chose is looked up in the measurements.",
             left_out_table(judged),
             "## Choices and predictions", share_table(judged, 4, cells.states), share_table(judged, 3, cells.links),
             share_table(judged, 0, cells.models), way_table(judged),
             "Predicted over measured of each step of more than 1 ms, the median, and how many are within 10 %:", step_table(cells),
             "## The soonest way", "In how many cells which way was the soonest as measured.", choice_table(cells, judged),
             "## Cuts", f"The best cut of a resident model as Mete plans it; it is measured where it is foreseen to take at most {site_cells.kWorthCut} times as long as "
             "the soonest way. Ratios are medians over all photos, judged or not, with the least and the most.", cut_table(cells),
             "## Times", "The device's way:", device_table(cells), f"Over the links, {cells.models[0]}, resident:", exchange_table(cells),
             f"The steps of all runs are in `{kStepsFile}`.", f"![Steps of one photo]({kStepsPicture})",
             "## Processor, memory and joules over time",
             f"One photo, sampled each 10 ms from `/proc`. **Joules are simulated**: {idle:g} W and {active:g} W more while the core is busy "
             f"(estimates of `boards/{board}`), without a radio.", f"![Over time]({kTimePicture})",
             "## DADS's cuts, simulated", dads_points]
    return "\n\n".join(parts) + "\n"


def steps_csv(cells):
    text = io.StringIO()
    names = [*site_runs.kKeys, "whole_ms", *kSteps, "bound", "pages", "photo_bytes"]
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: f"{value:.2f}" if isinstance(value, float) else value for name, value in run.items()} for run in cells.runs.values())
    return text.getvalue()


def read(flags):
    told = site_setting.read(flags.folder)
    return told, site_cells.Cells(site_runs.run_table(flags.folder).rows, site_runs.plan_table(flags.folder).rows, told["links"],
                                  [s for s in kStates if s in told["states"]], map(tuple, told["warm_ups"]))


def write(flags):
    told, cells = read(flags)
    judged = site_cells.judge(cells)
    os.makedirs(flags.out, exist_ok=True)
    files = {kPage: page(told, cells, judged, dads_text(flags), site_runs.failed_table(flags.folder).rows), kStepsFile: steps_csv(cells),
             kStepsPicture: site_pictures.steps("Steps of one photo", list(bars(cells))),
             kTimePicture: site_pictures.over_time("Processor time, memory and joules of the device's process", over_time(flags.folder))}
    for name, text in files.items():
        output.write_whole(os.path.join(flags.out, name), text)
    say("wrote " + " and ".join(os.path.join(flags.out, name) for name in files))
