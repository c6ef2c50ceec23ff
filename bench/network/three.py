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

import lab
import networks
from measured import Failed, kPort, mete
from output import kBadFile, kFailure, kSuccess, say, write_json
from tables import aligned, number

# link in Mb/s, time of a piece that enters or leaves the GPU's memory in us
kScenes = [(10000, 200), (10, 200), (10000, 50000)]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Tables go to stdout, progress to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a "
                                       "model that Mete cannot load.")
    p.add_argument("--mete", default=os.path.join(_root, "build", "release", "mete"), metavar="FILE", help="the program")
    p.add_argument("--model", default="vgg16", metavar="M", help="a file, or a name of the zoo (default: vgg16)")
    p.add_argument("--work", default=os.path.join(_root, "build", "models"), metavar="FOLDER",
                   help="where models of the zoo are, or are made")
    p.add_argument("--speed", type=float, default=0.5, metavar="S", help="of the emulated GPU beside its core (default: 0.5)")
    p.add_argument("--seconds", type=float, default=2, metavar="S", help="of each benchmark (default: 2)")
    p.add_argument("--json", metavar="FILE", help="everything measured; - for stdout")
    p.add_argument("--markdown", action="store_true", help="tables in Markdown")
    flags = p.parse_args()
    if not os.access(flags.mete, os.X_OK):
        p.error(f"[--mete] no program at '{flags.mete}'; try 'make release'")
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
        address = f"{other.address}:{kPort}"
        pool = os.path.join(folder, "pool.toml")
        with open(pool, "w", encoding="utf-8") as file:
            file.write(pool_text(address, flags.speed, map_us))
        worker = other.start(["env", f"METE_CACHE={folder}/worker", flags.mete, "worker", "--listen", address, "--insecure", "--threads", "1"],
                             log=os.path.join(folder, "worker.txt"))
        other.await_port(worker, kPort)
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
            f"{number(bench['median_ms'])} ms", f"{number(bench['this_device_alone_ms'])} ms", str(bench["wrong"])]


def main(flags):
    try:
        _, path = networks.model_file(flags.mete, flags.model, flags.work)
        scenes = [measure_scene(flags, path, mbit, map_us) for mbit, map_us in kScenes]
    except networks.BadModel as problem:
        say(f"three.py: {problem}")
        return kBadFile
    except (Failed, lab.LabError) as problem:
        say(f"three.py: {problem}")
        return kFailure
    if flags.json:
        write_json(flags.json, scenes)
    if flags.json != "-":
        head = ["link", "a piece of the GPU", "planned on", "left out", "predicted", "after the trial on", "predicted", "measured", "core alone",
                "wrong"]
        print(aligned([head, *map(row, scenes)], flags.markdown))
    return kSuccess


if __name__ == "__main__":
    sys.exit(main(arguments()))
