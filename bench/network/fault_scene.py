"""A caller and its workers in a lab, for faults: starts them, measures what the caller says, and watches their memory."""
import glob
import json
import os
import signal
import subprocess
import sys
import time

_here = os.path.dirname(os.path.abspath(__file__))
kPort = 7077        # where the caller reaches a worker, or a proxy in front of it
kBehindProxy = 7078
kSlower = 12  # times: how much slower than measured the home is said to be, so that plans divide also where load slowed the measured links. Guess
kPlanner = "uniform"  # divides where the costs make that sooner than the home alone; all pieces go through the caller
kLookS = 0.1        # how often memory is looked at
kProfileS = 120     # guess: a network of 30 layers takes 3 s here
kEndS = 120         # guess: until the caller ends by itself behind its last request


class Broken(RuntimeError):
    """Something that is no fault of the scenario's own. Its text is `[where] what; got X, expected Y; try Z`."""


class Scene:
    """`security`: "insecure", "token" or "keys". In `folder` are all files of it, also between scenarios."""

    def __init__(self, lab, mete, model, folder):
        self.lab, self.mete, self.model, self.folder = lab, mete, model, folder
        self.security, self.workers, self.caller, self.helpers, self.behind_proxy = "insecure", {}, None, [], False
        self.planner = kPlanner
        self.caller_memory, self.worker_memory = [], []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    # What is on which host.

    def start_worker(self, index=1, weights=None, secret=None, front=(), program=None):
        """On host `index`. `secret`: another folder of keys, or another token, than the right one."""
        host, port = self.lab.hosts[index], kBehindProxy if self.behind_proxy else kPort
        words = program or [self.mete, "worker", "--tune", "never", "--threads", 1, "--weights", weights or self.path(f"weights-{index}"),
                            *self._worker_secret(secret, index)]
        process = host.start([*front, *words, "--listen", f"{host.address}:{port}"], log=self.path(f"worker-{index}.txt"),
                             env={**os.environ, "METE_CACHE": self.path(f"cache-{index}")})
        host.await_port(process, port)
        self.workers[index] = process

    def kill_worker(self, index=1):
        self.lab.hosts[index].kill(self.workers[index])

    def signal_worker(self, number, index=1):
        self.lab.hosts[index].kill(self.workers[index], number)

    def start_helper(self, index, script, *words):
        """A program of this folder, that is ended with the scene."""
        process = self.lab.hosts[index].start([sys.executable, os.path.join(_here, script), *words], log=self.path("helpers.txt"))
        self.helpers.append(process)
        return process

    def end(self):
        for process in [*self.workers.values(), *self.helpers, *([self.caller] if self.caller else [])]:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
            if process in self.lab.processes:
                self.lab.processes.remove(process)
        self.workers, self.helpers, self.caller = {}, [], None

    # The caller.

    def profile(self):
        """Once for each list of devices. Then this device is made slow on paper: otherwise no plan divides a model of 5 ms, and nothing
        would be seen of faults."""
        words = [self.mete, "profile", self.model, "--processors", self._devices_file()]
        done = self.lab.hosts[0].run(words, timeout=kProfileS, env=self._env())
        if done.returncode != 0:
            raise Broken(f"[profile] {done.stderr.strip()}")
        profiles = glob.glob(self.path("cache-0", "pools", "*.json"))
        if not profiles:
            raise Broken(f"[profile] the profile of the pool was not kept; got nothing in {self.path('cache-0', 'pools')}, expected a file")
        for path in profiles:
            with open(path) as file:
                profile = json.load(file)
            profile["processors"][0]["us"] = [us * kSlower for us in profile["processors"][0]["us"]]
            with open(path, "w") as file:
                json.dump(profile, file)

    def start_caller(self, *extra):
        self.notes_path, self.answer_path = self.path("notes.txt"), self.path("answer.json")
        self.caller_memory, self.worker_memory = [], []
        with open(self.notes_path, "w") as notes, open(self.answer_path, "w") as answer:
            words = [self.mete, "bench", self.model, "--processors", self._devices_file(), "--planner", self.planner, "--keep-plan", "--json"]
            self.caller = self.lab.hosts[0].start([*words, *extra], stdout=answer, stderr=notes, env=self._env())

    def wait(self, seconds):
        """While the caller goes on; looks at everybody's memory. False where it has ended."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.caller.poll() is None:
            self._look()
            time.sleep(min(kLookS, max(0, end - time.monotonic())))
        return self.caller.poll() is None

    def answer(self):
        """What the caller says in the end, with its notes, the memory of both, and how many requests it lost: it ends with the first."""
        end = time.monotonic() + kEndS
        while self.wait(1):
            if time.monotonic() > end:
                self.caller.kill()
                break
        self.caller.wait()
        with open(self.notes_path) as notes, open(self.answer_path) as answer:
            told, text = notes.read(), answer.read()
        got = json.loads(text) if self.caller.returncode == 0 else {"failed": f"exit code {self.caller.returncode}: {told.strip()[-300:]}"}
        return {**got, "lost": 0 if self.caller.returncode == 0 else 1, "notes": told.splitlines(),
                "caller_memory": self.caller_memory, "worker_memory": self.worker_memory}

    def _look(self):
        self.caller_memory.append(_memory(self.caller.pid))
        self.worker_memory += [_memory(process.pid) for process in self.workers.values() if process.poll() is None]

    def _env(self):
        return {**os.environ, "METE_CACHE": self.path("cache-0")}

    def _devices_file(self):
        path = self.path("devices.toml")
        line = {"insecure": "insecure = true", "token": 'token = "token"', "keys": 'keys = "keys/own"'}[self.security]
        devices = [f'[[device]]\nname = "worker-{host.index}"\naddress = "{host.address}:{kPort}"\n' for host in self.lab.hosts[1:]]
        with open(path, "w") as file:
            file.write(f'name = "faults"\n{line}\n[[device]]\nname = "own"\n{"".join(devices)}')
        return path

    # Who believes whom.

    def make_secrets(self):
        names = ["own", *(f"worker-{host.index}={host.address}" for host in self.lab.hosts[1:])]
        for folder in ("keys", "other-keys"):
            self._mete("keys", "make", self.path(folder), *names)
        for token in ("token", "other-token"):
            self._mete("keys", "token", self.path(token))

    def _mete(self, *words):
        done = subprocess.run([self.mete, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise Broken(f"[{words[0]}] {done.stderr.strip()}")

    def _worker_secret(self, secret, index):
        if self.security == "insecure":
            return ["--insecure"]
        if self.security == "token":
            return ["--token", self.path(secret or "token")]
        return ["--keys", self.path(secret or f"keys/worker-{index}")]


def _memory(pid):
    """(KiB in memory, threads) of a process; (0, 0) where it is gone."""
    try:
        with open(f"/proc/{pid}/status") as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
    except OSError:
        return 0, 0
    return int(fields.get("VmRSS", "0 kB").split()[0]), int(fields.get("Threads", "0"))
