"""One peer in a process of its own: worker.py ENGINE CONFIG, driven by lines of JSON (apps/mete/on_command.h has the protocol).

CONFIG is JSON: {"model": file, "threads": n, "precision": "f32" or "bf16", "inputs": {name: .npy}, "shapes": {name: [...]}, and what convert.py found for ncnn}.
A chain of runs also has {"feed": {input: output of the run before}, "steps": n} (beside.py), where the engine can: its run() is a whole chain.
An engine is a module engine_NAME.py with a class Engine:
    version         a string
    load(config)    opens and prepares the model; gives {setting: value}, as the engine itself reports them where it can
    run()           one inference, inputs and outputs bound beforehand where the engine can do that
    save(folder)    writes the last run's outputs as 0.npy, 1.npy ... in the model's order; gives the paths
Its module may import what it wants: that time counts as the process's start, not as loading.
"""
import gc
import importlib
import json
import os
import sys
import time


def resident_kib():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def timed(engine, warm, runs, now_ns=time.perf_counter_ns):
    """The nanoseconds of each run behind `warm` others."""
    for _ in range(warm):
        engine.run()
    times = []
    for _ in range(runs):
        start = now_ns()
        engine.run()
        times.append(now_ns() - start)
    return times


def obey(engine, command):
    if command["do"] == "time":
        return {"ns": timed(engine, command.get("warm", 0), command["runs"])}
    if command["do"] == "save":
        engine.run()
        return {"files": engine.save(command["folder"])}
    raise ValueError(f"[worker] unknown command; got {command['do']!r}, expected time or save")


def start(name, config):
    """(engine, greeting) after the first answer."""
    engine = importlib.import_module(f"engine_{name}").Engine(config)
    greeting = {"engine": name, "version": engine.version, "ready_ns": time.monotonic_ns(), "ready_kib": resident_kib()}
    greeting["settings"] = engine.load(config)
    greeting["loaded_ns"] = time.monotonic_ns()
    engine.run()
    greeting["answered_ns"] = time.monotonic_ns()
    return engine, greeting


def main():
    # Libraries may print: their words go to stderr, answers alone to stdout.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    gc.disable()
    engine, greeting = start(sys.argv[1], json.loads(sys.argv[2]))
    answers.write(json.dumps(greeting) + "\n")
    for line in sys.stdin:
        answers.write(json.dumps(obey(engine, json.loads(line))) + "\n")
    os._exit(0)  # no destructors: what an engine does at its end is not measured, and some complain


if __name__ == "__main__":
    main()
