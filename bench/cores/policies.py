"""How near each policy comes to the best that a fast core and a slow one can do together.

For each model and speed: Mete on the fast core alone, and on both under each policy, the second one's speed emulated. All processes are
asked in turn, each round in an order of its own, and started anew some times, each time without what earlier ones have measured of their
kernels: processes differ. A round is a burst of runs of each, of which the least counts.
"""
import os
import statistics
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import cores
import efficiency
import line_pass
import near
import networks
import turns
from apart import Apart
from efficiency import kApart, kEven, kFast
from protocol import running

kSlow = "slow"  # the slow core alone; asked together with the fast one only
kPolicies = "equal,ratio,asymo,sani,adaptive"


def speeds(text):
    values = [float(word) for word in text.split(",")]
    if not all(0 < value <= 1 for value in values):
        raise ValueError
    return values


def arguments():
    p = cores.parser(__doc__, rounds=5, models=networks.kModels)
    p.add_argument("--starts", type=int, default=3, metavar="N", help="of all processes, each with its rounds (default: 3)")
    p.add_argument("--speeds", type=speeds, default=speeds("0.25,0.4,0.7"), metavar="S,...",
                   help="of the slow core; above 0, at most 1 (default: 0.25,0.4,0.7)")
    p.add_argument("--policies", type=cores.words, default=cores.words(kPolicies), metavar="P,...", help=f"(default: {kPolicies})")
    line_pass.add_flag(p)
    flags = cores.parsed(p)
    if flags.starts < 1:
        p.error(f"[--starts] got {flags.starts}, expected at least 1")
    line_pass.check_flag(p, flags)
    return flags


def commands(flags, path, cache, pair, speed):
    """{who: (command, cores)}. One speed at a time: a process for every speed and policy would not fit into memory with large models."""
    fast, slow = pair["fast"], pair["slow"]
    started = {kFast: cores.serve(flags, path, cache, [(fast, None)]),
               kEven: cores.serve(flags, path, cache, [(fast, None), (slow, None)], "--policy", "equal"),
               kSlow: cores.serve(flags, path, cache, [(slow, speed)])}
    for policy in flags.policies:
        started[policy] = cores.serve(flags, path, cache, [(fast, 1.0), (slow, speed)], "--policy", policy)
    return started


def asked(workers):
    """The workers that have turns of their own."""
    single = {who: worker for who, worker in workers.items() if who != kSlow}
    return {**single, kApart: Apart(workers[kFast], workers[kSlow])}


def measure_start(flags, document, path, speed, order):
    """({who: bursts}, the others' share, what a line took in each round)"""
    pair = document["cores"]
    with cores.cache_folder(flags) as cache, running(commands(flags, path, cache, pair, speed)) as workers:
        document["versions"]["mete"] = workers[kFast].greeting["version"]
        marks = line_pass.Marks(flags.line_pass, pair)
        bursts, others = turns.others_share(workers.values(), {pair["fast"], pair["slow"]}, lambda: turns.in_turn(
            asked(workers), flags.rounds, order=order, least_runs=cores.kLeastRuns, progress=marks.after_round))
        return bursts, others, marks.of_rounds()


def measure_one(flags, document, name, path, speed):
    """(result, words about it)"""
    order = turns.shuffled(flags.seed)
    starts = [measure_start(flags, document, path, speed, order) for _ in range(flags.starts)]
    times = {who: [burst for bursts, _, _ in starts for burst in bursts[who]] for who in starts[0][0]}
    others = round(statistics.mean(share for _, share, _ in starts), 3)
    result = {"model": name, "speed": speed, "others_share": others, "least_ms": efficiency.least_of_bursts(times),
              "line_ns": [ns for _, _, of_rounds in starts for ns in of_rounds]}
    result["efficiency"] = {who: efficiency.efficiency(result, who) for who in [kApart, *flags.policies]}
    result["even_speed_up"] = efficiency.even_speed_up(result)
    return result, ", ".join(f"{who} {e['median']:.2f}" for who, e in result["efficiency"].items())


def measure(flags):
    pair = cores.compare_cores(flags)
    document = cores.new_document(flags, starts=flags.starts, cores=pair, speeds=flags.speeds, policies=flags.policies)
    jobs = [(f"{name} at {speed:g}", name, path, speed) for name, path in flags.models for speed in flags.speeds]
    cores.measure_each(flags, document, jobs, lambda *job: measure_one(flags, document, *job))
    document["geometric_means"] = efficiency.geometric_means(document["results"], flags.policies)
    return document


def lines(document):
    pair = document["cores"]
    return [cores.choice_text(pair),
            "A policy's cell: (the fast core's time / (1 + speed)) / the policy's, median and median absolute deviation over the rounds of "
            f"all {document['starts']} starts, and in parentheses by the least times of all; 1 is the best that can be.",
            "Speeds are emulated inside Mete's pool: what a worker computes is stretched by 1 / speed. Caches and memory stay as fast as "
            "they are.",
            "apart: the same of two runs of their own at the same time, one on each core, of which neither waits for the other: what the "
            "machine leaves of two cores that are both busy. A division of one run does better only by chance, or where two "
            "caches hold what one does not.",
            "even speed-up: the fast core's time over that of both cores as they are, with equal slices, in the same rounds. Where it is "
            "below 2, cores slow each other (shared machines do) or the model does not divide.",
            f"near: {document['policies'][-1]} in {near.words(document['results'])}",
            f"others: what other programs had of cores {pair['fast']} and {pair['slow']} meanwhile.", *cores.failed_lines(document)]


def text(document, markdown):
    results = document["results"]
    blocks = [efficiency.table(results, document["policies"], mean["speed"], markdown) for mean in document["geometric_means"]]
    return cores.blocks_text(cores.head(document, "Policies on a fast and a slow core"), blocks, lines(document), markdown)


if __name__ == "__main__":
    cores.end(lambda: cores.main(arguments(), measure, text))
