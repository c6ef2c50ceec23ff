"""Two devices on one machine, each with a core and a network address of its own, joined by a link of a given rate: Mete's plan in turns
with each device alone and with the plans of others.

Single layers and links are measured first (mete profile --processors), as a user would. Needs root, for network namespaces (docs/lab.md).
A slowed core is slowed from outside, for every program: an emulation.
"""
import contextlib
import datetime
import os
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_root, "tools", "lab")]
import common_flags
import lab
import machine
import networks
import ratios
from on_lab import exit_code, mete, start_worker
from output import report, say
from tables import aligned, listed, number

kModels = ["vgg16", "resnet18", "resnet50", "mobilenet_v1", "googlenet", "yolov2", "inception_v3"]


def arguments():
    p = common_flags.networks_parser(__doc__, kModels)
    p.add_argument("--cores", default="0,1", metavar="0,1", help="this device's and the worker's (default: 0,1)")
    p.add_argument("--mbit", type=float, default=100, metavar="N", help="of the link (default: 100)")
    p.add_argument("--slow", metavar="OWN|WORKER:SPEED", help="slow one device's core from outside, e.g. own:0.4")
    p.add_argument("--beside", default="legion,fss-pruned", metavar="NAME,...",
                   help="planners beside each device alone (default: legion,fss-pruned; fss itself takes minutes to hours)")
    p.add_argument("--rounds", type=int, default=20, metavar="N", help="turns of each plan (default: 20)")
    common_flags.add_report(p)
    flags = common_flags.parsed(p)
    flags.cores = [int(core) for core in flags.cores.split(",")]
    if len(flags.cores) != 2:
        p.error(f"[--cores] got {flags.cores}, expected two")
    flags.slowed = slowed_core(p, flags)
    return flags


def slowed_core(p, flags):
    """{core: speed}"""
    if not flags.slow:
        return {}
    who, _, speed = flags.slow.partition(":")
    try:
        return {flags.cores[["own", "worker"].index(who)]: float(speed)}
    except ValueError:
        p.error(f"[--slow] got '{flags.slow}', expected own:SPEED or worker:SPEED, e.g. own:0.4")


def devices_file(folder, address):
    path = os.path.join(folder, "devices.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'name = "lab"\ninsecure = true\n[[device]]\nname = "own"\n[[device]]\nname = "worker"\naddress = "{address}"\n')
    return path


@contextlib.contextmanager
def started(flags):
    """(this device's host, its cache, the devices file), with a worker on the other host."""
    with tempfile.TemporaryDirectory() as folder, lab.Lab(hosts=2, mbit=flags.mbit, cores=flags.cores, slow=flags.slowed) as made:
        own, other = made.hosts
        address = start_worker(flags, other, folder, "--cores", str(flags.cores[1]), "--memory-gib", "16")
        yield own, os.path.join(folder, "own"), devices_file(folder, address)


def measure_model(flags, name, path):
    with started(flags) as (own, cache, devices):
        say(f"{name}: measuring layers")
        mete(flags, own, cache, "profile", path, "--processors", devices, "--on", str(flags.cores[0]))
        say(f"{name}: running plans in turns")
        result = mete(flags, own, cache, "bench", path, "--processors", devices, "--cores", str(flags.cores[0]), "--beside", flags.beside,
                      "--runs", str(flags.rounds))
        del result["model"]  # where the file lay
        return result


def measure(flags):
    document = {"date": datetime.date.today().isoformat(), "machine": machine.describe(), "mbit": flags.mbit, "slow": flags.slow or "none",
                "rounds": flags.rounds, "results": {}}
    for word in flags.models:
        name, path = networks.model_file(flags.mete, word, flags.work)
        document["results"][name] = measure_model(flags, name, path)
    return document


def row(name, result, searched):
    chosen, best, over_best = ratios.chosen_and_best(result)
    singles = list(filter(ratios.is_single, result["plans"]))
    others = [p for p in result["plans"] if p is not chosen and not ratios.is_single(p)]
    cells = [name, chosen["plan"].replace("layers ", ""), f"{number(chosen['median_ms'])} ms", f"{number(chosen['predicted_ms'])} ms",
             f"{chosen['predicted_ms'] / chosen['median_ms']:.2f}", f"{chosen['predicted_ms'] / chosen['min_ms']:.2f}"]
    ratio = f"{over_best:.2f}" + (" (the same)" if best["same_as"] == "chosen" else "")
    cells += [f"{number(p['median_ms'])} ms" for p in singles] + [ratio]
    cells += [f"{number(p['median_ms'])} ms" for p in others] + [f"{number(result['profile_s'])} s"]
    cells.append(f"{number(result['profile_prepare_s'])} s")
    for plan in others:
        if plan["name"] in searched:
            cells += [f"{number(plan['plan_s'])} s, {plan['measured']}", f"{plan['plan_s'] / result['profile_s']:.0f}"]
    return cells


def text(document, markdown):
    results = document["results"]
    plans = next(iter(results.values()))["plans"]
    others = [p["name"] for p in plans[1:] if not p["name"].startswith("alone ")]
    searched = [name for name in others if any(p["name"] == name and p["measured"] for r in results.values() for p in r["plans"])]
    head = ["model", "plan", "Mete", "predicted", "of median", "of least", "own alone", "worker alone", "Mete / best alone", *others,
            "profile", "of it preparing", *(text for name in searched for text in (f"{name}'s search", "profiles"))]
    rows = [head] + [row(name, result, searched) for name, result in results.items()]
    slowed = document["slow"] + (" (from outside: an emulation)" if document["slow"] != "none" else "")
    lines = [f"Medians of {document['rounds']} rounds in which all plans run in turn, twice each, of which the second counts, on a "
             f"{document['machine']['cpu']}; {document['mbit']:g} Mb/s, slowed core: {slowed}.",
             "Mete / best alone: below 1 where Mete's plan is faster than the best single processor as measured; the same: it is that device.",
             "profile: what measuring single layers and the link took, before planning; of it preparing: until graphs could run, the most "
             "of which is choosing kernels, once for all that a device runs.",
             "A search: what a planner took that has plans or parts of plans run, and how many; profiles: how often layers could have been "
             "measured meanwhile."]
    for name in searched:
        times = [p["plan_s"] / r["profile_s"] for r in results.values() for p in r["plans"] if p["name"] == name]
        lines.append(f"{name}'s searches take {sum(times) / len(times):.0f} profiles in the mean.")
    return aligned(rows, markdown) + "\n\n" + listed(lines, markdown) + "\n"


def main(flags):
    return exit_code("measured.py", lambda: report(flags, measure(flags), text))


if __name__ == "__main__":
    sys.exit(main(arguments()))
