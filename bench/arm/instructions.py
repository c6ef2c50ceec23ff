#!/usr/bin/env python3
"""How many instructions of a 64-bit Arm processor an inference executes under the emulator, in Mete and in ncnn:
bench/arm/instructions.py MODEL.onnx... [--cpu neoverse-n1 cortex-a72]

A count, no time: it knows neither caches nor how many instructions a core issues at once. `make arm-instructions` prepares what this needs:
build/arm64/mete, the packages of bench/peers for the host (pnnx converts models for ncnn), and build/arm64-peers. Both engines compute in f32 on
one thread. The count of an inference is the difference of a process with eleven runs and one with a single run, over ten; Mete does not time
kernels, because the emulator's times would choose them.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))
sys.path.insert(0, str(ROOT / "bench/common"))
RUNS = 10


def emulated(cpu, libraries, plugin, *command, environment=()):
    """Returns the number of instructions that a program executes."""
    sets = [word for setting in environment for word in ("-E", setting)]
    done = subprocess.run(["qemu-aarch64", "-cpu", cpu, "-plugin", plugin, "-L", libraries, *sets, *map(str, command)], capture_output=True,
                          text=True)
    found = re.search(r"instructions executed: (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        raise RuntimeError(f"[{Path(command[0]).name}] failed under the emulator; {done.stderr[-500:]}")
    return int(found[1])


def of_an_inference(count):
    return (count(1 + RUNS) - count(1)) / RUNS


def mete(options, cpu, plugin, model):
    return of_an_inference(lambda runs: emulated(cpu, options.sysroot, plugin, options.mete, "bench", model, "--threads", 1, "--tune", "never", "--warmup", 0,
                                                 "--runs", runs))


def ncnn(options, cpu, plugin, converted):
    def count(runs):
        return emulated(cpu, options.peers, plugin, options.peers / "usr/bin/python3.11", ROOT / "bench/arm/ncnn_runs.py", json.dumps(converted), runs,
                        environment=(f"PYTHONHOME={options.peers}/usr", f"PYTHONPATH={options.peers}/site:{ROOT}/bench/peers",
                                     f"LD_LIBRARY_PATH={options.peers}/usr/lib/aarch64-linux-gnu"))
    return of_an_inference(count)


def for_ncnn(options, model, folder):
    """Returns what engine_ncnn.py needs of the converted model, with inputs of ones."""
    import convert
    import numpy
    inputs = json.loads(subprocess.run([options.host_python, ROOT / "bench/arm/ports.py", model], capture_output=True, text=True, check=True).stdout)
    files = {}
    for port in inputs:
        files[port["name"]] = str(Path(folder) / f"{len(files)}.npy")
        numpy.save(files[port["name"]], numpy.ones(port["shape"], "float32"))
    return {"inputs": files, "threads": 1, "precision": "f32", "ncnn": convert.convert(model, inputs, Path(folder) / "ncnn")}


def row(options, cpu, plugin, model):
    own = mete(options, cpu, plugin, model)
    with tempfile.TemporaryDirectory() as folder:
        try:
            peer = ncnn(options, cpu, plugin, for_ncnn(options, model, folder))
        except RuntimeError as problem:  # NotConverted, too
            return f"| {model.name} | {cpu} | {own / 1e6:.1f} | - ({problem}) | - |"
    return f"| {model.name} | {cpu} | {own / 1e6:.1f} | {peer / 1e6:.1f} | {own / peer:.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--cpu", nargs="+", default=["neoverse-n1"], help="processors of qemu (neoverse-n1)")
    parser.add_argument("--mete", type=Path, default=ROOT / "build/arm64/mete")
    parser.add_argument("--sysroot", type=Path, default=ROOT / "build/sysroot-arm64")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/arm64-peers")
    parser.add_argument("--host-python", type=Path, default=sys.executable, help="with the packages onnx or onnxruntime")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plugin = str(Path(folder) / "count.so")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", plugin, ROOT / "bench/arm/count_plugin.c"], check=True)
        print("| model | processor | Mete, million instructions | ncnn | Mete / ncnn |\n|---|---|---:|---:|---:|")
        for model in options.models:
            for cpu in options.cpu:
                print(row(options, cpu, plugin, model), flush=True)


if __name__ == "__main__":
    main()
