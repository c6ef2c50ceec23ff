"""Guo's experiment: photos that a device answers, or a server behind a link, from each state in which the model may be on the device; what each way
takes, and what Mete foresaw and chose. Writes docs/results/site.md, its pictures and the steps of all runs.

Needs root, for a lab of network namespaces (docs/lab.md). The device is a core that is slowed from outside, the server another core: an emulation.
Every run is kept at once (--folder), and a second start with the same flags and program goes on; the page is written of all that is there.
"""
import json
import os
import subprocess
import sys
import time

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_root, "tools", "lab")]
import argparse

import cells
import common_flags
import device
import lab
import networks
import output
import program_copy
import site_links
import site_models
import site_page
import site_setting
import site_watch
from output import say
from scene import Scene
from site_names import kStates
from site_runs import Runs

kSizes = ["full", "half", "quarter"]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Progress goes to stderr. Exit: 0 success, 1 a failure at run time, 2 usage, 3 a model that Mete cannot load, "
                                       "77 nothing can be measured here.")
    common_flags.add_mete(p)
    common_flags.add_work(p)
    shared = os.environ.get("METE_SHARED") or os.path.join(_root, "..", "shared")
    p.add_argument("--shared", default=shared, metavar="FOLDER", help="of models and photos (default: $METE_SHARED, ../shared)")
    for name, known, what in (("models", site_models.kModels, "networks"), ("sizes", kSizes, "sizes of photos"),
                              ("links", site_links.kLinks, "links"), ("states", kStates, "states of the model on the device")):
        p.add_argument(f"--{name}", nargs="+", default=list(known), choices=list(known), metavar=name[:-1].upper(),
                       help=f"{what} (default: {' '.join(known)})")
    p.add_argument("--photos", type=int, default=15, metavar="N", help="the first N (default: 15)")
    p.add_argument("--cores", nargs=2, type=int, default=[0, 1], metavar="CORE", help="of the device and of the server (default: 0 1)")
    p.add_argument("--speed", type=float, default=0.25, metavar="S", help="of the device's core, slowed from outside (default: 0.25)")
    p.add_argument("--limit", type=float, default=3, metavar="S",
                   help="a way that is foreseen to take longer is given up then, but with one photo of each size (default: 3)")
    p.add_argument("--rounds", type=int, default=3, metavar="N", help="starts of each state that `mete profile --starts` measures (default: 3)")
    p.add_argument("--folder", default=os.path.join(_root, "build", "site"), metavar="FOLDER", help="of what is measured (default: build/site)")
    p.add_argument("--out", default=os.path.join(_root, "docs", "results"), metavar="FOLDER", help="of the page (default: docs/results)")
    p.add_argument("--page-only", action="store_true", help="measure nothing, and write the page of what is there")
    flags = common_flags.parsed(p)
    flags.links.sort(key=list(site_links.kLinks).index)  # the last one is where the device's way is measured
    flags.sizes.sort(key=kSizes.index)
    flags.states.sort(key=kStates.index)
    if "resident" not in flags.states:
        p.error("[--states] the other states are compared with resident ones; got none")
    return flags


def photos_of(flags):
    """Those of scaled_photos.py, which are made once."""
    made = os.path.join(flags.folder, "photos")
    os.makedirs(made, exist_ok=True)
    venv = os.path.join(_root, "build", "site-tools")
    done = subprocess.run([os.path.join(_root, "tools", "venv.sh"), venv, os.path.join(_here, "requirements.txt")])
    if done.returncode == 77:
        sys.exit(77)
    done.check_returncode()
    command = [os.path.join(venv, "bin", "python"), os.path.join(_here, "scaled_photos.py"), os.path.join(flags.shared, "images", "photos"),
               str(flags.photos), made, *flags.sizes]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def profile(flags, scene, model):
    """What Mete measures before any photo comes, once: starts, and single layers on both sides."""
    link = flags.links[-1]
    for name, words in {"starts": ["--rounds", str(flags.rounds), "--starts"], "layers": ["--processors", scene.sites_with_worker[link]]}.items():
        done = os.path.join(scene.cache, f"{model.name}.{name}")
        if os.path.exists(done):
            continue
        say(f"{model.name}: mete profile, {name}")
        told = scene.devices[link].run(["env", f"METE_CACHE={scene.cache}", f"LD_LIBRARY_PATH={scene.libraries}", scene.program, "profile", "--json", *words,
                                        model.device], timeout=1200)
        if told.returncode:
            raise device.DeviceFailed(f"[{model.name}] mete profile {' '.join(words)}: {told.stderr[-400:]}")
        output.write_whole(done, told.stdout)


def measure(flags):
    os.makedirs(flags.folder, exist_ok=True)
    models = site_models.models_of(flags, flags.folder)
    photos = photos_of(flags)
    site_setting.begin(flags.folder, site_setting.of(flags, [(photo["photo"], photo["size"]) for photo in photos], program_copy.digest(flags.mete)))
    program, libraries, files = program_copy.copy(flags.mete, os.path.join(flags.folder, "program"))
    with Scene(flags, program, libraries, files, flags.folder) as scene:
        for model in models:
            profile(flags, scene, model)
        runs = Runs(flags, scene, photos, flags.folder)
        for model in models:
            runs.resident(model, model is models[0])
        for model in models:
            for state in flags.states[1:]:
                runs.other(model, state)
        site_watch.watch(flags, scene, models[0], photos[0], flags.folder)


def main():
    flags = arguments()
    can, why = (True, "") if flags.page_only else lab.permitted()
    if not can:
        say(f"reproduce.py: skipped; {why}")
        return 77
    began = time.monotonic()
    try:
        if not flags.page_only:
            measure(flags)
            site_setting.end(flags.folder, time.monotonic() - began)
        site_page.write(flags)
    except networks.BadModel as problem:
        say(f"reproduce.py: {problem}")
        return output.kBadFile
    except (device.DeviceFailed, lab.LabError, site_setting.OtherSetting) as problem:
        say(f"reproduce.py: {problem}")
        return output.kFailure
    return output.kSuccess


if __name__ == "__main__":
    sys.exit(main())
