"""Two workers that run at the same time, each a model of its own on a core of its own: what the cores can do when neither waits for the
other or reads what it wrote. A division of one run does better only where two caches hold what one does not."""
import math
import statistics


class Apart:
    """Asked like one worker. The time of a run is that after which both together have done one more, by the least time of each."""

    def __init__(self, fast, slow):
        self.fast, self.slow = fast, slow
        self.slow_over_fast = 1  # of a run, not below 1; the first question finds out

    def ask(self, do, runs, warm=0):
        """`runs`: of the fast one at least. Both are busy as long as either has runs that count, so that the slow one makes two more."""
        counted, beyond = math.ceil(runs / self.slow_over_fast), 2
        self.slow.send(do=do, warm=warm, runs=counted + beyond)
        self.fast.send(do=do, warm=warm, runs=math.ceil((warm + counted) * self.slow_over_fast))
        fast, slow = self.fast.answer()["ns"], self.slow.answer()["ns"][:counted]
        self.slow_over_fast = max(1, statistics.median(slow) / max(statistics.median(fast), 1))
        return {"ns": [together(min(fast), min(slow))]}


def together(fast, slow):
    return fast * slow / max(fast + slow, 1)
