"""How fast a shared host lets a core be: it gives a virtual core more or less of a physical one from moment to moment, whatever Mete does."""
import os
import statistics
import time
import zlib

_kBytes = bytes(range(256)) * 64  # 16 KiB, which stay in a core's first cache: the work tells of the core, not of memory
_kRounds, _kTimes = 100, 9  # each 0.5 ms of a core of 2026, and the median of so many: a core that was idle takes the first ones to wake; guesses


def work_ms(core):
    """The processor time that a fixed work takes on a core: a load of another process on it (tools/slowcore) does not count, the host's share does."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        return statistics.median(_once_ms() for _ in range(_kTimes))
    finally:
        os.sched_setaffinity(0, allowed)


def _once_ms():
    begin_ns = time.thread_time_ns()
    sum_ = 0
    for _ in range(_kRounds):
        sum_ = zlib.crc32(_kBytes, sum_)
    return (time.thread_time_ns() - begin_ns) * 1e-6
