"""Bursts of runs of several workers in turn. Knows workers and numbers, not engines."""
import random
import statistics
import time

import machine
import spread

kBurstMs = 60    # guess: some runs of a small model, and short against the machine's moods
kWarmMs = 300    # guess: past page faults and the rise of the clock
kSettleS = 0.03  # idle threads of the last engine may still spin: libgomp and ONNX Runtime for some ms after a run


def back_and_forth(turn, names):
    """Every other round goes backwards, so that no worker always follows the same one."""
    return names[::-1 if turn % 2 else 1]


def shuffled(seed):
    """Every round in an order of its own: with many workers no worker keeps its neighbours."""
    source = random.Random(seed)
    return lambda _turn, names: source.sample(names, len(names))


def warm_up(workers, burst_ms=kBurstMs, settle_s=kSettleS, least_runs=2, warm_ms=kWarmMs):
    """{name: how many runs fill a burst}"""
    runs = {}
    for name, worker in workers.items():
        each = statistics.median(worker.ask(do="time", warm=1, runs=2)["ns"]) / 1e6
        each = statistics.median(worker.ask(do="time", runs=spread.burst_runs(each, warm_ms))["ns"]) / 1e6
        runs[name] = spread.burst_runs(each, burst_ms, least_runs)
        time.sleep(settle_s)
    return runs


def bursts(workers, runs, rounds, order=back_and_forth, settle_s=kSettleS, progress=lambda turn: None):
    """{name: [[ms of each run] of each round]}"""
    times = {name: [] for name in workers}
    for turn in range(rounds):
        for name in order(turn, list(workers)):
            ns = workers[name].ask(do="time", warm=1, runs=runs[name])["ns"]  # the first run finds the others' data in the caches
            times[name].append([t / 1e6 for t in ns])
            time.sleep(settle_s)
        progress(turn)
    return times


def in_turn(workers, rounds, burst_ms=kBurstMs, settle_s=kSettleS, order=back_and_forth, least_runs=2, progress=lambda turn: None,
            warm_ms=kWarmMs):
    return bursts(workers, warm_up(workers, burst_ms, settle_s, least_runs, warm_ms), rounds, order, settle_s, progress)


def others_share(workers, cores, work, busy_s=machine.busy_s):
    """(what work() gives, the share of the cores' time that went to neither the workers nor idleness meanwhile)."""
    def now():
        return time.monotonic(), busy_s(cores), sum(worker.cpu_s() for worker in workers)
    before = now()
    result = work()
    wall, busy, own = (b - a for a, b in zip(before, now()))
    return result, round(max(0.0, busy - own) / (wall * len(cores)), 3)
