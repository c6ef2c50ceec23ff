"""What the measurements with two uneven cores have in common: flags, which core is the fast one, and their frame."""
import argparse
import contextlib
import datetime
import os
import sys
import tempfile

import common_flags
import machine
import networks
import turns
from output import kBadFile, kCancelled, kFailure, kSuccess, say, write_json
from protocol import WorkerFailed, running
from tables import listed, number

kRoot = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
kChoiceRounds = 5  # guess: a least of so many bursts tells cores apart that differ by some percent; equal ones may come out either way
kLeastRuns = 5     # of a burst of which the least counts; guess

kFlagsHelp = ("Tables go to stdout (with --json -: the JSON alone), progress to stderr.\n"
              "Exit: 0 success, 1 a failure at run time, 2 usage, 3 a model that Mete cannot load.")


class Failed(RuntimeError):
    """Ends the program with kFailure."""


def numbers(text):
    return [int(part) for part in text.split(",")]


def words(text):
    return text.split(",")


def parser(description, models, rounds=None):
    """`rounds` None: the program has a flag of its own for how long it measures, and sets flags.rounds."""
    p = argparse.ArgumentParser(description=description, epilog=kFlagsHelp, formatter_class=argparse.RawDescriptionHelpFormatter)
    common_flags.add_mete(p)
    p.add_argument("--models", nargs="+", default=models, metavar="M",
                   help=f"folders of .onnx files, files, or names of the zoo (default: {' '.join(models)})")
    p.add_argument("--cores", type=numbers, default=sorted(os.sched_getaffinity(0)), metavar="0,1",
                   help="the fastest two of these are used (default: this process's)")
    if rounds:
        p.add_argument("--rounds", type=int, default=rounds, metavar="N", help=f"turns of each (default: {rounds})")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="of the order within a round (default: 1)")
    p.add_argument("--work", default=os.path.join(kRoot, "build", "peers"), metavar="FOLDER",
                   help="the peers' environment; models of the zoo go into the folder models beside it (default: build/peers)")
    common_flags.add_report(p)
    return p


def parsed(p):
    """The flags, checked; ends the program where they are wrong."""
    flags = common_flags.parsed(p)
    allowed = os.sched_getaffinity(0)
    if len(set(flags.cores)) < 2 or not set(flags.cores) <= allowed:
        p.error(f"[--cores] got {flags.cores}, expected two or more of this process's, {sorted(allowed)}")
    if getattr(flags, "rounds", 1) < 1:
        p.error(f"[--rounds] got {flags.rounds}, expected at least 1")
    return flags


def serve(flags, path, cache, cores, *more):
    """(command, cores) of a Mete on [(core, emulated speed or None)]."""
    named = ",".join(str(core) if speed is None else f"{core}:{speed}" for core, speed in cores)
    return networks.on_command(flags.mete, path, cache, "--cores", named, *more), {core for core, _ in cores}


def compare_cores(flags):
    """{"fast", "slow", "alone_ms": {core: least}, "model"}: the cores asked in turn, one Mete on each. The two fastest count."""
    name, path = flags.models[0]
    with tempfile.TemporaryDirectory() as cache:
        with running({core: serve(flags, path, cache, [(core, None)]) for core in flags.cores}) as workers:
            times = turns.in_turn(workers, kChoiceRounds, least_runs=kLeastRuns)
    alone = {core: min(min(burst) for burst in bursts) for core, bursts in times.items()}
    fast, slow = sorted(alone, key=alone.get)[:2]
    return {"fast": fast, "slow": slow, "alone_ms": alone, "model": name}


def choice_text(pair):
    alone = ", ".join(f"core {core} {number(ms)} ms" for core, ms in pair["alone_ms"].items())
    return (f"Core {pair['fast']} is the fast one and core {pair['slow']} the slow one: measured with {pair['model']} on each alone, "
            f"least time {alone}.")


def head(document, what):
    starts = f" of each of {document['starts']} starts" if "starts" in document else ""
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    return f"{what}; {document['machine']['cpu']}; {versions}; {document['rounds']} rounds{starts}; {document['date']}"


def blocks_text(head_line, blocks, lines, markdown):
    return "\n\n".join([head_line, *blocks, listed(lines, markdown)])


@contextlib.contextmanager
def cache_folder(flags):
    """What Mete measures of its kernels stays in a folder of its own, the same for all of a model's processes."""
    os.makedirs(flags.work, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=flags.work) as folder:
        yield folder


def new_document(flags, **more):
    return {"date": datetime.date.today().isoformat(), "machine": machine.describe(), "rounds": flags.rounds, "seed": flags.seed,
            "versions": {}, "failed": {}, **more, "results": []}


def measure_each(flags, document, jobs, one):
    """Puts one(*job)'s result of each job, (title, arguments ...), into the document, or why there is none."""
    for i, (title, *job) in enumerate(jobs, 1):
        try:
            result, summary = one(*job)
        except (WorkerFailed, networks.BadModel) as problem:  # the others are still worth knowing
            document["failed"][title] = summary = str(problem)
        else:
            document["results"].append(result)
        say(f"{i} of {len(jobs)}, {title}: {summary}")
        if flags.json and flags.json != "-":
            write_json(flags.json, document)  # after each: an interrupt keeps what is measured


def failed_lines(document):
    return [f"{title}: {reason}" for title, reason in document["failed"].items()]


def main(flags, measure, text):
    """measure(flags) gives the document, text(document, markdown) its tables. flags.models become (name, path)."""
    try:
        folder = os.path.join(flags.work, "..", "models")
        flags.models = [networks.model_file(flags.mete, model, folder) for model in networks.chosen(flags.models)]
        document = measure(flags)
        if flags.json != "-" and document["results"]:
            print(text(document, flags.markdown), flush=True)
        if flags.json:
            write_json(flags.json, document)
        return kFailure if document["failed"] else kSuccess
    except networks.BadModel as problem:
        say(problem)
        return kBadFile
    except (OSError, WorkerFailed, Failed) as problem:
        say(f"[bench] {problem}")
        return kFailure


def end(program):
    try:
        sys.exit(program())
    except KeyboardInterrupt:
        sys.exit(kCancelled)
