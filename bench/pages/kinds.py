"""The kinds of measurements that bench/results has, and the tables that a page may have of each. Pure: standard library only.

A kind is told by the keys that its program writes; a new kind of measurement is a row in kKinds.
"""
import os
import sys

_bench = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(_bench, folder) for folder in ("common", "cores", "network", "peers")]
import efficiency
import ratios
import report
import slowed_tables
from tables import aligned, listed

# Table: a function of the documents that it is made from, and of how many; None is any number.


def _of_peers(rows):
    return lambda documents: aligned(rows(documents[0]["results"], documents[0]["engines"]), markdown=True)


def _notes(documents):
    return listed(report.notes(documents[0]["results"]), markdown=True)


def _efficiency(documents):
    return efficiency.table(documents[0]["results"], documents[0]["policies"], documents[0]["geometric_means"][0]["speed"], markdown=True)


def _slowed(documents):
    return slowed_tables.table(documents[0]["results"], slowed_tables.columns(documents[0]["engines"]), markdown=True)


# name: (the keys that tell it, {table: (function, number of documents)})
kKinds = {
    "peers": ({"threads", "starts", "engines"}, {"times": (_of_peers(report.time_rows), 1), "summary": (_of_peers(report.summary_rows), 1),
                                                 "costs": (_of_peers(report.cost_rows), 1), "notes": (_notes, 1)}),
    "policies": ({"speeds", "policies"}, {"efficiency": (_efficiency, 1), "bars": (lambda ds: efficiency.bars_table(ds, markdown=True), None)}),
    "slowed": ({"speed", "engines", "means"}, {"slowed": (_slowed, 1),
                                               "means": (lambda ds: slowed_tables.mean_table(ds[0]["results"], markdown=True), 1)}),
    "networks": ({"mbit", "slow"}, {"ratios": (lambda ds: ratios.table(ds, markdown=True), None)}),
}


def kind_of(document):
    """None for one that no program here writes."""
    return next((kind for kind, (keys, _) in kKinds.items() if keys <= document.keys()), None)
