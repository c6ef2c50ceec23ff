"""Mete and its peers while one of two cores is slowed for every program, by tools/slowcore.

Mete on the fast core alone, and on both with equal slices and with the policy adaptive; each peer with one thread on the fast core and
with two on both. All processes of a model run for a while first, and are asked in turn then, each round in an order of its own; the least of
a burst counts.
bench/peers/run.sh --install installs the peers.
"""
import collections
import os
import statistics
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_here, "..", "peers")]
import cores
import efficiency
import line_pass
import machine
import measure as peers_measure
import near
import networks
import slowcore
import slowed_tables
import turns
from protocol import WorkerFailed, running

kPeers = "onnxruntime,openvino,ncnn"
kWarmMs = 1500  # of each: guess, some 100 runs of a small model, in which Mete finds out whether the slow core helps at all


def arguments():
    p = cores.parser(__doc__, rounds=15, models=networks.kModels)
    p.add_argument("--engines", type=cores.words, default=cores.words(kPeers), metavar="E,...", help=f"peers (default: {kPeers})")
    slowcore.add_flags(p, 0.35, "second core")
    line_pass.add_flag(p)
    flags = cores.parsed(p)
    line_pass.check_flag(p, flags)
    return flags


def go_to_peers(flags):
    """Goes on in the peers' environment, as their workers are started from there."""
    home = os.path.join(flags.work, "venv")
    python = os.path.join(home, "bin", "python")
    if not os.access(python, os.X_OK):
        raise cores.Failed(f"[slowed] the peers are not installed; got no '{python}'; try bench/peers/run.sh --install")
    if os.path.realpath(sys.prefix) != os.path.realpath(home):
        os.execv(python, [python, *sys.argv])


def commands(flags, prepared, cache, pair):
    """{who: (command, cores)}"""
    fast, both = [(pair["fast"], None)], [(pair["fast"], None), (pair["slow"], None)]
    started = {"mete fast": cores.serve(flags, prepared.mete_path, cache, fast, *prepared.input_words())}
    for policy in slowed_tables.kOurPolicies:
        started[f"mete {policy}"] = cores.serve(flags, prepared.mete_path, cache, both, "--policy", policy, *prepared.input_words())
    for engine in filter(prepared.can, flags.engines):
        for threads, on in enumerate((fast, both), 1):
            started[f"{engine} {threads}"] = prepared.command(engine, threads), {core for core, _ in on}
    return started


# `difference` compares two lists of files, which are written into `folder`; those at most `tolerance` apart agree.
Agreement = collections.namedtuple("Agreement", "folder difference tolerance")


def judge(workers, started, agreement, failed):
    """{who: how far its outputs lie from the reference's}; who must not count has its reason in `failed`. The reference is the first
    peer that works, or else Mete on the fast core."""
    reference = next(filter(slowed_tables.is_peer, workers), "mete fast")
    apart = peers_measure.differences(workers, reference, agreement.folder, agreement.difference)
    for who, worker in workers.items():
        if apart[who] > agreement.tolerance:
            failed[who] = f"its outputs differ by {apart[who]:.1e} of the largest from {reference}'s"
        if not worker.allowed_cores() <= started[who][1]:
            failed[who] = f"its threads may leave the cores {sorted(started[who][1])}"
    return {who: peers_measure.finite(value) for who, value in apart.items()}


def measure_slowed(flags, document, prepared, work, agreement):
    pair, failed = document["cores"], dict(prepared.reasons)
    with slowcore.SlowCore(flags.slowcore, pair["slow"], flags.speed) as slow:
        started = commands(flags, prepared, os.path.join(work, "cache"), pair)
        with running(started, failed) as workers:
            lost = [who for who in started if who in failed and not slowed_tables.is_peer(who)]
            if lost:
                raise WorkerFailed(f"{lost[0]}: {failed[lost[0]]}")
            apart = judge(workers, started, agreement, failed)
            document["versions"].update({who.split()[0]: worker.greeting["version"] for who, worker in workers.items()})
            marks = line_pass.Marks(flags.line_pass, pair)
            times, others = turns.others_share([*workers.values(), slow], {pair["fast"], pair["slow"]}, lambda: turns.in_turn(
                workers, flags.rounds, order=turns.shuffled(flags.seed), least_runs=cores.kLeastRuns, progress=marks.after_round,
                warm_ms=kWarmMs), machine.used_s)
    medians = {who: [round(statistics.median(burst), 4) for burst in bursts] for who, bursts in times.items()}
    return {"least_ms": efficiency.least_of_bursts(times), "median_ms": medians, "line_ns": marks.of_rounds(), "difference": apart,
            "slow": slow.report, "failed": {who: reason.replace(work, "") for who, reason in failed.items()}, "others_share": others}


def measure_one(flags, document, name, path):
    """(result, words about it)"""
    import engines  # it and the next are to be had in the peers' environment alone
    import tensors
    with cores.cache_folder(flags) as work:
        prepared = engines.prepare(flags.mete, name, path, flags.engines, work)
        agreement = Agreement(os.path.join(work, "outputs"), tensors.difference, engines.kTolerance)
        result = {"model": name, **measure_slowed(flags, document, prepared, work, agreement)}
    result["best_peer_over_mete"] = best = slowed_tables.best_peer(result)
    return result, f"{best[1]} / mete = {best[0]:.2f}" if best else "no peer to compare with"


def measure(flags):
    go_to_peers(flags)
    document = cores.new_document(flags, cores=cores.compare_cores(flags), speed=flags.speed, engines=flags.engines)
    jobs = [(name, name, path) for name, path in flags.models]
    cores.measure_each(flags, document, jobs, lambda *job: measure_one(flags, document, *job))
    document["means"] = slowed_tables.means(document["results"])
    return document


def lines(document):
    return [cores.choice_text(document["cores"]) + " All of that before it was slowed.",
            f"Each ran for {kWarmMs / 1000:g} s first. Least times; in parentheses over Mete's with the policy adaptive, the median over the "
            "rounds. best peer / mete: above 1 where Mete is faster.",
            f"near: fast / adaptive in {near.words(document['results'])}",
            f"slow core: the speed that slowcore's probe found before and after, asked {document['speed']:g}: the core was slowed from "
            "outside, for every program; caches and memory keep their speed.",
            slowcore.kOthersText, *slowed_tables.failures(document["results"]), *cores.failed_lines(document)]


def text(document, markdown):
    blocks = [slowed_tables.table(document["results"], slowed_tables.columns(document["engines"]), markdown),
              slowed_tables.mean_table(document["results"], markdown)]
    return cores.blocks_text(cores.head(document, "Mete and its peers, one core slowed"), blocks, lines(document), markdown)


if __name__ == "__main__":
    cores.end(lambda: cores.main(arguments(), measure, text))
