"""From runs to cells: what each way takes in each cell, what Mete foresaw, and what a planner would choose that leaves something out.

A cell is (model, photo, size, link, state). Pure: standard library only. `runs` and `plans` are the rows of site_table.py by their keys.
"""
import dataclasses
import statistics
import typing

from site_names import kHost, kParts, kStates, kSteps, kTaken, kWays

kNear = 0.1     # a choice, or a prediction, that is no further off holds
kAddUp = 0.03   # the steps and the whole
kSteady = 0.05  # a fixed work around a run takes as long as usual, or a share of a run is taken away: half of what a prediction may be off; guess
kWorthCut = 2   # a cut is measured that is foreseen to take at most so many times as long as the soonest way; guess
kWarmUps = 2    # small photos beside one of each size that go each way before anything counts; guess


@dataclasses.dataclass(frozen=True)
class Time:
    """Of a way in a cell. `is_bound`: it takes longer than this. `is_run`: measured as a whole, and not composed. `is_steady`: the host gave the cores
    their usual speed before and after each run that it is made of."""
    ms: float
    is_bound: bool = False
    is_run: bool = True
    is_steady: bool = True


class Cells:
    """`not_judged`: (photo, size) of those that Mete has seen in each state before they were measured."""

    def __init__(self, runs, plans, links, states, not_judged=()):
        self.runs, self.plans, self.links, self.states, self.not_judged = runs, plans, links, states, set(not_judged)
        self.device_link = links[-1]
        self.models = list(dict.fromkeys(key[0] for key in runs))
        self.photos = list(dict.fromkeys(key[1:3] for key in runs))
        self.usual = usual_host(runs.values())
        self.starts = {(m, s, w, size): self._start(m, s, w, size) for m in self.models for s in states for w in ("raw", "scaled")
                       for _, size in self.photos}

    def all(self):
        """Every cell of which something is known, with {way: Time}."""
        for model in self.models:
            for photo, size in self.photos:
                for link in self.links:
                    for state in self.states:
                        cell = (model, photo, size, link, state)
                        times = {way: self.time(cell, way) for way in kWays}
                        if times["device"] and any(times[way] for way in ("raw", "scaled")):
                            yield cell, {way: time for way, time in times.items() if time}

    def time(self, cell, way):
        """Nothing where it is not known."""
        model, photo, size, link, state = cell
        if way == "device":
            run = self.runs.get((model, photo, size, self.device_link, state, way))
            return run and Time(run["whole_ms"], is_run=link == self.device_link, is_steady=self.is_steady(run))
        own = self.runs.get((*cell, way))
        if own:
            return self._time_of(own)
        if way == "cut":
            return None
        exchange = self._exchange(model, photo, size, link, way)
        start = self.starts.get((model, state, way, size))
        if exchange is None or start is None:
            return None
        ms, is_steady = start
        return Time(exchange.ms + ms, exchange.is_bound, False, exchange.is_steady and is_steady)

    def is_steady(self, *runs):
        """Whether a fixed work took its usual time on both cores before and after each of the runs, and the host took next to none of the run away."""
        return all(abs(run[name] / self.usual[name] - 1) <= kSteady for run in runs for name in kHost) and \
            all(run[name] <= kSteady * run["whole_ms"] for run in runs for name in kTaken)

    def _time_of(self, run):
        return Time(run["whole_ms"], run["bound"] == ">", is_steady=self.is_steady(run))

    def _exchange(self, model, photo, size, link, way):
        """Of a resident model: its own, or another model's with the computing of this one."""
        own = self.runs.get((model, photo, size, link, "resident", way))
        if own:
            return self._time_of(own)
        for other in self.models:
            run = self.runs.get((other, photo, size, link, "resident", way))
            if not run:
                continue
            if run["bound"] == ">":
                return Time(run["whole_ms"], True, False, self.is_steady(run))
            near = [self.runs.get((m, photo, size, self.device_link, "resident", way)) for m in (model, other)]
            if all(own and not own["bound"] for own in near):
                return Time(run["whole_ms"] + near[0]["compute_ms"] - near[1]["compute_ms"], False, False, self.is_steady(run, *near))
        return self._scaled(model, photo, size, link) if way == "scaled" else None

    def _scaled(self, model, photo, size, link):
        """Of a scaled picture, which has as many bytes whatever the photo: another photo's exchange with the steps of this one."""
        here = self.runs.get((model, photo, size, self.device_link, "resident", "scaled"))
        for (_, other, of_size, over, state, way), run in self.runs.items():
            if here and not here["bound"] and (of_size, over, state, way, run["bound"]) == (size, link, "resident", "scaled", ""):
                return Time(sum(here[step] for step in ("load_ms", "preprocess_ms", "compute_ms")) + run["upload_ms"], False, False, self.is_steady(here, run))
        return None

    def _start(self, model, state, way, of_size):
        """What a state adds to an exchange: the median over the photos with which it was measured, for a scaled one over those of its size, which the
        device decodes. 0 of a resident model. With whether more than half of the pairs are of steady runs."""
        if state == "resident":
            return 0.0, True
        added = []
        for photo, size in self.photos:
            run, beside = (self.runs.get((model, photo, size, self.device_link, s, way)) for s in (state, "resident"))
            if run and beside and not run["bound"] and not beside["bound"] and (way == "raw" or size == of_size):
                added.append((run["whole_ms"] - beside["whole_ms"], self.is_steady(run, beside)))
        return (statistics.median(ms for ms, _ in added), 2 * sum(steady for _, steady in added) > len(added)) if added else None

    def plan(self, cell):
        """({way: its row}, the way that is chosen); nothing where nothing was planned."""
        rows = {way: self.plans[(*cell, way)] for way in kWays if (*cell, way) in self.plans}
        if not rows:
            return None
        choice = next(iter(rows.values()))["choice"]
        return rows, next(word for word, name in kWays.items() if name == choice)


