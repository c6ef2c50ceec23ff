"""One model on several engines: starts, agreement, and bursts in turn (turns.py). Knows workers and numbers, not engines."""
import math
import os
import statistics

import spread
import turns
from protocol import Worker, WorkerFailed, running


def start_costs(commands, cores, starts, before_start=lambda: None):
    """({engine: medians over `starts` fresh processes}, {engine: reason}). Engines in turn. `before_start` runs before each start, to bring files
    into the system's cache. A start before these is told apart: "very_first_ms", with the process's start "very_first_whole_ms", and
    "very_first_peak_kib", the most memory until an engine that measures kernels behind its first answer, as Mete does, has measured them. Later
    starts know them."""
    samples, failed = {name: [] for name in commands}, {}
    for turn in range(starts + 1):
        for name in commands:
            if name in failed:
                continue
            try:
                before_start()
                worker = Worker(commands[name], cores)
                times = worker.start_times()
                if turn == 0:
                    worker.ask(do="time", runs=1)
                samples[name].append({**times, "peak_kib": worker.peak_kib()})
                worker.close()
            except WorkerFailed as problem:
                failed[name] = str(problem)
    return {name: _medians(list_) for name, list_ in samples.items() if name not in failed}, failed


def _medians(starts):
    for s in starts:
        s["first_answer_ms"] = s["load_ms"] + s["first_run_ms"]
        s["whole_ms"] = s["start_ms"] + s["first_answer_ms"]
    medians = {key: statistics.median(s[key] for s in starts[1:]) for key in starts[0]}
    return {**medians, "very_first_ms": starts[0]["first_answer_ms"], "very_first_whole_ms": starts[0]["whole_ms"],
            "very_first_peak_kib": starts[0]["peak_kib"]}


def differences(workers, reference, folder, difference):
    """{engine: how far its outputs lie from the reference engine's}; `difference` compares two lists of files."""
    files = {}
    for name, worker in workers.items():
        os.makedirs(os.path.join(folder, name))
        files[name] = worker.ask(do="save", folder=os.path.join(folder, name))["files"]
    return {name: difference(files[name], files[reference]) for name in workers}


def _results(worker, times, ours):
    s = spread.spread([t for burst in times for t in burst])
    return {"median_ms": s["median"], "mad_ms": s["mad"], "least_ms": s["least"], "runs": s["count"],
            "round_medians_ms": [round(statistics.median(burst), 4) for burst in times],
            "mete_over_it": spread.paired_ratio(ours, times),
            "peak_kib": worker.peak_kib(), "ready_kib": worker.greeting["ready_kib"],
            "version": worker.greeting["version"], "settings": worker.greeting["settings"]}


def measure(commands, cores, folder, difference, *, rounds, starts, tolerance, settle_s=turns.kSettleS,
            before_start=lambda: None):
    """{"engines": {name: numbers}, "failed": {name: reason}, "reference": name, "others_share": of the cores' time}. `commands` has "mete"
    first, then the peers in order; the first of them that works is the reference. Throws WorkerFailed where Mete itself fails."""
    costs, failed = start_costs(commands, cores, starts, before_start)
    if "mete" in failed:
        raise WorkerFailed(f"mete: {failed['mete']}")
    with running({name: (commands[name], cores) for name in costs}) as workers:
        reference = next((name for name in workers if name != "mete"), "mete")
        apart = differences(workers, reference, folder, difference)
        times, others = turns.others_share(workers.values(), cores, lambda: turns.in_turn(workers, rounds, settle_s=settle_s))
        engines = {}
        for name, worker in workers.items():
            engines[name] = {**costs[name], **_results(worker, times[name], times["mete"]), "difference": finite(apart[name]),
                             "agrees": apart[name] <= tolerance}
            if not worker.allowed_cores() <= cores:
                failed[name] = f"its threads may leave the cores {sorted(cores)}: {sorted(worker.allowed_cores())}"
    return {"engines": engines, "failed": failed, "reference": reference, "others_share": others}


def finite(value):
    return value if math.isfinite(value) else None
