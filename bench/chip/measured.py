"""Two processors of one machine, a CPU and a GPU, on one network after the other: Mete's plan in turns with each processor alone and with
the planners of other systems, all in one process.

By default the CPU is core 1, and the GPU is PoCL with one thread, which it pins to core 0 (METE_GPU=cpu, POCL_AFFINITY=1,
POCL_MAX_PTHREAD_COUNT=1): an OpenCL device that computes on a CPU, so that the figures show how well two processors of different kinds work
together, and no GPU's speed. With --cores 0,1 --processors cpu:0,gpu:0/1 it is PoCL's sub-device of core 1. Each command to that wakes PoCL's
threads of all cores: in ResNet-18 5900 times a second, which took a tenth of core 0 from the CPU (/proc/PID/task, AMD EPYC). Three settings:
both as they are; the faster of both slowed from outside (tools/slowcore), by network, so that they are about equally fast; the GPU's core
slowed to half. Layers are measured anew for each setting, as a user would (mete profile). No core that is not slowed is idle meanwhile
(bench/common/awake.py).

    python3 bench/chip/measured.py --mete build/release/mete --models resnet50 vgg16 --settings as-is equal
"""
import contextlib
import datetime
import json
import os
import subprocess
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_here, "..", "cores")]
import awake
import common_flags
import line_pass
import machine
import networks
import shared
import slowcore
from cores import Failed
from output import kBadFile, kFailure, kSuccess, report, say

kModels = ("resnet50 vgg16 googlenet squeezenet1.0 alexnet nin yolov2 mobilenet_v1 mobilenet_v2 posenet_mobilenet vit_ti16").split()
kBeside = ["mulayer", "codl", "layer-to-processor", "dynamic"]
kSettings = {"as-is": "as they are", "equal": "the faster one slowed to the other's speed", "half": "the second core at 0.5"}
kLeastSpeed = 0.05  # that slowcore is asked for; guess: below it nothing but its pauses would be measured


def arguments():
    p = common_flags.networks_parser(__doc__, kModels)
    p.add_argument("--cores", default="1,0", metavar="A,B", help="of the first and of the second processor (default: 1,0)")
    p.add_argument("--processors", metavar="LIST|FILE",
                   help="as mete has it; the first computes on core A, the second on core B (default: cpu:A,gpu:0)")
    p.add_argument("--settings", nargs="+", choices=list(kSettings), default=list(kSettings), metavar="S",
                   help=f"some of {', '.join(kSettings)} (default: all); equal needs as-is")
    p.add_argument("--rounds", type=int, default=20, metavar="N", help="turns of each plan (default: 20)")
    p.add_argument("--kernels", metavar="FOLDER",
                   help="keeps compiled kernels for the next call, which saves minutes; no times are kept (default: none are)")
    p.add_argument("--slowcore", default=os.path.join(common_flags.kRoot, "build", "release", "slowcore"), metavar="FILE", help="the program")
    line_pass.add_flag(p)
    common_flags.add_report(p)
    flags = common_flags.parsed(p)
    cores = flags.cores.split(",")
    if len(cores) != 2 or not all(core.isdigit() for core in cores) or cores[0] == cores[1]:
        p.error(f"[--cores] got {flags.cores}, expected two cores such as 0,1")
    if "equal" in flags.settings and "as-is" not in flags.settings:
        p.error("[--settings] 'equal' takes the speeds of 'as-is'; got it alone, expected both")
    line_pass.check_flag(p, flags)
    flags.cores = [int(core) for core in cores]
    flags.processors = flags.processors or f"cpu:{cores[0]},gpu:0"
    return flags


def slowed_core(setting, cores, as_is):
    """(core, speed) of the core that is slowed, or None. `as_is`: the result of the network where both are as they are."""
    if setting == "half":
        return cores[1], 0.5
    alone = list(shared.alone_ms(as_is).values()) if setting == "equal" else []
    if len(alone) != 2 or alone[0] == alone[1]:
        return None
    faster = 0 if alone[0] < alone[1] else 1
    return cores[faster], max(kLeastSpeed, round(alone[faster] / alone[1 - faster], 2))