def usual_host(runs):
    """{name: the median} of what a fixed work took around all runs, by core: the same for before and after."""
    runs = list(runs)
    return {name: statistics.median(run[other] for run in runs for other in kHost if other.split("_")[0] == name.split("_")[0]) for name in kHost} if runs else {}


def is_cut_measured(foreseen):
    """`foreseen`: ms by way. A cut that is not measured is none of the cell's ways; it is not the soonest by what is foreseen."""
    return "cut" in foreseen and foreseen["cut"] <= kWorthCut * min(foreseen.values())


def warm_ups(photos, smallest):
    """Of (photo, size): one photo in each size, and others in the smallest. They go each way in each state before anything counts."""
    last = [photo for photo in photos if photo[0] == photos[-1][0]]
    return last + [photo for photo in photos if photo[1] == smallest and photo not in last][:kWarmUps]


def total(row, without=()):
    return sum(row[name] for name in kSteps) - sum(row[name] for name in without)


# What other planners leave out, as columns of a plan.
kLeftOut = {
    "loading": ["load_ms"],
    "round trips (asking, connecting, the round trip, slow start)": [part for part in kParts if part != "bytes_ms"],
    "preprocessing": ["preprocess_ms"],
}


@dataclasses.dataclass(frozen=True)
class Cut:
    """Of a cell. `foreseen`: times the soonest other way as foreseen. `time`: as measured; nothing: it was not. `measured`: times the soonest other way as
    measured; nothing where a way that was given up may be sooner."""
    layers: int  # on the device
    foreseen: float
    time: Time | None
    measured: float | None


def cuts(cells, model, link):
    """The cells of a resident model over a link; those without a planned cut are nothing."""
    for cell, times in cells.all():
        if (cell[0], *cell[3:]) != (model, link, "resident"):
            continue
        rows, _ = cells.plan(cell) or ({}, None)
        if "cut" not in rows:
            yield None
            continue
        others = {way: time for way, time in times.items() if way != "cut"}
        own, is_known = times.get("cut"), is_decided(times) and is_decided(others)
        foreseen = total(rows["cut"]) / min(total(row) for way, row in rows.items() if way != "cut")
        yield Cut(int(rows["cut"]["layers"]), foreseen, own, own.ms / others[best(others)].ms if own and not own.is_bound and is_known else None)


