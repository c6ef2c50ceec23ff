"""A server under load: what it carries, how long requests take at 0.8 of that, and what becomes of them at twice of it.

The load generator (load.cc) runs on the same machine and takes processor time from the server; how much is a column. Requests arrive by
themselves, at random, and their time begins when they arrive. Standard library only.
"""
import contextlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [os.path.join(_root, "bench", "common"), os.path.join(_root, "tests", "serve")]
import common_flags
import machine
import networks
from bodies import request_of
from output import kBadFile, kFailure, kSuccess, report, say
from served import Served
from tables import aligned, listed, number

kConnections = (1, 2, 4, 8, 16)  # that rise until no more is carried
kReloadEveryS = 5
# Of a load that arrives by itself: far more than may wait and be computed, so that none is missing.
kMostConnections = 128


def arguments():
    p = common_flags.networks_parser(__doc__, ["squeezenet1.1"])
    p.add_argument("--load", default=os.path.join(_root, "build", "release", "serve_load"), metavar="FILE", help="the load generator")
    p.add_argument("--seconds", type=float, default=10, metavar="S", help="of each step (default: 10)")
    p.add_argument("--overload-s", type=float, default=300, metavar="S", help="of the load that is twice the capacity (default: 300)")
    p.add_argument("--reload-s", type=float, default=60, metavar="S", help="of that load while the model is loaded again 5 s behind each load (default: 60)")
    p.add_argument("--arrivals", default="random", choices=["random", "even"], help="their distances (default: random)")
    p.add_argument("--seed", type=int, default=1, metavar="N", help="of the arrivals (default: 1)")
    p.add_argument("--serve", nargs="*", default=[], metavar="WORD", help="flags for mete serve, without the dashes in front: threads=2")
    common_flags.add_report(p)
    return common_flags.parsed(p)


class Watched:
    """Samples of a process, each second, until the end of the block."""

    def __init__(self, server):
        self.server, self.ended = server, threading.Event()
        self.rss_mib, self.cpu_s = [], 0

    def __enter__(self):
        self.start_s = machine.process_s(self.server.process.pid)
        self.thread = threading.Thread(target=self._sample)
        self.thread.start()
        return self

    def _sample(self):
        while True:
            self.rss_mib.append(round(self.server.rss_kib() / 1024, 1))
            if self.ended.wait(1):
                return

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.cpu_s = machine.process_s(self.server.process.pid) - self.start_s


class Reloads:
    """Loads the model again kReloadEveryS seconds behind the end of the load before, until the end of the block; 0: without an answer."""

    def __init__(self, server):
        self.server, self.ended = server, threading.Event()
        self.statuses = []

    def __enter__(self):
        self.thread = threading.Thread(target=self._reload)
        self.thread.start()
        return self

    def _reload(self):
        while not self.ended.wait(kReloadEveryS):
            try:
                self.statuses.append(self.server.load("net")[0])
            except (OSError, http.client.HTTPException) as problem:
                say(f"cannot load: {problem}")
                self.statuses.append(0)

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


class Load:
    def __init__(self, flags, server, folder, body, json_bytes):
        self.flags, self.server = flags, server
        path = os.path.join(folder, "body")
        with open(path, "wb") as file:
            file.write(body)
        self.words = [flags.load, "--port", server.port, "--path", "/v2/models/net/infer", "--body", path, "--seed", flags.seed, "--arrivals",
                      flags.arrivals, "--header", f"Inference-Header-Content-Length: {json_bytes}"]

    def run(self, seconds, **more):
        words = self.words + ["--seconds", seconds] + [word for name, value in more.items() for word in (f"--{name}", value)]
        children = os.times()
        with Watched(self.server) as watched:
            done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        result = json.loads(done.stdout)
        after = os.times()
        result["generator_cores"] = (after.children_user + after.children_system - children.children_user - children.children_system) / seconds
        result["server_cores"] = watched.cpu_s / seconds
        result["rss_mib"] = watched.rss_mib
        result["carried"] = result["answered_ms"]["count"] / seconds
        return result


