#!/usr/bin/env python3
"""Faults of workers while requests go on, in a lab (tools/lab): whether a request is lost or wrong, and what it costs.

For each fault `mete bench` runs requests over this device and a worker; the fault is made, and undone, meanwhile. The last row is the
long one: 10,000 requests, and a worker is killed and started again every few seconds. This device's layers are said to be slower than
they are, so that plans divide; times are of a shared machine and say what a fault costs, not what Mete can do.
"""
import argparse
import contextlib
import os
import random
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_root, "tools", "lab")]
import common_flags
import fault_list
import lab as labs
import networks
import tables
from fault_scene import Broken, Scene, kPlanner
from output import kFailure, kSuccess, report, say

kMbit = 1000          # of the links, so that the plan has something to divide
kSettleS = 2.5        # guess: until requests run over the worker, on a busy machine
kBehindS = 3.0        # of good requests behind the end of a fault, at least
kKillEveryS = (1.5, 4.5)  # the long run: "every few seconds"
kAwayS = 0.5          # guess: as a service manager starts it again
kMostMib = 400        # of a worker: 192 for messages that are not yet whole (worker.cc), and more than twice what it has without. Guess
kKept = ("requests", "wrong", "computed_alone", "computed_alone_at_end", "retries", "processors_lost", "plans", "median_ms", "p99_ms",
         "max_ms", "largest_difference")  # of what mete bench says


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Needs root, for network namespaces. Progress goes to stderr. Exit: 0 success, 1 a failure at run "
                                       "time, or a request that is lost or wrong, or a worker that is not taken in again, 2 usage.")
    common_flags.add_mete(p)
    p.add_argument("--model", default="squeezenet1.1", metavar="M", help="an .onnx file or a network of the zoo (default: squeezenet1.1)")
    common_flags.add_work(p)
    p.add_argument("--only", nargs="+", metavar="WORD", help="faults whose names have one of these words")
    p.add_argument("--requests", type=int, default=10000, metavar="N", help="of the long run; 0: without it (10000)")
    p.add_argument("--workers", type=int, default=1, metavar="N", help="of the long run, killed in turns (1)")
    common_flags.add_report(p)
    flags = common_flags.parsed(p)
    return flags


def chosen(words):
    return [fault for fault in fault_list.kFaults if not words or any(word in fault.name for word in words)]


def run_fault(scene, fault, profiled, settle_s=kSettleS, behind_s=kBehindS):
    """A row. `profiled`: whether the devices have been profiled already."""
    scene.security, scene.behind_proxy, scene.planner = fault.security, fault.behind_proxy, fault.planner
    fault.before(scene)
    if not profiled:
        scene.profile()
    scene.start_caller("--seconds", f"{settle_s + fault.hold_s + fault.back_s + behind_s:g}")
    scene.wait(settle_s)
    fault.make(scene)
    scene.wait(fault.hold_s)
    fault.undo(scene)
    return row(fault.name, scene.answer(), fault.loses)


def run_long(scene, requests, workers, seed=3):
    dice, kills = random.Random(seed), 0
    scene.security, scene.behind_proxy, scene.planner = "insecure", False, kPlanner
    for index in range(1, workers + 1):
        scene.start_worker(index)
    scene.profile()
    scene.start_caller("--runs", requests)
    while scene.wait(dice.uniform(*kKillEveryS)):
        index = 1 + kills % workers
        scene.kill_worker(index)
        scene.wait(kAwayS)
        scene.start_worker(index)
        kills += 1
        if kills % 10 == 0:
            say(f"killed {kills} times, {scene.caller_memory[-1][0] >> 10} MiB, {scene.caller_memory[-1][1]} threads")
    return {**row(f"killed {kills} times", scene.answer(), True, ends_well=False), "kills": kills}


def row(name, answer, loses, ends_well=True):
    """What is in the table, and what is wrong with it. `ends_well`: there was time enough behind the last fault."""
    again = sum(" is there again" in note or " serves now" in note for note in answer["notes"])
    found = {"fault": name, "lost": answer["lost"], "notes": answer["notes"], "caller_memory": ends(answer["caller_memory"]),
             "worker_memory": most(answer["worker_memory"]), "again": again}
    if answer["lost"]:
        return {**found, "problems": [answer["failed"]]}
    found.update({key: answer[key] for key in kKept})
    return {**found, "problems": problems(found, loses, ends_well)}


