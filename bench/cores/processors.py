"""Two processors of one core each beside one pool of threads on both cores.

For each model, in one run and in turns: Mete on the first core alone, under the policy adaptive on both, and as a pool of two processors
(--processors). The second core is as it is, or slowed by emulation (--speed): declared speeds stretch the time of what it computes. A round
is a command of each; the median of a command's requests counts, and of the rounds the median. The efficiency is the time of the ideal, in
which both cores compute side by side and lose nothing, t / (1 + speed) of the first core's time t, by the time that was measured.

    python3 bench/cores/processors.py --mete build/release/mete --models resnet50,googlenet --speed 0.4 --rounds 5
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile

kModels = "resnet50,vgg16,googlenet,inception_v3,yolov2,mobilenet_v1"


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mete", required=True, metavar="PROGRAM")
    p.add_argument("--models", default=kModels, metavar="NAME,...", help=f"of mete zoo (default: {kModels})")
    p.add_argument("--cores", default="0,1", metavar="A,B", help="the two cores (default: 0,1)")
    p.add_argument("--speed", type=float, default=1.0, metavar="S", help="of the second core, emulated (default: 1, as it is)")
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
    declared = [f"{first}:1.0", f"{second}:{flags.speed}"] if flags.speed < 1 else [first, second]
    return {"first core": ["--cores", declared[0]], "adaptive": ["--cores", ",".join(declared)],
            "two processors": ["--processors", pool_file(folder, (first, second), flags.speed)]}


def measure(flags, path, environment, what):
    done = subprocess.run([flags.mete, "bench", path, "--json", "--seconds", str(flags.seconds), *what], capture_output=True, text=True,
                          env=environment, check=False)
    if done.returncode != 0:
        raise SystemExit(f"processors.py: {' '.join(done.args)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measure_model(flags, path, environment, folder):
    ways = commands(flags, folder)
    times, predicted, wrong = {who: [] for who in ways}, [], 0
    for round_ in range(-1, flags.rounds):  # the first round only measures kernels and layers
        for who in random.sample(list(ways), len(ways)):
            answer = measure(flags, path, environment, ways[who])
            if round_ >= 0:
                times[who].append(answer["median_ms"])
            if who == "two processors":
                wrong += answer["wrong"]
                predicted.append(answer["predicted_ms"])
    median = {who: statistics.median(values) for who, values in times.items()}
    ideal = median["first core"] / (1 + flags.speed)
    return {"median_ms": median, "predicted_ms": statistics.median(predicted), "wrong": wrong, "ideal_ms": ideal,
            "efficiency": {who: ideal / ms for who, ms in median.items()}}


def main():
    flags = arguments()
    results = {}
    if not flags.json:
        print(f"cores {flags.cores}, the second at speed {flags.speed:g}{' (emulated)' if flags.speed < 1 else ''}; ms, medians")
        print(f"{'':14} {'first core':>11} {'ideal':>8} {'adaptive':>9} {'eff.':>5} {'two processors':>15} {'eff.':>5} {'predicted':>10}")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "METE_CACHE": os.path.join(folder, "cache")}
        for name in flags.models.split(","):
            path = os.path.join(folder, name + ".onnx")
            subprocess.run([flags.mete, "zoo", "make", name, "-o", path], check=True, stdout=subprocess.DEVNULL)
            r = results[name] = measure_model(flags, path, environment, folder)
            os.remove(path)
            if not flags.json:
                ms, of = r["median_ms"], r["efficiency"]
                print(f"{name:14} {ms['first core']:11.2f} {r['ideal_ms']:8.2f} {ms['adaptive']:9.2f} {of['adaptive']:5.2f} "
                      f"{ms['two processors']:15.2f} {of['two processors']:5.2f} {r['predicted_ms']:10.2f}"
                      f"{'  WRONG ANSWERS' if r['wrong'] else ''}", flush=True)
    if flags.json:
        print(json.dumps({"cores": flags.cores, "speed": flags.speed, "rounds": flags.rounds, "models": results}, indent=1))
    return 1 if any(r["wrong"] for r in results.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
