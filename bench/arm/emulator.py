"""Programs of 64-bit Arm under qemu-user, and how many instructions they execute."""
import json
import os
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Implementer and part in /proc/cpuinfo, by qemu's name of a processor; its registers have the same.
CORES = {"cortex-a35": ("0x41", "0xd04"), "cortex-a53": ("0x41", "0xd03"), "cortex-a57": ("0x41", "0xd07"), "cortex-a72": ("0x41", "0xd08"),
         "cortex-a76": ("0x41", "0xd0b"), "neoverse-n1": ("0x41", "0xd0c"), "max": ("0x00", "0x051")}


class EmulatedFailed(RuntimeError):
    """Its text is the reason, fit for a table."""


class Emulator:
    """A processor `cpu` for programs whose libraries lie in the folder `libraries`; `folder` is for the emulator's own files.

    qemu-user emulates a processor's registers, but programs read the host's /proc/cpuinfo: ONNX Runtime then ends with a segmentation fault, and
    Mete does not know whether the core is in-order. qemu looks for each absolute path in its prefix (-L) first, where such a file is written."""

    def __init__(self, cpu, libraries, folder):
        self.cpu, self.prefix, self.plugin = cpu, Path(folder) / "prefix", Path(folder) / "count.so"
        (self.prefix / "proc").mkdir(parents=True)
        for inside in Path(libraries).resolve().iterdir():
            if inside.name != "proc":
                (self.prefix / inside.name).symlink_to(inside)
        implementer, part = CORES[cpu]
        (self.prefix / "proc/cpuinfo").write_text("".join(  # as many as the host has, whose /sys programs read as it is
            f"processor\t: {core}\nCPU implementer\t: {implementer}\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: {part}\n"
            "CPU revision\t: 0\n\n" for core in range(os.cpu_count())))
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", self.plugin, HERE / "count_plugin.c"], check=True)

    def run(self, command, text="", environment=()):
        """(instructions, standard output) of a program that reads `text` from its standard input."""
        sets = [word for setting in environment for word in ("-E", setting)]
        done = subprocess.run(["qemu-aarch64", "-cpu", self.cpu, "-plugin", str(self.plugin), "-L", str(self.prefix), *sets, *map(str, command)],
                              input=text, capture_output=True, text=True)
        executed = re.search(r"instructions executed: (\d+)", done.stderr)
        if done.returncode != 0 or not executed:
            raise EmulatedFailed(f"ended with {done.returncode}: {' '.join(done.stderr.split())[-300:]}")
        return int(executed[1]), done.stdout

    def ask(self, command, questions, environment=()):
        """(instructions, answers) of a worker (bench/common/protocol.py) that is asked each of the questions and then ends."""
        executed, said = self.run(command, "".join(json.dumps(question) + "\n" for question in questions), environment)
        return executed, [json.loads(line) for line in said.splitlines()[1:]]  # behind the greeting
