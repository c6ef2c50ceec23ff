"""What a lab leaves behind if nobody cleans up: processes and namespaces, found by the lab's name, which says who owns it.

As a program (leftovers.py NAME) it is a lab's warden: it waits for the end of its stdin, which only the owner holds open, and removes what
is left. So it does not matter how the owner ended. It is no child of the owner, and in no group that is killed with it. Where it was
killed too, the next lab removes what is left.
"""
import os
import re
import signal
import subprocess
import sys
import time

import links

kMark = "METE_LAB"  # the variable in which every program of a lab has the lab's name
kName = re.compile(r"(mete-lab-(\d+)-(\d+)-\d+)(-.+)?")
kEndS = 10  # guess: until a killed process is gone, on a busy machine


def new_name(count):
    """With the owner's start, as its number may be another process's later."""
    return f"mete-lab-{os.getpid()}-{_start(os.getpid())}-{count}"


def namespaces(name):
    return [file for file in _namespaces() if kName.fullmatch(file)[1] == name]


def remove(name):
    """Ends every process of the lab, and removes its namespaces."""
    _end_processes(name)
    for namespace in namespaces(name):
        links.remove(namespace)


def remove_abandoned():
    """{name: None, or why it is still there} of the labs whose owners are gone."""
    names = {kName.fullmatch(file)[1] for file in _namespaces()} | set(filter(None, map(marked, _processes())))
    return {name: _tried(name) for name in sorted(names) if not _has_owner(name)}


def _tried(name):
    try:
        remove(name)
    except links.LabError as problem:  # of another user, mostly, who is no business of ours
        return str(problem)
    return None


def start_warden(name):
    """What to close in the end. The warden holds nothing of ours: no pipe that somebody reads, no folder, no terminal."""
    process = subprocess.Popen(["setsid", "--fork", sys.executable, os.path.abspath(__file__), name], cwd="/", stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "PATH": links.kPath})
    process.wait()  # setsid; the warden itself is its child
    return process.stdin


def _namespaces():
    try:
        return list(filter(kName.fullmatch, os.listdir(os.path.dirname(links.file_of("any")))))
    except FileNotFoundError:
        return []


def _processes():
    return [int(pid) for pid in os.listdir("/proc") if pid.isdecimal()]


def marked(pid):
    """The lab's name in a process's environment, or None."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            words = file.read().split(b"\0")
    except OSError:  # another user's, or it has just ended
        return None
    found = next((word for word in words if word.startswith(kMark.encode() + b"=")), b"=").partition(b"=")[2].decode(errors="replace")
    return found if kName.fullmatch(found) else None


def is_inside(pid, namespace):
    return _identity(f"/proc/{pid}/ns/net") in {_identity(links.file_of(namespace))} - {None}


def _identity(path):
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except OSError:
        return None


def _end_processes(name):
    """In rounds, as what is ended may start another meanwhile."""
    inside = {_identity(links.file_of(namespace)) for namespace in namespaces(name)} - {None}

    def ours(pid):
        return pid != os.getpid() and (_identity(f"/proc/{pid}/ns/net") in inside or marked(pid) == name)

    end = time.monotonic() + kEndS
    while any([_end(pid, ours) for pid in _processes() if ours(pid)]) and time.monotonic() < end:
        time.sleep(0.01)


def _end(pid, ours):
    """Whether there was somebody to end. The descriptor is of one process, whoever gets its number when it ends before we ask again."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if ours(pid):
            signal.pidfd_send_signal(process, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return True
    except PermissionError:  # it has become another user's
        return False
    finally:
        os.close(process)


def _status(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def _start(pid):
    return int(_status(pid)[19])


def _has_owner(name):
    _, pid, start, _ = kName.fullmatch(name).groups()
    try:
        state = _status(pid)
    except OSError:
        return False
    return state[0] not in "ZX" and int(state[19]) == int(start)


if __name__ == "__main__":
    sys.stdin.read()
    remove(sys.argv[1])
