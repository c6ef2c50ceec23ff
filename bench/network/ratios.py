"""Plans on a network beside the best single processor, as they were measured. Pure: standard library only.

A document is measured.py's: {"slow": "none", "own:SPEED" or "worker:SPEED", "results": {model: {"plans": [{"name", "same_as", "plan",
"median_ms", ...}]}}}.
"""
from tables import aligned

kChosen = "chosen"


def is_single(plan):
    return plan["name"].startswith("alone ")


def chosen_and_best(result):
    """(Mete's plan, the soonest single processor's, the one over the other's median)"""
    chosen = next(p for p in result["plans"] if p["name"] == kChosen)
    best = min(filter(is_single, result["plans"]), key=lambda p: p["median_ms"])
    return chosen, best, chosen["median_ms"] / best["median_ms"]


def setting(slow):
    """Which device was slowed, in words."""
    who, _, speed = slow.partition(":")
    return "equal cores" if slow == "none" else f"{'asking' if who == 'own' else 'other'} device at {speed}"


def _cell(result):
    chosen, best, ratio = chosen_and_best(result)
    if best["same_as"] == kChosen:
        return "alone" if best["name"] == "alone own" else "alone (the other device)"
    return f"{ratio:.2f}"


def _heads(documents):
    heads = []
    for document in documents:
        head = setting(document["slow"])
        heads.append(head if head not in heads else f"{head}, again")
    return heads


def table(documents, markdown):
    """A row a network and a column a document; `alone` where Mete's plan is the best single processor."""
    models = dict.fromkeys(model for document in documents for model in document["results"])
    rows = [["network", *_heads(documents)]]
    for model in models:
        rows.append([model, *(_cell(d["results"][model]) if model in d["results"] else "-" for d in documents)])
    return aligned(rows, markdown)