# The problems that a busy machine causes as well, where things take longer than the fault and the time behind it last.
kOfTime = {"no request ran over the worker", "nobody noticed", "the worker was not in use at the end",
           "the worker was not always taken in again"}


def problems(found, loses, ends_well):
    checks = {"answers are wrong": found["wrong"] > 0,
              "no request ran over the worker": found["computed_alone"] >= found["requests"],
              "nobody noticed": loses and found["processors_lost"] == 0,
              "the worker takes too much memory": found["worker_memory"]["most_mib"] > kMostMib,
              "the worker was not in use at the end": ends_well and found["computed_alone_at_end"] > 0,
              "the worker was not always taken in again": found["again"] < found["processors_lost"] - (0 if ends_well else 1)}
    return [text for text, holds in checks.items() if holds]


def ends(samples):
    """(MiB, threads) at the beginning, when all is loaded, and in the end."""
    there = [sample for sample in samples if sample[0]]
    first, last = there[min(len(there) - 1, 20)], there[-2 if len(there) > 1 else -1]
    return {"first_mib": first[0] / 1024, "last_mib": last[0] / 1024, "first_threads": first[1], "last_threads": last[1],
            "most_mib": max(s[0] for s in there) / 1024}


def most(samples):
    return {"most_mib": max(s[0] for s in samples) / 1024, "most_threads": max(s[1] for s in samples)}


def table(rows, markdown):
    head = ["fault", "requests", "on worker", "lost", "wrong", "again alone", "p50 ms", "p99 ms", "max ms", "losses", "taken in again",
            "caller MiB", "worker MiB", "threads"]
    lines = [head]
    for r in rows:
        if r["lost"]:
            lines.append([r["fault"], "?", "?", "1", *["?"] * (len(head) - 4)])
            continue
        c, w = r["caller_memory"], r["worker_memory"]
        lines.append([r["fault"], str(r["requests"]), str(r["requests"] - r["computed_alone"]), "0", str(r["wrong"]), str(r["retries"]),
                      *(tables.number(r[key]) for key in ("median_ms", "p99_ms", "max_ms")), str(r["processors_lost"]),
                      str(r["again"]), f"{c['first_mib']:.0f} to {c['last_mib']:.0f}", f"{w['most_mib']:.0f}",
                      f"{c['first_threads']} to {c['last_threads']}, {w['most_threads']}"])
    return tables.aligned(lines, markdown)


def run_all(flags):
    _, model = networks.model_file(flags.mete, flags.model, flags.work)
    rows, faults = [], chosen(flags.only)
    for workers in sorted({fault.workers for fault in faults}):
        rows += run_with(flags, model, workers, [fault for fault in faults if fault.workers == workers])
    if flags.requests:
        with scene_of(flags, model, flags.workers) as scene:
            rows.append(in_scene(scene, lambda: run_long(scene, flags.requests, flags.workers), f"{flags.requests} requests"))
    return rows


@contextlib.contextmanager
def scene_of(flags, model, workers):
    with tempfile.TemporaryDirectory() as folder, labs.Lab(hosts=1 + workers, mbit=kMbit, cores=[0] + [1] * workers) as lab:
        yield Scene(lab, os.path.abspath(flags.mete), model, folder)


def run_with(flags, model, workers, faults):
    """The rows of the faults that have this number of workers, all in one lab."""
    rows = []
    with scene_of(flags, model, workers) as scene:
        scene.make_secrets()
        for i, fault in enumerate(faults, 1):
            rows.append(in_scene(scene, lambda: run_fault(scene, fault(), i > 1), f"{i} of {len(faults)}"))
    return rows


def in_scene(scene, run, label):
    with contextlib.ExitStack() as stack:
        stack.callback(scene.end)
        found = run()
    say(f"{label}, {found['fault']}: {'; '.join(found['problems']) or 'good'}")
    return found


def main():
    flags = arguments()
    try:
        rows = run_all(flags)
    except (Broken, labs.LabError, networks.BadModel, OSError) as problem:
        say(f"faults.py: error: {problem}")
        return kFailure
    report(flags, rows, table)
    return kFailure if any(r["problems"] for r in rows) else kSuccess


if __name__ == "__main__":
    sys.exit(main())
