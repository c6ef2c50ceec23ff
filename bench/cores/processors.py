"""Two processors of one core each beside one pool of threads on both cores.

For each model, in one run and in turns: Mete on the first core alone, under the policy adaptive on both, and as a pool of two processors
(--processors). The second core is as it is, slowed by emulation (--speed): declared speeds stretch the time of what it computes, or slowed
from outside as well (--outside): tools/slowcore is busy on it. A round is a command of each; the median of a command's requests counts, and
of the rounds the median. The efficiency is the time of the ideal, in which both cores compute side by side and lose nothing, t / (1 + speed)
of the first core's time t, by the time that was measured. Rounds in which the cores were near each other stand apart from the others. No core
is idle meanwhile (bench/common/awake.py), unless it is slowed from outside.

    python3 bench/cores/processors.py --mete build/release/mete --models resnet50,googlenet --speed 0.4 --rounds 5
"""
import argparse
import contextlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import awake
import cores
import line_pass
import near
import slowcore

kModels = "resnet50,vgg16,googlenet,inception_v3,yolov2,mobilenet_v1,vit_ti16"
kWays = ("first core", "adaptive", "two processors")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mete", required=True, metavar="PROGRAM")
    p.add_argument("--models", default=kModels, metavar="NAME,...", help=f"of mete zoo (default: {kModels})")
    p.add_argument("--cores", default="0,1", metavar="A,B", help="the two cores (default: 0,1)")
    slowcore.add_flags(p, 1.0, "second core")
    p.add_argument("--outside", action="store_true", help="the second core is slowed from outside, and its speed is not declared")
    line_pass.add_flag(p)
    p.add_argument("--rounds", type=int, default=5, metavar="N", help="(default: 5)")
    p.add_argument("--seconds", type=float, default=2.0, metavar="S", help="of each command (default: 2)")
    p.add_argument("--json", action="store_true")
    flags = p.parse_args()
    cores = flags.cores.split(",")
    if len(cores) != 2 or not all(core.isdigit() for core in cores) or cores[0] == cores[1]:
        p.error(f"[--cores] got {flags.cores}, expected two cores such as 0,1")
    if not 0.01 <= flags.speed <= 1:
        p.error(f"[--speed] got {flags.speed}, expected 0.01 to 1")
    if flags.rounds < 1:
        p.error(f"[--rounds] got {flags.rounds}, expected at least 1")
    if flags.outside and flags.speed == 1:
        p.error("[--outside] the core is to be slowed; got --speed 1, expected less")
    line_pass.check_flag(p, flags)
    return flags


def pool_file(folder, cores, speed):
    path = os.path.join(folder, "two.toml")
    with open(path, "w") as file:
        file.write('name = "two cores"\n[[device]]\nname = "here"\n')
        for core, of in zip(cores, (1.0, speed)):
            file.write(f'[[device.processor]]\nname = "cpu:{core}"\ncores = "{core}"\nspeed = {of}\n')
    return path


def commands(flags, folder):
    first, second = flags.cores.split(",")
    speed = 1.0 if flags.outside else flags.speed
    declared = [f"{first}:1.0", f"{second}:{speed}"] if speed < 1 else [first, second]
    return dict(zip(kWays, (["--cores", declared[0]], ["--cores", ",".join(declared)],
                            ["--processors", pool_file(folder, (first, second), speed)])))


