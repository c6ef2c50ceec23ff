"""Servers beside each other: requests a second, and how long they take, of `mete serve` and of MLServer with ONNX Runtime.

The same model, cores, requests (JSON over REST: MLServer takes no binary tensors there) and caller (build/release/serve_load), in turns; the
server that is not asked rests. MLServer is measured in two ways, of which the better one counts: in one process with a thread for each
core, and with a process of one thread for each core (parallel_workers). Throughput is that of CONNECTIONS callers, each of which asks again when it
has its answer; p99 is at 0.8 of the slower server's throughput, with arrivals at random, for both.

    make compare-serve    # installs MLServer and ONNX Runtime into build/serve-peers, and runs this
"""
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import common_flags
import machine
import networks
from output import kSuccess, report, say
from ports import free_port
from spread import geometric_mean
from tables import aligned, listed, number

kModels = ["squeezenet1.1", "mobilenet_v2", "resnet50"]
kStartS = 120  # guess: until a server is ready, on a busy machine


def arguments():
    p = common_flags.networks_parser(__doc__, kModels)
    p.add_argument("--peer", default=os.path.join(_root, "build", "serve-peers", "bin", "mlserver"), metavar="PROGRAM", help="MLServer's")
    p.add_argument("--load", default=os.path.join(_root, "build", "release", "serve_load"), metavar="PROGRAM", help="the load generator")
    p.add_argument("--cores", nargs="+", type=int, default=[0, 1], metavar="CORE", help="of the servers; the caller may use all (default: 0 1)")
    p.add_argument("--connections", type=int, default=4, metavar="N", help="callers at a time (default: 4)")
    p.add_argument("--rounds", type=int, default=3, metavar="N", help="turns of each server (default: 3)")
    p.add_argument("--seconds", type=float, default=5, metavar="S", help="of each turn (default: 5)")
    common_flags.add_report(p)
    return common_flags.parsed(p)


class Server:
    """One that listens until it is stopped; `resting` while another one is asked."""

    def __init__(self, name, words, cores, folder, port, variables=None):
        self.name, self.port = name, port
        with open(os.path.join(folder, f"{port}.log"), "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, start_new_session=True,
                                            env={**os.environ, **(variables or {})},
                                            preexec_fn=lambda: os.sched_setaffinity(0, set(cores)))
        self._await_ready(log.name)

    def _await_ready(self, log):
        end = time.monotonic() + kStartS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v2/models/m/ready", timeout=5):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        with open(log, errors="replace") as file:
            raise SystemExit(f"{self.name} does not become ready; its log ends with\n{file.read()[-2000:]}")

    def rest(self, resting):
        os.killpg(self.process.pid, signal.SIGSTOP if resting else signal.SIGCONT)

    def end(self):
        self.rest(False)
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def mete(flags, path, folder):
    repository = os.path.join(folder, "models")
    os.makedirs(repository)
    os.symlink(os.path.abspath(path), os.path.join(repository, "m.onnx"))
    port = free_port()
    return Server("mete", [os.path.abspath(flags.mete), "serve", repository, "--listen", f"127.0.0.1:{port}", "--log", "none"], flags.cores, folder, port,
                  {"METE_CACHE": os.path.join(folder, "cache")})


def mlserver(flags, path, folder, workers):
    place = os.path.join(folder, f"mlserver-{workers}")
    os.makedirs(place)
    port = free_port()
    settings = {"http_port": port, "grpc_port": free_port(), "metrics_port": free_port(), "parallel_workers": workers, "debug": False,
                "host": "127.0.0.1"}
    model = {"name": "m", "implementation": "peer_runtime.OnnxModel", "parameters": {"uri": os.path.abspath(path)}}
    for name, value in (("settings.json", settings), ("model-settings.json", model)):
        with open(os.path.join(place, name), "w") as file:
            json.dump(value, file)
    threads = 1 if workers else len(flags.cores)
    name = f"MLServer, {workers} processes" if workers else "MLServer, one process"
    return Server(name, [os.path.abspath(flags.peer), "start", place], flags.cores, place, port, {"PYTHONPATH": _here, "PEER_THREADS": str(threads)})


