"""Two workers that run at the same time, each a model of its own on a core of its own: what the cores can do when neither waits for the
other or reads what it wrote. A division of one run does better only where two caches hold what one does not."""
import math
import statistics


class Apart:
    """Asked like one worker. The time of a run is that after which both together have done one more, by the least time of each."""

    def __init__(self, fast, slow):
        self.fast, self.slow = fast, slow
        self.slow_over_fast = 1  # of a run; the first question finds out

    def ask(self, do, runs, warm=0):
        last = 1  # the slow one's ends when the fast one is done already
        self.slow.send(do=do, warm=warm, runs=last + math.ceil(runs / self.slow_over_fast))
        self.fast.send(do=do, warm=warm, runs=runs)
        fast, slow = self.fast.answer()["ns"], self.slow.answer()["ns"][:-last]
        self.slow_over_fast = statistics.median(slow) / max(statistics.median(fast), 1)
        return {"ns": [together(min(fast), min(slow))]}


def together(fast, slow):
    return fast * slow / max(fast + slow, 1)
