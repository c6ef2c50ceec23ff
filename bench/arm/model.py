"""llvm-mca's models of Arm's cores."""
import functools
import re
import shutil
import subprocess
import sys

# The cores that LLVM 19 has a model of its own for, of those that boards and papers are about. Its model of the
# Cortex-A72 and A73 is that of the A57, of the Cortex-A76 that of the Neoverse N1, and of the Cortex-X1 that of the Neoverse V1.
CORES = ("cortex-a53", "cortex-a55", "cortex-a57", "neoverse-n1", "neoverse-v1")
ITERATIONS = 200
# What these cores lack: SDOT and UDOT (dotprod), products of bytes with mixed signs or of blocks (i8mm), and those of bf16.
LACKS = {"cortex-a53": ("dotprod", "i8mm", "bf16"), "cortex-a55": ("i8mm", "bf16"), "cortex-a57": ("dotprod", "i8mm", "bf16"),
         "neoverse-n1": ("i8mm", "bf16")}
FEATURES = {"bfmmla": "bf16", "sdot": "dotprod", "udot": "dotprod", "usdot": "i8mm", "sudot": "i8mm", "smmla": "i8mm", "ummla": "i8mm", "usmmla": "i8mm"}
# Each instruction on its own, of which a core computes so many in a cycle.
PEAKS = {
    "bfmmla": "bfmmla v{}.4s, v30.8h, v31.8h",
    "fmla": "fmla v{}.4s, v30.4s, v31.s[0]",
    "sdot": "sdot v{}.4s, v30.16b, v31.4b[0]",
    "udot": "udot v{}.4s, v30.16b, v31.4b[0]",
    "usdot": "usdot v{}.4s, v30.16b, v31.4b[0]",
    "sudot": "sudot v{}.4s, v30.16b, v31.4b[0]",
    "smmla": "smmla v{}.4s, v30.16b, v31.16b",
    "ummla": "ummla v{}.4s, v30.16b, v31.16b",
    "usmmla": "usmmla v{}.4s, v30.16b, v31.16b",
    "smlal": "smlal v{}.4s, v30.4h, v31.4h",
    "umlal": "umlal v{}.4s, v30.4h, v31.4h",
    "mla": "mla v{}.4s, v30.4s, v31.4s",
}
INDEPENDENT = 24  # sums, more than a latency of four cycles on four units needs


class Model:
    def __init__(self, program="llvm-mca-19"):
        if not shutil.which(program):
            sys.exit(f"[{program}] no such program; expected LLVM 19's; try tools/install-deps.sh --arm-loops")
        self.program = program

    def cycles(self, loop, core):
        """Returns the cycles of an iteration; None where the core lacks the loop's instruction."""
        return None if FEATURES.get(loop.unit) in LACKS.get(core, ()) else self.cycles_of(loop.text, core)

    def cycles_of(self, text, core):
        done = subprocess.run([self.program, "-mtriple=aarch64", f"-mcpu={core}", "-mattr=+dotprod,+i8mm,+bf16", f"-iterations={ITERATIONS}"],
                              input=text, capture_output=True, text=True)
        if not (m := re.search(r"Total Cycles:\s+(\d+)", done.stdout)):
            sys.exit(f"[{self.program}] says nothing of a loop on {core}; got {done.stderr[:500]}, expected its cycles; try the loop alone:\n{text}")
        return int(m[1]) / ITERATIONS

    @functools.lru_cache(maxsize=None)
    def peak(self, unit, core):
        """Returns how many of these instructions a core computes in a cycle, with nothing else to do."""
        return INDEPENDENT / self.cycles_of("\n".join(PEAKS[unit].format(i) for i in range(INDEPENDENT)), core)
