"""A process on the device that answers photos on command (`mete run --site --on-command`), measured from outside: from its start (without
what Python takes to make a process), or from the command, until its answer is there."""
import ctypes
import json
import os
import sys
import time

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(_here, "..", "common")]
import protocol

_libc = ctypes.CDLL(None, use_errno=True)
_kNewNet = 0x40000000  # CLONE_NEWNET of sched.h

DeviceFailed = protocol.WorkerFailed


def words(mete, model, photo, site, way):
    return [mete, "run", model, photo, "--site", site, "--way", way, "--cache-weights", "--json", "--on-command"]


class Device(protocol.Worker):
    """The process. `namespace`: an open file of its network. `first`: its answer to the photo of its command line, as run() has it."""

    def __init__(self, command, namespace, cores, variables, on_start=lambda pid: None):
        self._on_start = on_start
        self._told, clock = os.pipe()

        def enter():
            """In the new process, before it is the program; tells the time then."""
            os.setsid()
            if _libc.setns(namespace.fileno(), _kNewNet):
                raise OSError(ctypes.get_errno(), "setns")
            os.write(clock, b"%d" % time.monotonic_ns())

        try:
            super().__init__(command, cores, variables, enter)
        finally:
            os.close(self._told)
            os.close(clock)
        self.first = self.greeting

    def greet(self):
        begin_ns = int(os.read(self._told, 32))
        self._on_start(self.process.pid)
        return self._measured(begin_ns)

    def run(self, photo, way, give_up_ms=0):
        """{"whole_ms", "steps", "way", "state", "choice" (what it planned), "fell_back", "measured_first", "begin_ns", "planned", "results"} of a photo."""
        begin_ns = time.monotonic_ns()
        self.send(do="photo", photo=photo, way=way, give_up_ms=give_up_ms)
        return self._measured(begin_ns)

    def plans(self, photo):
        """What it plans for a photo by what it knows now: {state: {"choice", "ways"}}, and its link."""
        return self.ask(do="plan", photo=photo)

    def settle(self):
        """Measures what it still has to of its kernels."""
        self.ask(do="settle")

    def release(self):
        """It lets go of the pages of files that it maps."""
        self.ask(do="release")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _measured(self, begin_ns):
        line = self.line()
        whole_ms = (time.monotonic_ns() - begin_ns) * 1e-6
        answer = json.loads(line)
        site = answer["site"]
        steps = {step: site["measured"][step] for step in ("load_ms", "preprocess_ms", "upload_ms", "compute_ms")}
        # until the program's own code has begun, or has woken, and what its text took
        steps["load_ms"] += (answer["begin_ns"] - begin_ns) * 1e-6 + answer["text_ms"]
        return {"whole_ms": whole_ms, "steps": steps, "way": site["way"], "state": site["state"], "choice": site["planned"],
                "fell_back": site.get("fell_back", ""), "measured_first": site.get("measured_first", ""), "begin_ns": answer["begin_ns"],
                "planned": {way["way"]: way["predicted"] for way in site["ways"] if "predicted" in way}, "results": answer["results"]}
