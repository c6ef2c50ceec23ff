"""The driver's end of a worker: starts it pinned, asks, and tells why it ended."""
import contextlib
import json
import os
import re
import subprocess
import tempfile
import time

import machine


class WorkerFailed(RuntimeError):
    """Its text is the reason, fit for a table."""


def last_words(text):
    """What an error output ends with, and for a Python exception also what the library said just before it."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines() if line.strip()]
    if not lines:
        return "no message"
    trace = next((i for i, line in enumerate(lines) if line.startswith("Traceback")), 0)
    return lines[-1][:300] + (f" ({lines[trace - 1][:200]})" if trace > 0 else "")


class Worker:
    """A process that answers lines of JSON. It runs on `cores` alone; between commands it waits for stdin. `variables` are added to its
    environment. `enter` runs in the new process before the program does."""

    def __init__(self, command, cores, variables=None, enter=lambda: None):
        def prepare():
            os.sched_setaffinity(0, cores)
            enter()

        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.spawn_ns = time.monotonic_ns()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1,
                                        env={**os.environ, **(variables or {})}, preexec_fn=prepare)
        try:
            self.greeting = self.greet()
        except BaseException:
            self.close()
            raise

    def greet(self):
        """What it says before any command."""
        return self.answer()

    def ask(self, **command):
        self.send(**command)
        return self.answer()

    def send(self, **command):
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
        except OSError:
            pass  # it has ended; answer() finds the reason

    def answer(self):
        return json.loads(self.line())

    def line(self):
        line = self.process.stdout.readline()
        if line:
            return line
        code = self.process.wait()
        self.errors.seek(0)
        words = last_words(self.errors.read())
        raise WorkerFailed(f"ended by signal {-code}: {words}" if code < 0 else words)

    def start_times(self):
        """Milliseconds: until the engine's code is there, until the model is, until the first answer is (each from the one before)."""
        marks = [self.spawn_ns] + [self.greeting[key] for key in ("ready_ns", "loaded_ns", "answered_ns")]
        start, load, first = ((b - a) / 1e6 for a, b in zip(marks, marks[1:]))
        return {"start_ms": start, "load_ms": load, "first_run_ms": first}

    def peak_kib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"VmHWM:\s*(\d+)", file.read())[1])

    def allowed_cores(self):
        """Every core that any of its threads may run on."""
        cores = set()
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/status") as file:
                cores |= core_list(re.search(r"Cpus_allowed_list:\s*(\S*)", file.read())[1])
        return cores

    def cpu_s(self):
        """Processor time that it has used."""
        return machine.process_s(self.process.pid)

    def close(self):
        """Ends it; twice is harmless."""
        for stream in (self.process.stdin, self.process.stdout):
            try:
                stream.close()
            except OSError:
                pass
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()


@contextlib.contextmanager
def running(commands, failed=None):
    """{name: Worker} of {name: (command, cores)}; all have ended when it is left. With `failed`, who cannot start has its reason there
    and is left out; without, that is thrown."""
    workers = {}
    try:
        for name, (command, cores) in commands.items():
            try:
                workers[name] = Worker(command, cores)
            except WorkerFailed as problem:
                if failed is None:
                    raise WorkerFailed(f"{name}: {problem}") from None
                failed[name] = str(problem)
        yield workers
    finally:
        for worker in workers.values():
            worker.close()


def core_list(text):
    """The kernel's form, "0-2,5", as a set."""
    cores = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cores |= set(range(int(first), int(last or first) + 1))
    return cores
