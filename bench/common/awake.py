"""Keeps cores from being idle while something is measured.

A host may put virtual cores that are idle on one physical core, and takes seconds to part them again once both are busy: until then two threads
take as long as one after the other. A loop of the scheduling class SCHED_IDLE on each core keeps the cores busy. It runs only while nothing else
wants the core, so that it takes next to no time from what is measured.
"""
import contextlib
import os
import subprocess
import sys

_LOOP = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
print(flush=True)
while os.getppid() == int(sys.argv[2]):
    for _ in range(1000000):
        pass
"""


@contextlib.contextmanager
def awake(cores):
    """While this lasts, each of the cores has a loop; gives their ids. The loops end with this process."""
    loops = []
    try:
        for core in cores:
            loops.append(subprocess.Popen([sys.executable, "-c", _LOOP, str(core), str(os.getpid())], stdout=subprocess.PIPE))
        for loop in loops:
            loop.stdout.readline()  # it runs in its class
        yield [loop.pid for loop in loops]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
            loop.stdout.close()
