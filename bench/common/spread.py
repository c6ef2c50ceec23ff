"""Robust statistics of timings. Standard library only."""
import math
import statistics


def spread(samples):
    """Median, median absolute deviation from it, least and count."""
    middle = statistics.median(samples)
    return {"median": middle, "mad": statistics.median(abs(s - middle) for s in samples), "least": min(samples), "count": len(samples)}


def paired_ratio(ours, theirs):
    """The median over rounds of our burst's median over theirs: what disturbs a round disturbs both of its bursts."""
    return statistics.median(round_ratios(ours, theirs, statistics.median))


def round_ratios(ours, theirs, of):
    """Our burst over theirs in each round, a burst told by `of` its runs."""
    return [of(a) / of(b) for a, b in zip(ours, theirs)]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def burst_runs(run_ms, burst_ms, least=2, most=500):
    """How many runs fill a burst. `least`: a median needs company; `most`: keeps the answers of tiny models short (guess)."""
    return max(least, min(most, round(burst_ms / run_ms)))


def quantile(samples, q):
    """Between the closest ranks in proportion, as `mete bench` does."""
    ordered = sorted(samples)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])
