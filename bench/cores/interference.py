"""Mete while a load comes and goes at random on the fast core: the quantiles of a run's time under each policy.

tools/slowcore is the load, in its on-off mode. One process a policy, both on two cores, asked in bursts in turn, each round in an order
of its own; every run of a burst counts but its first, which finds the other's data in the caches.
"""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import cores
import line_pass
import machine
import near
import slowcore
import tails
import turns
from output import say
from protocol import running

kModel = "mobilenet_v2"  # guess: some milliseconds a run, shorter than the load's turns, so that many runs meet a change
kPolicies = "adaptive,equal"
kBurstRuns = 20          # guess: with the model above about two of the load's turns
kTold = 10               # how often progress is told


def arguments():
    p = cores.parser(__doc__, models=[kModel])
    p.add_argument("--runs", type=int, default=2000, metavar="N", help="of each policy, at least (default: 2000)")
    p.add_argument("--policies", type=cores.words, default=cores.words(kPolicies), metavar="P,...",
                   help=f"the others are compared with the first (default: {kPolicies})")
    p.add_argument("--slow-speed", type=float, metavar="S", help="emulated speed of the other core (default: as it is)")
    p.add_argument("--on-off", type=float, default=0.05, metavar="S", help="mean seconds of the load's turns (default: 0.05)")
    p.add_argument("--on-share", type=float, default=0.5, metavar="F", help="of the time that has a load (default: 0.5)")
    slowcore.add_flags(p, 0.35, "fast core")
    line_pass.add_flag(p)
    flags = cores.parsed(p)
    line_pass.check_flag(p, flags)
    if flags.runs < 1:
        p.error(f"[--runs] got {flags.runs}, expected at least 1")
    flags.rounds = -(-flags.runs // kBurstRuns)
    return flags


def commands(flags, path, cache, pair):
    on = [(pair["fast"], None), (pair["slow"], None)]
    if flags.slow_speed is not None:
        on = [(pair["fast"], 1.0), (pair["slow"], flags.slow_speed)]
    return {policy: cores.serve(flags, path, cache, on, "--policy", policy) for policy in flags.policies}


def measure_bursts(flags, workers, marks):
    def tell(turn):
        marks.after_round()
        if (turn + 1) * kTold // flags.rounds > turn * kTold // flags.rounds:
            say(f"round {turn + 1} of {flags.rounds}")
    turns.warm_up(workers)
    runs = {policy: kBurstRuns for policy in workers}
    return turns.bursts(workers, runs, flags.rounds, turns.shuffled(flags.seed), progress=tell)


def measure_one(flags, document, name, path):
    """(result, words about it)"""
    pair = document["cores"]
    load = slowcore.SlowCore(flags.slowcore, pair["fast"], flags.speed, "--on-off", flags.on_off, "--on-share", flags.on_share,
                             "--seed", flags.seed)
    with cores.cache_folder(flags) as cache, load, running(commands(flags, path, cache, pair)) as workers:
        document["versions"]["mete"] = workers[flags.policies[0]].greeting["version"]
        marks = line_pass.Marks(flags.line_pass, pair)
        times, others = turns.others_share([*workers.values(), load], {pair["fast"], pair["slow"]},
                                           lambda: measure_bursts(flags, workers, marks), machine.used_s)
    result = {"model": name, "others_share": others, "slow": load.report, "line_ns": marks.of_rounds(),
              "ms": {policy: [[round(ms, 4) for ms in burst] for burst in bursts] for policy, bursts in times.items()}}
    result["quantiles"] = {policy: tails.quantiles(bursts) for policy, bursts in result["ms"].items()}
    result["over_first"] = {policy: tails.compare(result, flags.policies[0], policy) for policy in flags.policies[1:]}
    return result, ", ".join(f"{policy} p99 {q['p99']:.2f} ms" for policy, q in result["quantiles"].items())


def measure(flags):
    document = cores.new_document(flags, cores=cores.compare_cores(flags), policies=flags.policies, slow_speed=flags.slow_speed,
                                  load={"speed": flags.speed, "on_off_s": flags.on_off, "on_share": flags.on_share})
    jobs = [(name, name, path) for name, path in flags.models]
    cores.measure_each(flags, document, jobs, lambda *job: measure_one(flags, document, *job))
    return document


def lines(document):
    load, pair = document["load"], document["cores"]
    other = "as it is" if document["slow_speed"] is None else f"emulated at {document['slow_speed']:g} (inside the pool, by stretching)"
    return [cores.choice_text(pair),
            f"The load leaves {load['speed']:g} of core {pair['fast']} to others while it is on, in turns of {load['on_off_s']:g} s in the "
            f"mean, {100 * load['on_share']:.0f} % of the time; core {pair['slow']} is {other}. slow for: what came of that.",
            f"{document['rounds'] * kBurstRuns} runs of each policy. Ratios have 90 % intervals, from rounds drawn again.",
            f"near: in {near.words(document['results'])}",
            slowcore.kOthersText, *cores.failed_lines(document)]


def text(document, markdown):
    block = tails.table(document["results"], document["policies"], markdown)
    return cores.blocks_text(cores.head(document, "Interference on the fast core"), [block], lines(document), markdown)


if __name__ == "__main__":
    cores.end(lambda: cores.main(arguments(), measure, text))
