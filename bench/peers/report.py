"""Results to tables. Pure: standard library only.

A result is what measure() gives, with "model"; Mete is compared with the best of the peers whose outputs agree.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import spread
from tables import aligned, listed, number

kOurs = "mete"
# What the summary compares with the best peer: key, words.
kSummary = (("median_ms", "time of a run"), ("least_ms", "least time of a run"), ("load_ms", "load"), ("first_answer_ms", "first answer"),
            ("whole_ms", "first answer with the process's start"), ("very_first_ms", "very first answer"),
            ("very_first_whole_ms", "very first answer with the process's start"), ("peak_kib", "peak memory"),
            ("very_first_peak_kib", "peak memory of the very first session"))


def sound_peers(result):
    """The peers that count: measured, pinned, and with the same answer."""
    return {n: e for n, e in result["engines"].items() if n != kOurs and e["agrees"] and n not in result["failed"]}


def ours_is_sound(result):
    return kOurs in result["engines"] and result["engines"][kOurs]["agrees"] and kOurs not in result["failed"]


def ratio_to_best(result, key="median_ms"):
    """(Mete's over the best of the peers, that peer); None without peers. Times of a run are compared round by round."""
    peers = sound_peers(result)
    if not peers or not ours_is_sound(result):
        return None
    ours = result["engines"][kOurs][key]
    ratios = {name: peer["mete_over_it"] if key == "median_ms" else ours / peer[key] for name, peer in peers.items()}
    best = max(ratios, key=ratios.get)
    return ratios[best], best


def _time_cell(result, name):
    engine = result["engines"].get(name)
    if engine is None:
        return "-"
    wrong = "" if engine["agrees"] and name not in result["failed"] else " !"
    if name == kOurs:
        return f"{number(engine['median_ms'])} ±{number(engine['mad_ms'], 2)}{wrong}"
    return f"{number(engine['median_ms'])} ({engine['mete_over_it']:.2f}){wrong}"


def _difference_cell(result):
    apart = [e["difference"] for e in result["engines"].values()]
    return "-" if not apart else "do not fit" if None in apart else f"{max(apart):.0e}"


def time_rows(results, names):
    """A row a model; peers' cells also have Mete's time over theirs. `others` is what other programs took of the cores meanwhile."""
    rows = [["model", "mete ms"] + [f"{n} ms" for n in names if n != kOurs] + ["mete / best", "best peer", "largest difference", "others"]]
    for result in results:
        best = ratio_to_best(result)
        rows.append([result["model"]] + [_time_cell(result, n) for n in names] + ([f"{best[0]:.2f}", best[1]] if best else ["-", "-"]) +
                    [_difference_cell(result), f"{100 * result.get('others_share', 0):.0f} %"])
    return rows


def cost_rows(results, names):
    """A row a model and engine."""
    rows = [["model", "engine", "load ms", "first answer ms", "process start ms", "all ms", "very first answer ms", "peak MiB", "of it for the model MiB"]]
    for result in results:
        title = result["model"]
        for name in names:
            e = result["engines"].get(name)
            if e is None:
                continue
            rows.append([title, name] + [number(e[key]) for key in ("load_ms", "first_answer_ms", "start_ms", "whole_ms", "very_first_ms")] +
                        [number(e["peak_kib"] / 1024), number((e["peak_kib"] - e["ready_kib"]) / 1024)])
            title = ""
    return rows


def notes(results):
    """What the table cannot show in a cell."""
    lines = []
    for result in results:
        lines += [f"{result['model']}: {name}: {reason}" for name, reason in result["failed"].items()]
        for name, e in result["engines"].items():
            if not e["agrees"]:
                apart = "do not fit" if e["difference"] is None else f"differ by {e['difference']:.1e} of the largest"
                lines.append(f"{result['model']}: {name}: its outputs {apart} from {result['reference']}'s; not counted")
    return lines


def summary(results):
    """[{"what", "geometric_mean", "worst", "worst_model", "models", "no_slower"}], Mete over the best peer."""
    lines = []
    for key, what in kSummary:
        ratios = {r["model"]: ratio_to_best(r, key)[0] for r in results if ratio_to_best(r, key)}
        if not ratios:
            continue
        worst = max(ratios, key=ratios.get)
        lines.append({"what": what, "geometric_mean": spread.geometric_mean(list(ratios.values())), "worst": ratios[worst],
                      "worst_model": worst, "models": len(ratios), "no_slower": sum(r <= 1 for r in ratios.values())})
    return lines


def summary_rows(results, _names):
    return [["mete / best peer", "geometric mean", "worst", "at most 1.00"]] + [
        [s["what"], f"{s['geometric_mean']:.2f}", f"{s['worst']:.2f} ({s['worst_model']})", f"{s['no_slower']} of {s['models']}"]
        for s in summary(results)]


def report(document, markdown=False, short=False):
    """The whole text for one number of threads; `short` leaves out the rows of each engine's costs."""
    results, names = document["results"], document["engines"]
    machine = document["machine"]
    versions = ", ".join(f"{n} {v}" for n, v in document["versions"].items())
    plural = "s" if document["threads"] > 1 else ""
    cores = ", ".join(map(str, document["cores"]))
    blocks = [f"{document['threads']} thread{plural} on {machine['cpu']}, core{plural} {cores}; {versions}; {document['date']}"]
    blocks += [aligned(rows(results, names), markdown) for rows in (time_rows, summary_rows, cost_rows)[:2 if short else 3]]
    extra = notes(results)
    if extra:
        blocks.append(listed(extra, markdown))
    return "\n\n".join(blocks)


if __name__ == "__main__":  # the tables of stored results again
    parser = argparse.ArgumentParser(description="Prints the tables of bench/results/*.json.")
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--short", action="store_true", help="without the rows of each engine's costs")
    flags = parser.parse_args()
    for path in flags.files:
        with open(path) as file:
            print(report(json.load(file), flags.markdown, flags.short) + "\n")
