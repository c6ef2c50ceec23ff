#!/usr/bin/env python3
"""How many instructions of a 64-bit Arm processor an inference executes under the emulator, in Mete, ONNX Runtime and ncnn:
bench/arm/instructions.py [MODEL...] [--cpu neoverse-n1 cortex-a72] [--quantized qdq qoperator]

A count, no time: it knows neither caches nor how many instructions a core issues at once. `make arm-instructions` prepares what this needs:
build/arm64/mete, the packages of bench/peers for the host (pnnx converts models for ncnn), and build/arm64-peers. Each engine computes on one
thread, in f32 or, in 8-bit files, as the file says. The count of an inference is the difference of a process with eleven runs and one with a
single run, over ten; Mete does not time kernels, because the emulator's times would choose them. The outputs of the single run are compared.
"""
import argparse
import itertools
import math
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/peers"), str(ROOT / "bench/common")]
import engines
import quantized
import tensors
from emulator import CORES, EmulatedFailed, Emulator
from networks import BadModel, model_file
from output import kFailure, kSuccess, say

PEERS = ("onnxruntime", "ncnn")
RUNS = 10
# Small ones of different kinds: an inference of all of them takes some 3,500 million instructions.
MODELS = ("squeezenet1.1", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_large", "shufflenet_v2", "resnet18")


def count(emulator, command, folder, environment):
    """(instructions of an inference, the files of its outputs)"""
    folder.mkdir()
    first = {"do": "save", "folder": str(folder)}
    one, answers = emulator.ask(command, [first], environment)
    more, _ = emulator.ask(command, [first, {"do": "time", "runs": RUNS}], environment)
    return (more - one) / RUNS, answers[0]["files"]


def emulated(options):
    """The script beside Mete that runs it under the emulator, which CMake writes for each program."""
    return str(options.mete.with_name("mete_cli_emulated"))


def mete(options, prepared, cpu, folder):
    command = [options.mete, "bench", prepared.mete_path, "--on-command", "--threads", 1, "--tune", "never", *prepared.input_words()]
    return count(Emulator(cpu, options.sysroot, folder), command, folder / "outputs", [f"METE_CACHE={folder}/cache"])


def peer(name, options, prepared, cpu, folder):
    if not prepared.can(name):
        raise EmulatedFailed(prepared.reasons[name])
    _, *words = prepared.command(name, threads=1)  # the host's Python
    root = options.peers.resolve()
    # The last three: both processes of a count start with the same instructions; threads of OpenBLAS, which NumPy has, would spin.
    environment = [f"PYTHONHOME={root}/usr", f"PYTHONPATH={root}/site", f"LD_LIBRARY_PATH={root}/usr/lib/aarch64-linux-gnu",
                   "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "OPENBLAS_NUM_THREADS=1"]
    return count(Emulator(cpu, root, folder), [root / "usr/bin/python3.11", *words], folder / "outputs", environment)


def row(options, name, path, cpu):
    """A line of the table. Reasons why an engine has no figure, and outputs that differ, go to stderr."""
    tolerance = engines.kByteTolerance if options.quantized else engines.kTolerance
    with tempfile.TemporaryDirectory() as work:
        prepared = engines.prepare(emulated(options), name, str(path), options.engines, work)
        folders = {engine: Path(work) / f"under-{engine}" for engine in ("mete", *options.engines)}
        for folder in folders.values():
            folder.mkdir()
        own, outputs = mete(options, prepared, cpu, folders["mete"])
        counts = []
        for engine in options.engines:
            try:
                executed, files = peer(engine, options, prepared, cpu, folders[engine])
                apart = tensors.difference(outputs, files)
                if apart > tolerance:
                    say(f"[{name}] {engine}: outputs differ from Mete's by {apart:.2g} of the largest; expected at most {tolerance}")
            except EmulatedFailed as reason:
                say(f"[{name}] {engine}: {reason}")
                executed = math.nan
            counts.append(executed)
    cells = [f"{own / 1e6:.1f}", *("-" if math.isnan(c) else f"{c / 1e6:.1f}" for c in counts)]
    best = min((c for c in counts if not math.isnan(c)), default=math.nan)
    return f"| {name} | {cpu} | {' | '.join(cells)} | {'-' if math.isnan(best) else f'{own / best:.2f}'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS, help=f"names of the zoo or ONNX files ({' '.join(MODELS)})")
    parser.add_argument("--cpu", nargs="+", choices=sorted(CORES), default=["neoverse-n1"], help="processors of qemu (neoverse-n1)")
    parser.add_argument("--quantized", nargs="+", choices=quantized.kForms, default=[],
                        help="8-bit files of the models instead, which ONNX Runtime's quantizer writes")
    parser.add_argument("--engines", nargs="+", choices=PEERS, default=PEERS, help=f"peers ({' '.join(PEERS)})")
    parser.add_argument("--mete", type=Path, default=ROOT / "build/arm64/mete", help="beside it lies mete_cli_emulated")
    parser.add_argument("--sysroot", type=Path, default=ROOT / "build/sysroot-arm64")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/arm64-peers")
    parser.add_argument("--work", type=Path, default=ROOT / "build/models", help="where networks of the zoo are made")
    options = parser.parse_args()
    print(f"| model | processor | Mete, million instructions | {' | '.join(options.engines)} | Mete / the fewest of a peer |")
    print("|---|---|---:|" + "---:|" * (1 + len(options.engines)))
    failed = False
    for model, form in itertools.product(options.models, options.quantized or [None]):
        try:
            name, path = model_file(emulated(options), model, str(options.work))
            if form:
                name, path = f"{name} {form}", quantized.quantized_file(path, form, str(options.work / "quantized"))
            for cpu in options.cpu:
                print(row(options, name, path, cpu), flush=True)
        except (BadModel, EmulatedFailed, quantized.NotQuantized) as problem:
            say(f"[{model}] {problem}")
            failed = True
    return kFailure if failed else kSuccess


if __name__ == "__main__":
    sys.exit(main())
