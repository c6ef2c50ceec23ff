"""First starts and memory of a session on a CPU and a GPU beside those of a session on the CPU alone.

Each start is a process of its own, on the CPU alone and on both in turn. The very first start has empty folders: no GPU was asked for, no
kernel was compiled or measured. With --settle, each session of the first round goes on until its kernels are measured and its plan is
chosen, which takes minutes where kernels are compiled on a CPU, and then starts once more with what was kept. As in measured.py, PoCL's
device stands for a GPU.

    python3 bench/chip/starts.py --mete build/release/mete --models resnet50 --rounds 5
    python3 bench/chip/starts.py --mete build/release/mete --models resnet50 --rounds 1 --settle

A first answer counts with the process's start. Peak memory is the process's, with the driver, its compiler and the model's file as far as
it is mapped. The driver's part is what a session on both has more than one on the CPU alone where the network is tiny (models/digits.onnx).
"""
import os
import statistics
import sys
import tempfile
import time

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import common_flags
import machine
import measured
import networks
import protocol
from output import kBadFile, kFailure, kSuccess, report, say
from spread import geometric_mean
from tables import aligned, listed, number

kModels = ["resnet50", "vgg16", "mobilenet_v1"]


def arguments():
    p = common_flags.networks_parser(__doc__, kModels)
    p.add_argument("--cores", nargs=2, type=int, default=[0, 1], metavar="CORE", help="of the CPU and of the GPU (default: 0 1)")
    p.add_argument("--rounds", type=int, default=3, metavar="N", help="very first starts of each (default: 3)")
    p.add_argument("--settle", action="store_true", help="the first round's sessions settle, and start again")
    common_flags.add_report(p)
    return common_flags.parsed(p)


def kinds(cores):
    return {"alone": f"cpu:{cores[0]}", "both": f"cpu:{cores[0]},gpu:0/{cores[1]}"}


def words_of(kind, cores):
    """The CPU alone is a session of its own, not a pool of one processor."""
    return ["--cores", str(cores[0])] if kind == "alone" else ["--processors", kinds(cores)[kind]]


def start(flags, path, kind, cache, settle):
    """What a start takes: ms until the first answer and MiB until then; with `settle` also s and MiB until it has settled, and ms of a run."""
    os.environ.update(measured.environment(kinds(flags.cores)["both"], os.path.join(cache, "pocl"), cache))
    os.makedirs(os.path.join(cache, "pocl"), exist_ok=True)
    worker = protocol.Worker(networks.on_command(flags.mete, path, cache, *words_of(kind, flags.cores)), set(flags.cores))
    try:
        result = {"first_ms": sum(worker.start_times().values()), "first_mib": worker.peak_kib() / 1024, "first_cpu_ms": worker.cpu_s() * 1e3}
        if settle:
            worker.ask(do="time", runs=1)
            result["settled_s"] = (time.monotonic_ns() - worker.spawn_ns) * 1e-9
            result["settled_cpu_s"] = worker.cpu_s()
            result["run_ms"] = statistics.median(worker.ask(do="time", warm=2, runs=9)["ns"]) * 1e-6
            result["settled_mib"] = worker.peak_kib() / 1024
        return result
    finally:
        worker.close()


def measure_model(flags, path, rounds):
    """{kind: {"first": [start of each round], "again": a start with what was kept, or nothing}}"""
    result = {kind: {"first": [], "again": None} for kind in kinds(flags.cores)}
    for round_number in range(rounds):
        for kind, of in list(result.items())[::-1 if round_number % 2 else 1]:
            settle = flags.settle and round_number == 0
            with tempfile.TemporaryDirectory() as cache:
                of["first"].append(start(flags, path, kind, cache, settle))
                if settle:
                    of["again"] = start(flags, path, kind, cache, settle)
    return result


