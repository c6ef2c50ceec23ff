"""How much of a shared host a machine gets from moment to moment, whatever Mete does: how fast its cores are, and for how long they are taken away."""
import os
import statistics
import threading
import time
import zlib

_kBytes = bytes(range(256)) * 64  # 16 KiB, which stay in a core's first cache: the work tells of the core, not of memory
_kRounds, _kTimes = 100, 9  # each 0.5 ms of a core of 2026, and the median of so many: a core that was idle takes the first ones to wake; guesses


def work_ms(cores):
    """The processor time that a fixed work takes on each of the cores, which do it at once, as they may share a core of the host. Neither a load of another
    process (tools/slowcore) counts, nor the time for which the host takes a core away (taken_ms)."""
    times = [None] * len(cores)
    threads = [threading.Thread(target=_work, args=(core, times, i)) for i, core in enumerate(cores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def _work(core, times, i):
    os.sched_setaffinity(0, {core})  # of this thread
    times[i] = statistics.median(_once_ms() for _ in range(_kTimes))


def _once_ms():
    begin_ns = time.thread_time_ns()
    sum_ = 0
    for _ in range(_kRounds):
        sum_ = zlib.crc32(_kBytes, sum_)
    return (time.thread_time_ns() - begin_ns) * 1e-6


def taken_ms(cores, path="/proc/stat"):
    """For how long the host has taken each of the cores away while they had work, since the machine has begun; counted in ticks (10 ms)."""
    tick_ms = 1e3 / os.sysconf("SC_CLK_TCK")
    with open(path, encoding="utf-8") as file:
        lines = {words[0]: words for words in map(str.split, file)}
    return [tick_ms * int(lines[f"cpu{core}"][8]) for core in cores]
