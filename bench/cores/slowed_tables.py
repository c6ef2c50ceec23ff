"""Mete and its peers beside a slowed core: times to ratios and tables. Pure: standard library only.

A result is {"model", "least_ms", "median_ms": {who: [of each round's burst]}, "line_ns": [of each round], "difference": {who: of outputs},
"failed": {who: reason}, "slow": slowcore's report, "others_share"}. Who is "mete fast", "mete POLICY", "PEER 1" (one thread, fast core) or
"PEER 2" (both).
"""
import statistics

import near
import spread
from tables import aligned, number

kFast, kOurs = "mete fast", "mete adaptive"
kOurPolicies = ("equal", "adaptive")
kKinds = ("least_ms", "median_ms")


def is_peer(who):
    return not who.startswith("mete ")


def over_ours(result, who, kind="least_ms"):
    """The median over the rounds of its time over Mete's."""
    return statistics.median(a / b for a, b in zip(result[kind][who], result[kind][kOurs]))


def best_peer(result, kind="least_ms"):
    """(its time over Mete's, who) of the quickest of the settings that count; None without any."""
    ratios = {who: over_ours(result, who, kind) for who in result[kind] if is_peer(who) and who not in result["failed"]}
    if not ratios or kOurs in result["failed"]:
        return None
    best = min(ratios, key=ratios.get)
    return ratios[best], best


def means(results):
    """[{"what", "geometric_mean", "least", "least_model", "models", "no_slower"}], the best peer setting over Mete."""
    rows = []
    for kind in kKinds:
        best = {r["model"]: best_peer(r, kind)[0] for r in results if best_peer(r, kind)}
        if not best:
            continue
        worst = min(best, key=best.get)
        rows.append({"what": kind, "geometric_mean": spread.geometric_mean(list(best.values())), "least": best[worst],
                     "least_model": worst, "models": len(best), "no_slower": sum(b >= 1 for b in best.values())})
    return rows


def _cell(result, who):
    if who not in result["least_ms"]:
        return "-"
    ms = number(min(result["least_ms"][who]))
    wrong = " !" if who in result["failed"] else ""
    return ms + wrong if who == kOurs else f"{ms} ({over_ours(result, who):.2f}){wrong}"


def columns(engines):
    """Who has a column: Mete, and each peer with one thread and two."""
    return [*(f"mete {p}" for p in ("fast", *kOurPolicies)), *(f"{engine} {threads}" for engine in engines for threads in (1, 2))]


def table(results, names, markdown):
    rows = [["model", *(f"{who} ms" for who in names), "best peer / mete", "best peer", "near", "slow core", "others"]]
    limit_ns = near.limit_ns(results)
    for r in results:
        best = best_peer(r)
        rows.append([r["model"], *(_cell(r, who) for who in names), *([f"{best[0]:.2f}", best[1]] if best else ["-", "-"]),
                     near.cell(r, limit_ns, lambda r: f"{over_ours(r, kFast):.2f}"),
                     f"{r['slow']['speed_before']['median']:.3f} - {r['slow']['speed_after']['median']:.3f}",
                     f"{100 * r['others_share']:.0f} %"])
    return aligned(rows, markdown)


def mean_table(results, markdown):
    said = {"least_ms": "least of each burst", "median_ms": "median of each burst"}
    return aligned([["best peer setting / mete", "geometric mean", "least", "at least 1.00"]] + [
        [said[m["what"]], f"{m['geometric_mean']:.2f}", f"{m['least']:.2f} ({m['least_model']})", f"{m['no_slower']} of {m['models']}"]
        for m in means(results)], markdown)


def failures(results):
    return [f"{r['model']}: {who}: {reason}; not counted" for r in results for who, reason in r["failed"].items()]
