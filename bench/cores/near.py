"""Rounds in which two cores were near each other. Pure: standard library only.

A result's "line_ns" has of each round what a cache line took from one core to the other; its times by round, {who: [of each round]}, stand
under one of kTimes. A host moves virtual cores about.
"""
# Near is a round in which a cache line took at most so many times the least seen: on an EPYC host it took 27 ns within one third-level
# cache and 160 ns across dies, and nothing between.
kNear = 2
kTimes = ("least_ms", "median_ms", "ms")


def line_of_rounds(marks):
    """What counts for each round, from the times before the first one and after each: the longer of its two."""
    return [max(before, after) for before, after in zip(marks, marks[1:])]


def limit_ns(results):
    return kNear * min(min(r["line_ns"]) for r in results)


def near_rounds(result, most_ns):
    """The same of the rounds in which a line took no longer."""
    near = [i for i, ns in enumerate(result["line_ns"]) if ns <= most_ns]
    times = {key: {who: [of_round[i] for i in near] for who, of_round in result[key].items()} for key in kTimes if key in result}
    return {**result, **times, "line_ns": [result["line_ns"][i] for i in near]}


def cell(result, most_ns, text):
    """text(result of near rounds), and how many of all they are."""
    near, of = near_rounds(result, most_ns), len(result["line_ns"])
    count = len(near["line_ns"])
    return f"{text(near) if count else '-'} ({count} of {of})"


def words(results):
    times = [ns for r in results for ns in r["line_ns"]]
    if not times:
        return ""
    return (f"the rounds before and after which a cache line passed from one core to the other in at most {kNear} times the least that was "
            f"seen, and how many of all rounds they are. It took {min(times):.0f} to {max(times):.0f} ns.")
