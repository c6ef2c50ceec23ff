"""Two replicas of Ray Serve (python/mete/ray.py) under load, one of which is killed: what is lost, and how long it takes until there are two again.

Once a replica's process is killed, and once its `mete serve` alone. Clients send again what failed, as an inference changes nothing. Each answer is
compared with that of a server without Ray. bench/serve/ray.sh runs this with Ray 2.60.
"""
import argparse
import json
import os
import pathlib
import signal
import sys
import time

_here = os.path.dirname(os.path.abspath(__file__))
_package = os.path.normpath(os.path.join(_here, "..", "..", "python"))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), _package]
import common_flags
import output
import retrying_load as loads
import tables
from ports import free_port

kMostRecovery_s = 60


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="Exit: 0 nothing lost and nothing wrong, 1 a failure at run time or an answer that is lost or wrong, 2 usage.")
    common_flags.add_mete(p)
    p.add_argument("--model", default=os.path.join(common_flags.kRoot, "models", "digits.onnx"), metavar="FILE", help="with one f32 input")
    p.add_argument("--clients", type=int, default=8, metavar="N", help="connections, each with one request at a time (default: 8)")
    p.add_argument("--seconds", type=float, default=5, metavar="S", help="of load before, and after, each kill (default: 5)")
    p.add_argument("--num-cpus", type=float, default=0.5, metavar="C", help="of a replica (default: 0.5)")
    common_flags.add_report(p)
    return common_flags.parsed(p)


def questions_of(flags):
    """With the answers of a server without Ray."""
    from mete.serve_process import ChildOptions, ServeProcess
    child = ServeProcess(flags.model, ChildOptions(mete=flags.mete))
    try:
        metadata = json.loads(child.get(f"/v2/models/{child.name}")[1])
        questions = [loads.question(metadata, seed) for seed in range(8)]
        for one in questions:
            one.right = loads.Caller(child.address, child.name).values(one)
        return child.name, questions
    finally:
        child.close()


class Replicas:
    """{pid of a replica: pid of its server}, as replicas themselves say; a handle asks any of them."""

    def __init__(self, handle):
        self.handle = handle

    def one(self):
        try:
            return self.handle.processes.remote().result(timeout_s=5)
        except Exception:  # Ray has many kinds of "this replica is no more"
            return None

    def both(self):
        found, end = {}, time.monotonic() + kMostRecovery_s
        while len(found) < 2:
            if time.monotonic() > end:
                raise RuntimeError(f"[replicas] {len(found)} after {kMostRecovery_s} s; expected 2")
            if pids := self.one():
                found.update([pids])
        return found

    def new(self, old):
        """Waits for a replica whose server is none of the old ones; the seconds that it took."""
        begun = time.monotonic()
        while time.monotonic() < begun + kMostRecovery_s:
            pids = self.one()
            if pids and pids[1] not in old.values():
                return time.monotonic() - begun
            time.sleep(0.02)
        raise RuntimeError(f"[replicas] no new one after {kMostRecovery_s} s")


def kill_one(what, url, model, questions, replicas, flags):
    """Figures of one kill under load."""
    with loads.Load(url, model, questions, flags.clients) as load:
        begun = time.monotonic()
        time.sleep(flags.seconds)
        old = replicas.both()
        replica, server = next(iter(old.items()))
        killed = time.monotonic()
        os.kill(replica if what == "replica" else server, signal.SIGKILL)
        recovery_s = replicas.new(old)
        recovered = killed + recovery_s
        time.sleep(flags.seconds)
        ended = time.monotonic()
    answered = load.answered
    again = [a for a in answered if a.tries > 1]
    return {
        "killed": what, "requests": len(answered), "sent_again": len(again),
        "lost": sum(a.outcome == "lost" for a in answered), "wrong": sum(a.outcome == "wrong" for a in answered),
        "before_per_s": loads.per_s(answered, begun, killed), "during_per_s": loads.per_s(answered, killed, recovered),
        "after_per_s": loads.per_s(answered, recovered, ended), "recovery_s": recovery_s,
        "longest_gap_s": loads.longest_gap_s(answered, killed, ended), "slowest_s": max(a.ended_s - a.begun_s for a in answered),
        "problems": sorted({problem[:120] for a in again for problem in a.problems})[:8],
    }


def measured(flags):
    import ray
    from ray import serve
    from mete.ray import Settings, deployment
    model, questions = questions_of(flags)
    port = free_port()
    ray.init(num_cpus=max(2, os.cpu_count()), include_dashboard=False, log_to_driver=False,
             runtime_env={"env_vars": {"PYTHONPATH": _package}})
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        settings = Settings(model=str(pathlib.Path(flags.model).resolve()), num_cpus=flags.num_cpus, min_replicas=2, max_replicas=2,
                            mete=str(pathlib.Path(flags.mete).resolve()))
        handle = serve.run(deployment(settings), name="mete", route_prefix="/mete")
        replicas = Replicas(handle)
        url = f"http://127.0.0.1:{port}/mete"
        output.say(f"ray_recovery: {flags.clients} clients ask {url}")
        kills = []
        for what in ("replica", "server"):
            replicas.both()
            kills.append(kill_one(what, url, model, questions, replicas, flags))
            output.say(f"ray_recovery: {what} killed: {kills[-1]}")
        return {"ray": ray.__version__, "model": model, "clients": flags.clients, "num_cpus": flags.num_cpus, "kills": kills}
    finally:
        serve.shutdown()
        ray.shutdown()


def text(document, markdown):
    rows = [["killed", "requests", "sent again", "lost", "wrong", "before, 1/s", "during, 1/s", "after, 1/s", "recovery, s", "longest gap, s",
             "slowest answer, s"]]
    for kill in document["kills"]:
        rows.append([kill["killed"], *(str(kill[name]) for name in ("requests", "sent_again", "lost", "wrong")),
                     *(f"{kill[name]:.0f}" for name in ("before_per_s", "during_per_s", "after_per_s")),
                     *(f"{kill[name]:.2f}" for name in ("recovery_s", "longest_gap_s", "slowest_s"))])
    return tables.aligned(rows, markdown)


def main():
    flags = arguments()
    document = measured(flags)
    output.report(flags, document, text)
    return output.kFailure if any(kill["lost"] or kill["wrong"] for kill in document["kills"]) else output.kSuccess


if __name__ == "__main__":
    sys.exit(main())