def driver_mib(flags):
    """{"first", "again"}: what the driver and its compiler have, as the settled sessions of a tiny network show it."""
    of = measure_model(flags, os.path.join(common_flags.kRoot, "models", "digits.onnx"), rounds=1)
    peak = {kind: {"first": o["first"][0]["settled_mib"], "again": o["again"]["settled_mib"]} for kind, o in of.items()}
    return {when: peak["both"][when] - peak["alone"][when] for when in ("first", "again")}


def measure(flags):
    results, failed = {}, {}
    for word in flags.models:
        name, path = networks.model_file(flags.mete, word, flags.work)
        say(name)
        try:
            results[name] = measure_model(flags, path, flags.rounds)
        except protocol.WorkerFailed as problem:
            say(f"{name}: {problem}")
            failed[name] = str(problem)
    return {"machine": machine.describe(), "processors": kinds(flags.cores), "rounds": flags.rounds, "results": results, "failed": failed,
            "driver_mib": driver_mib(flags) if flags.settle else None}


def median(starts, key):
    return statistics.median(start[key] for start in starts)


def pair(of, figure):
    """Of the CPU alone, of both, and how many times as much that is."""
    alone, both = figure(of["alone"]), figure(of["both"])
    return [number(alone), number(both), f"{both / alone:.2f}"]


def first_table(results, markdown):
    rows = [["very first start", "ms alone", "ms both", "ratio", "CPU ms alone", "CPU ms both", "ratio", "MiB alone", "MiB both", "ratio"]]
    for name, of in results.items():
        rows.append([name] + [cell for key in ("first_ms", "first_cpu_ms", "first_mib") for cell in pair(of, lambda o, k=key: median(o["first"], k))])
    return aligned(rows, markdown)


def settled_table(results, when, driver, markdown):
    """`driver`: MiB of it, which the last ratio leaves out."""
    title = "from an empty folder" if when == "first" else "from what was kept"
    starts = {name: of for name, of in results.items() if of["both"]["again"]}
    rows = [[f"settled {title}", "s alone", "s both", "CPU s both", "peak MiB alone", "MiB both", "ratio", "driver", "ratio without it",
             "ms of a run alone", "ms both"]]
    for name, of in starts.items():
        alone, both = ((o["first"][0] if when == "first" else o["again"]) for o in (of["alone"], of["both"]))
        rows.append([name, number(alone["settled_s"]), number(both["settled_s"]), number(both["settled_cpu_s"]), number(alone["settled_mib"]),
                     number(both["settled_mib"]), f"{both['settled_mib'] / alone['settled_mib']:.2f}", number(driver),
                     f"{(both['settled_mib'] - driver) / alone['settled_mib']:.2f}", number(alone["run_ms"]), number(both["run_ms"])])
    return aligned(rows, markdown) if starts else ""


def text(document, markdown):
    results = document["results"]
    parts = [f"Processors: {document['processors']['both']}, beside {document['processors']['alone']} alone, on a {document['machine']['cpu']}; an "
             f"OpenCL device that is a CPU's core stands for a GPU. Medians of {document['rounds']} very first starts, in turns."]
    if results:
        parts += [first_table(results, markdown), *(settled_table(results, when, (document["driver_mib"] or {}).get(when), markdown)
                                                           for when in ("first", "again"))]
        later = geometric_mean([median(of["both"]["first"], "first_ms") / median(of["alone"]["first"], "first_ms") for of in results.values()])
        parts.append(f"The first answer of both takes {later:.2f} times as long as that of the CPU alone in the geometric mean.")
    parts += [listed([f"not measured: {name}: {why}" for name, why in document["failed"].items()], markdown)] if document["failed"] else []
    return "\n\n".join(part for part in parts if part) + "\n"


def main():
    flags = arguments()
    try:
        document = measure(flags)
    except networks.BadModel as problem:
        say(f"starts.py: {problem}")
        return kBadFile
    report(flags, document, text)
    return kFailure if document["failed"] else kSuccess


if __name__ == "__main__":
    sys.exit(main())