@contextlib.contextmanager
def slowed(flags, which):
    with contextlib.ExitStack() as stack:
        stack.enter_context(awake.awake([core for core in flags.cores if not which or core != which[0]]))
        if which:
            stack.enter_context(slowcore.SlowCore(flags.slowcore, *which))
        yield


@contextlib.contextmanager
def empty_cache(kernels):
    """A cache folder of Mete's without any times, whose programs for GPUs are those of `kernels`."""
    with tempfile.TemporaryDirectory() as cache:
        programs = os.path.join(kernels, "gpu")
        os.makedirs(programs, exist_ok=True)
        os.symlink(programs, os.path.join(cache, "gpu"))
        yield cache


def environment(processors, pocl, cache):
    """PoCL counts as a GPU, its threads stay on their cores, and what it compiles is kept; what Mete measures is not."""
    one_thread = {} if "gpu:0/" in processors else {"POCL_MAX_PTHREAD_COUNT": "1"}
    return {**os.environ, **one_thread, "METE_GPU": "cpu", "POCL_AFFINITY": "1", "POCL_CACHE_DIR": pocl, "METE_CACHE": cache}


def mete(flags, environment, *words):
    done = subprocess.run([flags.mete, *words, "--json"], capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise networks.BadModel(f"[{words[1]}] mete {words[0]}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def measure_model(flags, path, which, kernels):
    """A network under one setting: `which` is slowed."""
    marks = line_pass.Marks(flags.line_pass, dict(zip(("fast", "slow"), flags.cores)))
    with slowed(flags, which), empty_cache(kernels) as cache:
        kept = environment(flags.processors, os.path.join(kernels, "pocl"), cache)
        result = mete(flags, kept, "bench", path, "--processors", flags.processors, "--beside", ",".join(kBeside), "--runs",
                      str(flags.rounds))
        del result["model"]  # where the file lay
        again = mete(flags, kept, "profile", path, "--processors", flags.processors)[0]
    marks.after_round()
    [result["line_ns"]] = marks.of_rounds()
    result["again"] = {processor["name"]: processor["us"] for processor in again["processors"]}
    result["slowcore"] = {"core": which[0], "speed": which[1]} if which else None
    return result


def measure_settings(flags, name, path, kernels):
    """{setting: result}; what cannot be measured ends the network, not the others."""
    results = {}
    for setting in kSettings:
        if setting not in flags.settings:
            continue
        which = slowed_core(setting, flags.cores, results.get("as-is"))
        say(f"{name}: {kSettings[setting]}" + (f" (core {which[0]} at {which[1]})" if which else ""))
        results[setting] = measure_model(flags, path, which, kernels)
    return results


def measure(flags, kernels):
    results = {setting: {} for setting in kSettings if setting in flags.settings}
    failed = {}
    for word in flags.models:
        name, path = networks.model_file(flags.mete, word, flags.work)
        try:
            for setting, result in measure_settings(flags, name, path, kernels).items():
                results[setting][name] = result
        except networks.BadModel as problem:
            say(f"{name}: {problem}")
            failed[name] = str(problem)
    if len(failed) == len(flags.models):
        raise networks.BadModel("no network could be measured")
    processors = flags.processors.split(",") if "," in flags.processors else ["first", "second"]
    return {"date": datetime.date.today().isoformat(), "machine": machine.describe(), "processors": processors, "beside": kBeside,
            "rounds": flags.rounds, "emulation": f"The processors are {flags.processors} on cores {flags.cores[0]} and {flags.cores[1]}; an "
            "OpenCL device that is a CPU's core stands for a GPU. Slowed cores are slowed from outside, for every program: an emulation.",
            "failed": failed, "settings": [{"name": setting, "title": kSettings[setting], "results": of} for setting, of in results.items()]}


def main():
    flags = arguments()
    try:
        with tempfile.TemporaryDirectory() as none_kept:
            document = measure(flags, os.path.abspath(flags.kernels or none_kept))
    except networks.BadModel as problem:
        say(f"measured.py: {problem}")
        return kBadFile
    except Failed as problem:
        say(f"measured.py: {problem}")
        return kFailure
    report(flags, document, shared.text)
    return kBadFile if document["failed"] else kSuccess


if __name__ == "__main__":
    sys.exit(main())
