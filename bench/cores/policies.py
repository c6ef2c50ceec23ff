"""How near each policy comes to the best that a fast core and a slow one can do together.

For each model and speed: Mete on the fast core alone, and on both under each policy, the second one's speed emulated. All processes are
started once and asked in turn, each round in an order of its own. A round is a burst of runs of each, of which the least counts.
"""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import cores
import efficiency
import networks
import turns
from efficiency import kEven, kFast
from protocol import running

kPolicies = "equal,ratio,asymo,sani,adaptive"


def speeds(text):
    values = [float(word) for word in text.split(",")]
    if not all(0 < value <= 1 for value in values):
        raise ValueError
    return values


def arguments():
    p = cores.parser(__doc__, rounds=15, models=networks.kModels)
    p.add_argument("--speeds", type=speeds, default=speeds("0.25,0.4,0.7"), metavar="S,...",
                   help="of the slow core; above 0, at most 1 (default: 0.25,0.4,0.7)")
    p.add_argument("--policies", type=cores.words, default=cores.words(kPolicies), metavar="P,...", help=f"(default: {kPolicies})")
    return cores.parsed(p)


def commands(flags, path, cache, pair, speed):
    """{who: (command, cores)}. One speed at a time: a process for every speed and policy would not fit into memory with large models."""
    fast, slow = pair["fast"], pair["slow"]
    started = {kFast: cores.serve(flags, path, cache, [(fast, None)]),
               kEven: cores.serve(flags, path, cache, [(fast, None), (slow, None)], "--policy", "equal")}
    for policy in flags.policies:
        started[policy] = cores.serve(flags, path, cache, [(fast, 1.0), (slow, speed)], "--policy", policy)
    return started


def measure_one(flags, document, name, path, speed):
    """(result, words about it)"""
    pair = document["cores"]
    order = turns.shuffled(flags.seed)
    with cores.cache_folder(flags) as cache, running(commands(flags, path, cache, pair, speed)) as workers:
        document["versions"]["mete"] = workers[kFast].greeting["version"]
        times, others = turns.others_share(workers.values(), {pair["fast"], pair["slow"]}, lambda: turns.in_turn(
            workers, flags.rounds, order=order, least_runs=cores.kLeastRuns))
    result = {"model": name, "speed": speed, "others_share": others, "least_ms": efficiency.least_of_bursts(times)}
    result["efficiency"] = {policy: efficiency.efficiency(result, policy) for policy in flags.policies}
    result["even_speed_up"] = efficiency.even_speed_up(result)
    return result, ", ".join(f"{policy} {e['median']:.2f}" for policy, e in result["efficiency"].items())


def measure(flags):
    document = cores.new_document(flags, cores=cores.compare_cores(flags), speeds=flags.speeds, policies=flags.policies)
    jobs = [(f"{name} at {speed:g}", name, path, speed) for name, path in flags.models for speed in flags.speeds]
    cores.measure_each(flags, document, jobs, lambda *job: measure_one(flags, document, *job))
    document["geometric_means"] = efficiency.geometric_means(document["results"], flags.policies)
    return document


def lines(document):
    pair = document["cores"]
    return [cores.choice_text(pair),
            "A policy's cell: (the fast core's time / (1 + speed)) / the policy's, median and median absolute deviation over the rounds, "
            "and in parentheses by the least times of all rounds; 1 is the best that can be.",
            "Speeds are emulated inside Mete's pool: what a worker computes is stretched by 1 / speed. Caches and memory stay as fast as "
            "they are.",
            "even speed-up: the fast core's time over that of both cores as they are, with equal slices, in the same rounds. Where it is "
            "below 2, cores slow each other (shared machines do) or the model does not divide; no policy can make up for that.",
            f"others: what other programs had of cores {pair['fast']} and {pair['slow']} meanwhile.", *cores.failed_lines(document)]


def text(document, markdown):
    results = document["results"]
    blocks = [efficiency.table(results, document["policies"], mean["speed"], markdown) for mean in document["geometric_means"]]
    return cores.blocks_text(cores.head(document, "Policies on a fast and a slow core"), blocks, lines(document), markdown)


if __name__ == "__main__":
    cores.end(lambda: cores.main(arguments(), measure, text))
