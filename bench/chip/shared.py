"""What measurements of two processors of one machine say: efficiency, harm, gains and predictions. Pure: standard library only.

A result is what `mete bench --beside` prints of a model, and under "again" the times of its layers that a second profile measured,
{processor: [us]}.
"""
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common")]
from spread import geometric_mean
from tables import aligned, listed, number

kLargeMs = 20     # alone on the faster processor: a network for which the efficiency counts
kHarm = 1.02      # times as long as the faster processor alone: more is harm
kNear = 0.1       # a prediction that is no further off holds
kLeastUs = 10     # of a layer that counts among predictions; guess: a clock's and a launch's noise is a tenth of it


def plans(result):
    return {plan["name"]: plan for plan in result["plans"]}


def alone_ms(result):
    """{processor: ms of the whole model on it}"""
    return {plan["name"][len("alone "):]: plan["median_ms"] for plan in result["plans"] if plan["name"].startswith("alone ")}


def chosen_ms(result):
    return plans(result)["chosen"]["median_ms"]


def ideal_ms(result):
    """Both processors compute all the time, and lose nothing."""
    return 1 / sum(1 / ms for ms in alone_ms(result).values())


def efficiency(result):
    return ideal_ms(result) / chosen_ms(result)


def over_best(result):
    return chosen_ms(result) / min(alone_ms(result).values())


def is_large(result):
    return min(alone_ms(result).values()) > kLargeMs


def is_near(predicted, measured):
    return abs(predicted - measured) <= kNear * measured


def shares_near(result, name):
    """[whether the prediction holds] of the shares of a plan."""
    return [is_near(share["predicted_us"], share["measured_us"]) for share in plans(result)[name]["shares"]]


def layers_near(result, key):
    """The same of single layers: `key` "us", as measured the first time, or "flops_linear_us", beside the second measurement."""
    return [is_near(predicted, measured) for name, layers in result["layers"].items()
            for predicted, measured in zip(layers[key], result.get("again", {}).get(name, [])) if measured >= kLeastUs]


def percent(holds):
    return f"{100 * sum(holds) / len(holds):.0f} % of {len(holds)}" if holds else "-"


def cell(ms):
    return number(ms)


def row(name, result, beside):
    of = plans(result)
    two = len(alone_ms(result)) > 1
    cells = [name, *(cell(ms) for ms in alone_ms(result).values()), *([] if two else ["-"]), cell(chosen_ms(result))]
    cells += [f"{efficiency(result):.2f}" if two else "-",
              f"{over_best(result):.3f}" + (" (the same)" if any(of[f"alone {p}"]["same_as"] == "chosen" for p in alone_ms(result)) else "")]
    cells += [f"{cell(of[other]['median_ms'])} ({of[other]['median_ms'] / chosen_ms(result):.2f})" for other in beside]
    return [*cells, f"{of['chosen']['predicted_ms'] / chosen_ms(result):.2f}", ", ".join(f"{s:.2f}" for s in result["slowed"]),
            f"{result['line_ns']:.0f}"]


def table(results, processors, beside, markdown):
    head = ["ms, medians", *(f"{p} alone" for p in processors), "Mete", "efficiency", "of the faster alone", *beside, "predicted / measured",
            "slowed", "line, ns"]
    return aligned([head] + [row(name, result, beside) for name, result in results.items()], markdown)


def mean(values):
    values = list(values)
    return f"{geometric_mean(values):.2f}" if values else "-"


def summary(results, beside):
    divided = {name: r for name, r in results.items() if len(alone_ms(r)) > 1}
    harmed = [f"{name} ({over_best(r):.3f})" for name, r in divided.items() if over_best(r) > kHarm]
    lines = [f"efficiency, geometric mean of the {sum(map(is_large, divided.values()))} networks that take more than {kLargeMs} ms on the "
             f"faster processor alone: {mean(efficiency(r) for r in divided.values() if is_large(r))}; of all {len(divided)}: "
             f"{mean(map(efficiency, divided.values()))}",
             f"slower than the faster processor alone by more than {100 * (kHarm - 1):.0f} %: {', '.join(harmed) or 'none'}"]
    for other in beside:
        lines.append(f"{other} takes {mean(plans(r)[other]['median_ms'] / chosen_ms(r) for r in divided.values())} times as long in the "
                     "geometric mean")
    everything = list(divided.values())
    lines.append(f"within {100 * kNear:.0f} % of what was measured: {percent(sum((shares_near(r, 'chosen') for r in everything), []))} shares "
                 f"of the plans in use, {percent(sum((shares_near(r, 'dynamic') for r in everything), []))} of the plans by single layers "
                 "alone")
    if any("again" in r for r in everything):
        lines.append(f"single layers of at least {kLeastUs} us, measured again afterwards: "
                     f"{percent(sum((layers_near(r, 'us') for r in everything), []))} within {100 * kNear:.0f} %; as a line over operations: "
                     f"{percent(sum((layers_near(r, 'flops_linear_us') for r in everything), []))}")
    return lines


kLegend = ["efficiency: the time of the ideal, in which both processors compute side by side and lose nothing (1 / (1/a + 1/b) of the times "
           "alone), by the time that was measured.",
           "the same: the plan is that processor alone.",
           "In brackets: how many times as long as Mete's plan.",
           "slowed: how many times as long each processor takes while the other computes, as profiled.",
           "line: how long a cache line took from one core to the other, before or after, the longer one. A shared host moves its virtual cores."]


def text(document, markdown):
    parts = []
    for setting in document["settings"]:
        title = setting["title"]
        parts.append(("### " if markdown else "") + title + "\n\n" +
                     table(setting["results"], document["processors"], document["beside"], markdown) + "\n\n" +
                     listed(summary(setting["results"], document["beside"]), markdown))
    head = (f"Medians of {document['rounds']} rounds in which all plans run in turn, twice each, of which the second counts, on a "
            f"{document['machine']['cpu']}. {document['emulation']}")
    failed = [f"not measured: {name}: {why}" for name, why in document["failed"].items()]
    return head + "\n\n" + "\n\n".join(parts) + "\n\n" + listed(kLegend + failed, markdown) + "\n"
