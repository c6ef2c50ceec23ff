#!/usr/bin/env python3
"""What a compiler's model of Arm's cores says of the kernels' inner loops: bench/arm/loops.py [--family NAME...] [--markdown]

Compiles each fast kernel to assembly as build/arm64 does, finds the innermost loops that multiply and add vectors, and prints for each how many
multiply-adds the model (llvm-mca of LLVM 19) predicts in a cycle, and the share of what it predicts for the instruction alone. Fails where
such a loop touches the stack, and where a tile is below its bar. The figures are a model's, no measurement: every load hits the first
cache, nothing is prefetched or mispredicted, and the sources of LLVM give no error of the models.

--file FILE.s reads assembly of any source instead, for example another library's, and checks nothing.
"""
import argparse
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from assembly import innermost_loops
from model import CORES, Model
from rules import failures

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "src/kernels/fast"


def assembly_of(command):
    """Compiles the source of an entry of compile_commands.json to assembly, with the options of the build."""
    words = [w for w in shlex.split(command["command"]) if not w.endswith("ccache")]
    words[words.index("-o") + 1] = "-"
    words[words.index("-c")] = "-S"
    done = subprocess.run(words, cwd=command["directory"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"[{command['file']}] does not compile; {done.stderr[-2000:]}")
    return done.stdout


def sources(build, family):
    """Yields (family, compile command) of each fast kernel."""
    database = build / "compile_commands.json"
    if not database.exists():
        sys.exit(f"[{database}] no such file; expected the commands of a build for Arm; try cmake --preset arm64")
    for command in json.loads(database.read_text()):
        path = Path(command["file"])
        if path.is_relative_to(KERNELS) and not path.stem.endswith("_test") and path.parent.name in (family or path.parent.name):
            yield path.parent.name, command


def predicted(loops, model):
    """Yields each loop that multiplies and adds, with its cycles by core. Equal loops of a function are one."""
    different = {(loop.function, loop.text): loop for loop in loops if loop.unit}.values()
    with ThreadPoolExecutor() as pool:
        yield from zip(different, pool.map(lambda loop: {core: model.cycles(loop, core) for core in CORES}, different))


def rate(loop, cycles, core, model):
    if cycles[core] is None:
        return "-"
    per_cycle = loop.multiply_adds / cycles[core]
    return f"{per_cycle:.2f} ({100 * per_cycle / model.peak(loop.unit, core):.0f} %)"


def show(family, loop, cycles, model, markdown):
    rates = [rate(loop, cycles, core, model) for core in CORES]
    if markdown:
        print("| " + " | ".join([family, f"`{loop.name}`", loop.unit, f"{loop.multiply_adds} of {loop.instructions}", str(loop.stack), *rates]) + " |")
    else:
        print(f"{family:10} {loop.name:36} {loop.unit:6} {loop.multiply_adds:3} of {loop.instructions:3}, stack {loop.stack:2}: "
              + "".join(f"{r:>13}" for r in rates))


def head(markdown):
    if markdown:
        print("| family | loop | instruction | of all | stack | " + " | ".join(CORES) + " |\n|---|---|---|---:|---:|" + "---:|" * len(CORES))
    else:
        print("Multiply-adds of one vector a cycle, and the share of the model's peak, on " + ", ".join(CORES))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/arm64")
    parser.add_argument("--family", nargs="*", help="folders of src/kernels/fast; the default is all of them")
    parser.add_argument("--file", type=Path, help="assembly to read instead")
    parser.add_argument("--least", type=int, default=1, help="print loops with at least so many multiply-adds (1)")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    model = Model()
    head(options.markdown)
    texts = ([("file", options.file.read_text())] if options.file else
             ((family, assembly_of(command)) for family, command in sources(options.build, options.family)))
    found = []
    for family, text in texts:
        for loop, cycles in predicted(innermost_loops(text), model):
            if loop.multiply_adds >= options.least:
                show(family, loop, cycles, model, options.markdown)
            found.append((family, loop, cycles))
    if options.file:
        return
    wrong = failures(found, model, whole=not options.family)
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
