"""CPU, memory and joules of the device's process over time, in some cells. Joules are simulated: a board's watts by the time for which a core was
busy, without its radio."""
import os
import sys
import threading
import time
import tomllib

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import machine
import site_states
import site_table
from output import say
from site_names import kWholeWays

kBoard = "snapdragon-855.toml"
kEveryS = 0.01  # a tick of the kernel's account of processor time
kStates = ["resident", "killed", "cold"]
kLinks = ["lte", "wifi", "lan"]  # the first of these that is measured


def power(board=kBoard):
    """(idle W, W of a busy core) of the fastest cluster of a board."""
    with open(os.path.join(_root, "boards", board), "rb") as file:
        clusters = tomllib.load(file)["cluster"]
    fastest = max(clusters, key=lambda c: c["active_w"]["value"])
    return fastest["idle_w"]["value"], fastest["active_w"]["value"]


def joules(ms, cpu_ms, watts):
    idle, active = watts
    return (idle * ms + active * cpu_ms) * 1e-3


def sample(pid):
    """(ms of processor time, KiB in memory) of a process; nothing: it has ended."""
    try:
        cpu_ms = 1e3 * machine.process_s(pid)
        with open(f"/proc/{pid}/statm", encoding="utf-8") as file:
            resident = int(file.read().split()[1])
    except (OSError, IndexError):
        return None
    return cpu_ms, resident * os.sysconf("SC_PAGE_SIZE") // 1024


class Watch:
    """Samples a process until it is left: `samples` are (ms since the beginning, ms of processor time, KiB)."""

    def __init__(self):
        self.samples, self.ended, self.thread = [], threading.Event(), None

    def start(self, pid):
        self.thread = threading.Thread(target=self._follow, args=(pid, time.monotonic()), daemon=True)
        self.thread.start()

    def end(self):
        self.ended.set()
        if self.thread:
            self.thread.join()
        return self.samples

    def _follow(self, pid, began):
        while not self.ended.is_set():
            now = sample(pid)
            if now is None:
                return
            self.samples.append(((time.monotonic() - began) * 1e3, *now))
            self.ended.wait(kEveryS)


def table(folder):
    return site_table.Table(os.path.join(folder, "watched.csv"), ["model", "link", "state", "way", "at_ms"], ["cpu_ms", "rss_kib", "energy_j"])


def watch(flags, scene, model, photo, folder):
    """One photo by each way, in some states."""
    link = next((name for name in kLinks if name in flags.links), flags.links[-1])
    rows, watts = table(folder), power()
    for state in [s for s in kStates if s in flags.states]:
        for way in kWholeWays:
            if any(key[:4] == (model.name, link, state, way) for key in rows.rows):
                continue
            say(f"{model.name}, {state}, {way}: watched")
            samples = []
            watched = _resident if state == "resident" else _started
            try:
                site_states.answered(lambda: watched(scene, model, photo, link, way, state, samples), state, way)
            except (site_states.NoAnswer, site_states.PagesStay) as problem:
                say(f"{problem}; not in the picture")
                continue
            first = samples[0][1] if samples else 0
            for at, cpu, kib in samples:
                rows.add(model=model.name, link=link, state=state, way=way, at_ms=at, cpu_ms=cpu - first, rss_kib=kib,
                         energy_j=joules(at, cpu - first, watts))


def _resident(scene, model, photo, link, way, _state, samples):
    with scene.start(model, photo["path"], link, "device") as process:
        watched = Watch()
        watched.start(process.process.pid)
        done = process.run(photo["path"], way)
        samples[:] = watched.end()
        return done


def _started(scene, model, photo, link, way, state, samples):
    site_states.reach(state, scene.files(model, scene.cache))
    watched = Watch()
    with scene.start(model, photo["path"], link, way, on_start=watched.start) as process:
        samples[:] = watched.end()
        return process.first