def measure_model(flags, name, path):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        repository = os.path.join(folder, "repository")
        os.mkdir(repository)
        shutil.copyfile(path, os.path.join(repository, "net.onnx"))
        body, json_bytes = request_of(flags.mete, path, flags.seed)
        say(f"{name}: loading")
        words = [word for pair in flags.serve for word in ("--" + pair).split("=", 1)]
        server = stack.enter_context(Served(flags.mete, repository, *words, log="none", env={"METE_CACHE": os.path.join(folder, "cache")}))
        load = Load(flags, server, folder, body, json_bytes)
        load.run(2, connections=2)  # warms up
        closed = []
        for connections in kConnections:
            say(f"{name}: {connections} callers, each when it has its answer")
            closed.append({"connections": connections, **load.run(flags.seconds, connections=connections)})
        capacity = max(step["carried"] for step in closed)
        result = {"capacity": capacity, "closed": closed, "request_bytes": len(body)}
        for key, share, seconds in (("below", 0.8, flags.seconds * 3), ("twice", 2, flags.overload_s), ("after", 0.8, flags.seconds)):
            say(f"{name}: {share} of {capacity:.1f} requests a second for {seconds:.0f} s")
            result[key] = load.run(seconds, connections=kMostConnections, rate=share * capacity)
        say(f"{name}: twice the capacity for {flags.reload_s:.0f} s, while the model is loaded again every {kReloadEveryS} s")
        with Reloads(server) as reloads:
            result["reloaded"] = load.run(flags.reload_s, connections=kMostConnections, rate=2 * capacity)
        result["reloads"] = reloads.statuses
        began = time.monotonic()
        result["exit_status"] = server.end()
        result["end_s"] = time.monotonic() - began
        return result


def shares(step):
    return ", ".join(f"{count} x {status}" for status, count in step["statuses"].items())


def text(document, markdown):
    parts = []
    for name, result in document["models"].items():
        rows = [["load", "requests/s", "carried/s", "p50 ms", "p99 ms", "refused", "p99 of refusals ms", "RSS MiB", "server cores",
                 "generator cores"]]
        steps = [(f"{step['connections']} callers", step) for step in result["closed"]]
        steps += [("0.8 of the capacity", result["below"]), ("twice the capacity", result["twice"]), ("0.8 again", result["after"]), ("twice, loaded again", result["reloaded"])]
        for what, step in steps:
            refused = step["refused_ms"]["count"]
            rows.append([what, number(step["sent"] / step["seconds"]), number(step["carried"]), number(step["answered_ms"]["p50"]),
                         number(step["answered_ms"]["p99"]), f"{100 * refused / step['sent']:.1f} %",
                         number(step["refused_ms"]["p99"]) if refused else "", f"{max(step['rss_mib']):.0f}", f"{step['server_cores']:.2f}",
                         f"{step['generator_cores']:.2f}"])
        twice, below = result["twice"], result["below"]
        rss = twice["rss_mib"]
        lost = sum(step[key] for step in (twice, below, result["after"], result["reloaded"]) for key in ("closed", "unanswered", "wrong"))
        lines = [f"p99 at twice the capacity: {twice['answered_ms']['p99'] / below['answered_ms']['p99']:.2f} times that at 0.8 of it "
                 f"(the bar: 2)",
                 f"twice the capacity for {twice['seconds']:.0f} s: {shares(twice)}",
                 f"resident memory meanwhile: {rss[0]:.0f} MiB at the start, {max(rss):.0f} at most, {rss[-1]:.0f} at the end",
                 f"loaded again {len(result['reloads'])} times, {result['reloads'].count(200)} of them with status 200; meanwhile {shares(result['reloaded'])}",
                 f"lost, closed or answered otherwise than the first time: {lost}",
                 f"SIGTERM: exit status {result['exit_status']} after {result['end_s']:.2f} s"]
        parts += [f"**{name}**" if markdown else name, aligned(rows, markdown), listed(lines, markdown)]
    return "\n\n".join(parts)


def main():
    flags = arguments()
    document = {"machine": machine.describe(), "arrivals": flags.arrivals, "models": {}}
    try:
        for model in networks.chosen(flags.models):
            name, path = networks.model_file(flags.mete, model, flags.work)
            document["models"][name] = measure_model(flags, name, path)
    except networks.BadModel as problem:
        say(problem)
        return kBadFile
    except (OSError, RuntimeError) as problem:
        say(f"[load] {problem}")
        return kFailure
    report(flags, document, text)
    return kSuccess


if __name__ == "__main__":
    sys.exit(main())
