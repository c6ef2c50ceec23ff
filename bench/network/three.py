"""One pool of a core of this machine, an emulated GPU of this machine, and a worker behind a link: which of them has a part of the plan where
links and hand-overs are cheap, and which does not where one of them is dear.

The worker and the emulated GPU share the second core, so that this runs on two cores; each is measured while the other computes. Needs root, for
network namespaces (tools/lab).
"""
import argparse
import os
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_root, "tools", "lab")]

import common_flags
import lab
import networks
from on_lab import exit_code, mete, start_worker
from output import report, say
from tables import aligned, number

# link in Mb/s, time of a piece that enters or leaves the GPU's memory in us
kScenes = [(10000, 200), (10, 200), (10000, 50000)]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Tables go to stdout, progress to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a "
                                       "model that Mete cannot load.")
    common_flags.add_mete(p)
    p.add_argument("--model", default="vgg16", metavar="M", help="a file, or a name of the zoo (default: vgg16)")
    common_flags.add_work(p)
    p.add_argument("--speed", type=float, default=0.5, metavar="S", help="of the emulated GPU beside its core (default: 0.5)")
    p.add_argument("--seconds", type=float, default=2, metavar="S", help="of each benchmark (default: 2)")
    common_flags.add_report(p)
    flags = common_flags.parsed(p)
    return flags


def pool_text(address, speed, map_us):
    return f'''name = "A core, an emulated GPU and a worker"
insecure = true
[[device]]
name = "here"
[[device.processor]]
name = "core"
cores = "0"
[[device.processor]]
name = "gpu"
kind = "emulated"
cores = "1"
speed = {speed}
launch_us = 50
map_us = {map_us}
[[device]]
name = "worker"
address = "{address}"
'''


def measure_scene(flags, path, mbit, map_us):
    with tempfile.TemporaryDirectory() as folder, lab.Lab(hosts=2, mbit=mbit, cores=[[0, 1], [1]]) as made:
        here, other = made.hosts
        address = start_worker(flags, other, folder, "--threads", "1")
        pool = os.path.join(folder, "pool.toml")
        with open(pool, "w", encoding="utf-8") as file:
            file.write(pool_text(address, flags.speed, map_us))
        cache = os.path.join(folder, "here")
        say(f"{mbit} Mb/s, {map_us} us a piece: measuring layers")
        mete(flags, here, cache, "profile", path, "--processors", pool)
        plan = mete(flags, here, cache, "plan", path, "--processors", pool)
        say(f"{mbit} Mb/s, {map_us} us a piece: running the plan")
        bench = mete(flags, here, cache, "bench", path, "--processors", pool, "--seconds", str(flags.seconds))
        del bench["model"]  # where the file lay
        return {"mbit": mbit, "map_us": map_us, "plan": plan, "bench": bench}


def left_out(plan):
    """The processors that the plan leaves out, and the time of the best plan with each."""
    return "; ".join(f"{one['processor']}: " + ("no plan was weighed" if one["least_us_with_it"] is None else
                                                f"with a part, at least {number(one['least_us_with_it'] * 1e-3)} ms")
                     for one in plan["left_out"]) or "-"


def used(bench, names):
    """The processors of the plan that served, whose summary says "layers 1 to 7 on core+gpu"."""
    on = set(name for group in bench["plan"].split(", ") for name in group.split(" on ")[-1].split("+"))
    return " + ".join(name for name in names if name in on)


def row(scene):
    plan, bench = scene["plan"], scene["bench"]
    planned = {plan["processors"][share["processor"]] for group in plan["groups"] for share in group["shares"]}
    return [f"{scene['mbit']} Mb/s", f"{number(scene['map_us'] * 1e-3)} ms", " + ".join(name for name in plan["processors"] if name in planned),
            left_out(plan), f"{number(plan['predicted_us'] * 1e-3)} ms", used(bench, plan["processors"]), f"{number(bench['predicted_ms'])} ms",
            f"{number(bench['median_ms'])} ms", f"{number(bench['home_alone_ms'])} ms", str(bench["wrong"])]


def measure(flags):
    _, path = networks.model_file(flags.mete, flags.model, flags.work)
    return [measure_scene(flags, path, mbit, map_us) for mbit, map_us in kScenes]


def text(scenes, markdown):
    head = ["link", "a piece of the GPU", "planned on", "left out", "predicted", "after the trial on", "predicted", "measured", "core alone", "wrong"]
    return aligned([head, *map(row, scenes)], markdown)


def main(flags):
    return exit_code("three.py", lambda: report(flags, measure(flags), text))


if __name__ == "__main__":
    sys.exit(main(arguments()))
