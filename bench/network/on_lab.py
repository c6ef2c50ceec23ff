"""Mete's commands and workers on hosts of a lab (tools/lab), for measurements of networks."""
import json
import os

import lab
import networks
from output import kBadFile, kFailure, kSuccess, say

kPort = 7077
kTimeoutS = 10000  # of one command; guess: a full search of Inception v3's groups is the longest


class Failed(RuntimeError):
    pass


def mete(flags, host, cache, *words):
    """What a command answers that runs on a host."""
    done = host.run(["env", f"METE_CACHE={cache}", flags.mete, *words, "--json"], timeout=kTimeoutS)
    if done.returncode != 0:
        raise Failed(f"[{words[1]}] mete {words[0]}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def start_worker(flags, host, folder, *words):
    """Returns the address of a worker that listens."""
    address = f"{host.address}:{kPort}"
    command = ["env", f"METE_CACHE={folder}/worker", flags.mete, "worker", "--listen", address, "--insecure", *words]
    host.await_port(host.start(command, log=os.path.join(folder, "worker.txt")), kPort)
    return address


def exit_code(name, run):
    """The code with which a program ends that does `run()`; what goes wrong is told."""
    try:
        run()
    except networks.BadModel as problem:
        say(f"{name}: {problem}")
        return kBadFile
    except (Failed, lab.LabError) as problem:
        say(f"{name}: {problem}")
        return kFailure
    return kSuccess
