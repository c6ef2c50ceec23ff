"""A process on the device that answers photos on command (`mete run --site --on-command`), measured from outside: from its start (without
what Python takes to make a process), or from the command, until its answer is there."""
import ctypes
import json
import os
import subprocess
import time

_libc = ctypes.CDLL(None, use_errno=True)
_kNewNet = 0x40000000  # CLONE_NEWNET of sched.h
kEndS = 20  # guess: until a process has ended after its input


class DeviceFailed(RuntimeError):
    pass


def _enter(namespace, cores, clock):
    """In the new process, before it is the program; tells the time then."""
    if _libc.setns(namespace, _kNewNet):
        raise OSError(ctypes.get_errno(), "setns")
    os.sched_setaffinity(0, cores)
    os.write(clock, b"%d" % time.monotonic_ns())


def words(mete, model, photo, site, way):
    return [mete, "run", model, photo, "--site", site, "--way", way, "--cache-weights", "--json", "--on-command"]


class Device:
    """The process. `namespace`: an open file of its network. `first`: its answer to the photo of its command line, as run() has it."""

    def __init__(self, command, namespace, cores, variables, errors, on_start=lambda pid: None):
        self.errors = open(errors, "ab+")
        told, clock = os.pipe()
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env={**os.environ, **variables},
                                            preexec_fn=lambda: _enter(namespace.fileno(), cores, clock), start_new_session=True)
            begin_ns = int(os.read(told, 32))
        finally:
            os.close(told)
            os.close(clock)
        try:
            on_start(self.process.pid)
            self.first = self._measured(begin_ns)
        except BaseException:
            self.close()
            raise

    def run(self, photo, way, give_up_ms=0):
        """{"whole_ms", "steps", "way", "state", "choice" (what it planned), "fell_back", "measured_first", "begin_ns", "planned", "results"} of a photo."""
        begin_ns = time.monotonic_ns()
        self._write(do="photo", photo=photo, way=way, give_up_ms=give_up_ms)
        return self._measured(begin_ns)

    def plans(self, photo):
        """What it plans for a photo by what it knows now: {state: {"choice", "ways"}}, and its link."""
        return self._ask(do="plan", photo=photo)

    def settle(self):
        """Measures what it still has to of its kernels."""
        self._ask(do="settle")

    def release(self):
        """It lets go of the pages of files that it maps."""
        self._ask(do="release")

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(kEndS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _measured(self, begin_ns):
        line = self._line()
        whole_ms = (time.monotonic_ns() - begin_ns) * 1e-6
        answer = json.loads(line)
        site = answer["site"]
        steps = {step: site["measured"][step] for step in ("load_ms", "preprocess_ms", "upload_ms", "compute_ms")}
        # until the program's own code has begun, or has woken, and what its text took
        steps["load_ms"] += (answer["begin_ns"] - begin_ns) * 1e-6 + answer["text_ms"]
        return {"whole_ms": whole_ms, "steps": steps, "way": site["way"], "state": site["state"], "choice": site["planned"],
                "fell_back": site.get("fell_back", ""),
                "measured_first": site.get("measured_first", ""), "begin_ns": answer["begin_ns"], "planned": {w["way"]: w["predicted"] for w in site["ways"] if "predicted" in w}, "results": answer["results"]}

    def _ask(self, **command):
        self._write(**command)
        return json.loads(self._line())

    def _write(self, **command):
        try:
            self.process.stdin.write((json.dumps(command) + "\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer tells

    def _line(self):
        line = self.process.stdout.readline()
        if line:
            return line
        self.process.wait()
        self.errors.seek(0)
        raise DeviceFailed(f"[device] the program has ended with {self.process.returncode}: {self.errors.read().decode(errors='replace')[-400:]}")