def measure(flags, path, environment, what):
    done = subprocess.run([flags.mete, "bench", path, "--json", "--seconds", str(flags.seconds), *what], capture_output=True, text=True,
                          env=environment, check=False)
    if done.returncode != 0:
        raise SystemExit(f"processors.py: {' '.join(done.args)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measure_model(flags, path, environment, folder):
    ways = commands(flags, folder)
    result = {"median_ms": {who: [] for who in ways}, "predicted_ms": [], "wrong": 0}
    first, second = flags.cores.split(",")
    for round_ in range(-1, flags.rounds):  # the first round only measures kernels and layers
        for who in random.sample(list(ways), len(ways)):
            answer = measure(flags, path, environment, ways[who])
            if round_ >= 0:
                result["median_ms"][who].append(answer["median_ms"])
            if who == "two processors":
                result["wrong"] += answer["wrong"]
                result["predicted_ms"].append(answer["predicted_ms"])
        if round_ < 0:
            marks = line_pass.Marks(flags.line_pass, {"fast": first, "slow": second})
        else:
            marks.after_round()
    return {**result, "line_ns": marks.of_rounds()}


def summary(result, speed):
    """Medians of all rounds, and the efficiencies that follow."""
    ms = {who: statistics.median(of_rounds) for who, of_rounds in result["median_ms"].items()}
    ideal = ms["first core"] / (1 + speed)
    return {"ms": ms, "ideal_ms": ideal, "predicted_ms": statistics.median(result["predicted_ms"]),
            "efficiency": {who: ideal / ms[who] for who in kWays[1:]}}


def print_model(name, result, speed):
    r = summary(result, speed)
    print(f"{name:14} {r['ms']['first core']:11.2f} {r['ideal_ms']:8.2f} {r['ms']['adaptive']:9.2f} {r['efficiency']['adaptive']:5.2f} "
          f"{r['ms']['two processors']:15.2f} {r['efficiency']['two processors']:5.2f} {r['predicted_ms']:10.2f}"
          f"{'  WRONG ANSWERS' if result['wrong'] else ''}", flush=True)


def print_near_and_far(results, speed):
    """The efficiencies of the rounds in which the cores were near each other, and of the others."""
    most_ns = near.limit_ns(results.values())
    print(f"\nnear: in {near.words(results.values())}")
    print(f"{'':14} {'rounds':>8} {'adaptive':>9} {'two processors':>15}")
    for name, result in results.items():
        for what, is_of in (("near", lambda ns: ns <= most_ns), ("far", lambda ns: ns > most_ns)):
            chosen = [i for i, ns in enumerate(result["line_ns"]) if is_of(ns)]
            if not chosen:
                continue
            of = summary({**result, "median_ms": {who: [ms[i] for i in chosen] for who, ms in result["median_ms"].items()}}, speed)
            efficiency = of["efficiency"]
            print(f"{name:14} {len(chosen):3} {what:4} {efficiency['adaptive']:9.2f} {efficiency['two processors']:15.2f}")


def second_core(flags):
    """As it is while this lasts."""
    if not flags.outside:
        return contextlib.nullcontext()
    return slowcore.SlowCore(flags.slowcore, flags.cores.split(",")[1], flags.speed)


def head(flags):
    how = " (slowed from outside)" if flags.outside else " (emulated)" if flags.speed < 1 else ""
    return (f"cores {flags.cores}, the second at speed {flags.speed:g}{how}; ms, medians\n"
            f"{'':14} {'first core':>11} {'ideal':>8} {'adaptive':>9} {'eff.':>5} {'two processors':>15} {'eff.':>5} {'predicted':>10}")


def measure_all(flags, folder):
    environment = {**os.environ, "METE_CACHE": os.path.join(folder, "cache")}
    results = {}
    for name in flags.models.split(","):
        path = os.path.join(folder, name + ".onnx")
        subprocess.run([flags.mete, "zoo", "make", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
        with second_core(flags):
            results[name] = measure_model(flags, path, environment, folder)
        os.remove(path)
        if not flags.json:
            print_model(name, results[name], flags.speed)
    return results


def main():
    flags = arguments()
    if not flags.json:
        print(head(flags), flush=True)
    busy = [] if flags.outside else flags.cores.split(",")
    with tempfile.TemporaryDirectory() as folder, awake.awake(busy):
        results = measure_all(flags, folder)
    if flags.json:
        models = {name: {**result, **summary(result, flags.speed)} for name, result in results.items()}
        print(json.dumps({"cores": flags.cores, "speed": flags.speed, "outside": flags.outside, "rounds": flags.rounds, "models": models},
                         indent=1))
    else:
        print_near_and_far(results, flags.speed)
    return 1 if any(r["wrong"] for r in results.values()) else 0


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except cores.Failed as error:
        raise SystemExit(f"processors.py: {error}") from error