def write_request(server, path, folder):
    """A request for the model with random values, as a file; the model's input is as Mete says."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/v2/models/m") as answer:
        tensor = json.load(answer)["inputs"][0]
    shape = [1 if size < 0 else size for size in tensor["shape"]]
    count = 1
    for size in shape:
        count *= size
    drawn = random.Random(1)
    data = [round(drawn.uniform(-1, 1), 4) for _ in range(count)]
    file = os.path.join(folder, "request.json")
    with open(file, "w") as out:
        json.dump({"inputs": [{"name": tensor["name"], "shape": shape, "datatype": tensor["datatype"], "data": data}]}, out)
    return file


def load(flags, server, request, *more):
    server.rest(False)
    words = [flags.load, "--port", server.port, "--path", "/v2/models/m/infer", "--body", request, "--header", "Content-Type: application/json",
             "--seconds", flags.seconds, *more]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True, timeout=flags.seconds + 120)
    server.rest(True)
    return json.loads(done.stdout)


def measured_of(flags, model, folder):
    model, path = networks.model_file(flags.mete, model, flags.work or folder)
    servers = [mete(flags, path, folder), mlserver(flags, path, folder, 0), mlserver(flags, path, folder, len(flags.cores))]
    try:
        request = write_request(servers[0], path, folder)
        for server in servers:
            server.rest(True)
        rates = {server.name: [] for server in servers}
        for _ in range(flags.rounds):
            for server in servers:
                said = load(flags, server, request, "--connections", flags.connections)
                rates[server.name].append(said["statuses"].get("200", 0) / said["seconds"])
        rate = {name: statistics.median(values) for name, values in rates.items()}
        best = max(servers[1:], key=lambda server: rate[server.name])
        offered = 0.8 * min(rate["mete"], rate[best.name])
        p99 = {server.name: [] for server in (servers[0], best)}
        for turn in range(flags.rounds):
            for server in (servers[0], best):
                said = load(flags, server, request, "--connections", 256, "--rate", offered, "--seed", turn + 1)
                p99[server.name].append(said["answered_ms"]["p99"])
        return {"model": model, "per_s": rate, "peer": best.name, "offered_per_s": offered,
                "p99_ms": {name: statistics.median(values) for name, values in p99.items()}}
    finally:
        for server in servers:
            server.end()


def text(document, markdown):
    rows = [["model", "mete, a second", "MLServer", "times as many", "its way", "at a rate of", "p99 of mete, ms", "of MLServer", "ratio"]]
    for m in document["models"]:
        mine, peer = m["per_s"]["mete"], m["per_s"][m["peer"]]
        rows.append([m["model"], number(mine), number(peer), f"{mine / peer:.2f}", m["peer"].removeprefix("MLServer, "), number(m["offered_per_s"]),
                     number(m["p99_ms"]["mete"]), number(m["p99_ms"][m["peer"]]), f"{m['p99_ms']['mete'] / m['p99_ms'][m['peer']]:.2f}"])
    throughput = geometric_mean([m["per_s"]["mete"] / m["per_s"][m["peer"]] for m in document["models"]])
    return f"{document['about']}\n\n{aligned(rows, markdown)}\n{listed([f'throughput in the geometric mean: {throughput:.2f} times as much'], markdown)}"


def main():
    flags = arguments()
    document = {"about": f"JSON over REST on cores {', '.join(map(str, flags.cores))} of a {machine.describe()['cpu']}, in turns; medians of {flags.rounds}"
                         f" turns of {flags.seconds:g} s; {flags.connections} callers.", "models": []}
    for model in flags.models:
        say(model)
        with tempfile.TemporaryDirectory() as folder:
            document["models"].append(measured_of(flags, model, folder))
    report(flags, document, text)
    return kSuccess


if __name__ == "__main__":
    sys.exit(main())