def best(times):
    """The way that was soonest, of those that were measured to their end."""
    return min((way for way, time in times.items() if not time.is_bound), key=lambda way: times[way].ms)


def is_decided(times):
    """Whether no way that was given up can be as soon as the soonest one, within what counts as near."""
    soonest = times[best(times)].ms
    return all(not time.is_bound or time.ms > (1 + kNear) * soonest for time in times.values())


def loss(times, way):
    """How much longer a way takes than the soonest one, as a share of that; at least so much where the way was given up."""
    soonest = times[best(times)].ms
    return times[way].ms / soonest - 1


def is_near(predicted, measured):
    return abs(predicted - measured) <= kNear * measured


def can_judge(predicted, time):
    """A way that was given up may take whatever is longer."""
    return not time.is_bound or (predicted < time.ms and not is_near(predicted, time.ms))


class Prediction(typing.NamedTuple):
    """`is_steady`: as in Time."""
    cell: tuple
    way: str
    ms: float
    measured_ms: float
    is_chosen: bool
    is_steady: bool

    def holds(self):
        return is_near(self.ms, self.measured_ms)


@dataclasses.dataclass
class Judged:
    """`losses`: of the choice, by cell. `predictions`: of a way that was given up those are here that are too short for what it has taken by then, and are
    wrong. `whole`: cells each of whose ways is a run in the cell."""
    losses: dict
    predictions: list
    left_out: dict  # {what: {cell: the loss of that choice}}
    undecided: list  # cells where a way that was given up may have been the soonest
    unanswered: list  # cells where the way that was chosen has no answer that counts
    unknown: dict  # {what: cells where the choice without it is a cut that was not measured}
    whole: set


def judge(cells):
    judged = Judged({}, [], {what: {} for what in kLeftOut}, [], [], {what: [] for what in kLeftOut}, set())
    for cell, times in cells.all():
        planned = cells.plan(cell)
        if not planned or cell[1:3] in cells.not_judged:
            continue
        every_row, choice = planned
        rows = {way: row for way, row in every_row.items() if way in times}
        if choice not in rows:
            judged.unanswered.append(cell)
            continue
        judged.predictions += [Prediction(cell, way, total(row), times[way].ms, way == choice, times[way].is_steady)
                               for way, row in rows.items() if can_judge(total(row), times[way])]
        if all(time.is_run for time in times.values()):
            judged.whole.add(cell)
        if not is_decided(times):
            judged.undecided.append(cell)
            continue
        judged.losses[cell] = loss(times, choice)
        for what, without in kLeftOut.items():
            other = min(every_row, key=lambda way: total(every_row[way], without))
            if other in times:
                judged.left_out[what][cell] = loss(times, other)
            else:
                judged.unknown[what].append(cell)
    return judged


def apart(run):
    """By how much of the whole the steps and the whole are apart; nothing of a run that was given up."""
    return None if run["bound"] == ">" else abs(run["whole_ms"] - sum(run[step] for step in kSteps)) / run["whole_ms"]


def repeats(cells, steady_only=False):
    """[(ms, the median of the others that are the same work)] of the preprocessing on the device: all ways but the raw photo's, over all links, decode and scale a photo
    for a resident model in the same way. Photos with fewer than three such runs say nothing."""
    same = {}
    for (model, photo, size, _, state, way), run in cells.runs.items():
        if state == "resident" and way != "raw" and not run["bound"] and (cells.is_steady(run) or not steady_only):
            same.setdefault((model, photo, size), []).append(run["preprocess_ms"])
    return [(ms, statistics.median(times[:i] + times[i + 1:])) for times in same.values() if len(times) >= 3 for i, ms in enumerate(times)]


def share(values, holds):
    values = list(values)
    return sum(map(holds, values)) / len(values) if values else float("nan")
