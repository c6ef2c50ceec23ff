"""Times on a fast core and on two cores of unequal speed to efficiencies and tables. Pure: standard library only.

A result is {"model", "speed", "least_ms": {who: [least of each round's burst]}, "line_ns": [of each round, what a cache line took between
the cores], "others_share"}. Who is kFast, the fast core alone; kEven, both as they are with equal slices; kApart, both with a run of
their own each at the same time, or a policy on both, one of them emulated to be slow.
"""
import near
import spread
from tables import aligned, number

kFast, kEven, kApart = "fast", "even", "apart"


def least_of_bursts(times):
    return {who: [round(min(burst), 4) for burst in bursts] for who, bursts in times.items()}


def against(ideal_share, theirs, result):
    """How near `theirs` comes to the fast core's time * ideal_share: in each round (median, mad), and by the least of all rounds."""
    fast, times = result["least_ms"][kFast], result["least_ms"][theirs]
    rounds = spread.spread([f * ideal_share / t for f, t in zip(fast, times)])
    return {"median": rounds["median"], "mad": rounds["mad"], "of_least": min(fast) * ideal_share / min(times)}


def efficiency(result, policy):
    """1 is what cores of speed 1 and `speed` could do at best, were all of the work divisible at no cost."""
    return against(1 / (1 + result["speed"]), policy, result)


def even_speed_up(result):
    return against(1, kEven, result)


def geometric_means(results, policies):
    """[{"speed", "models", "even_speed_up", "median": {who: mean}, "of_least": {who: mean}}], a row a speed; who: kApart or a policy."""
    means = []
    for speed in sorted({r["speed"] for r in results}):
        same = [r for r in results if r["speed"] == speed]

        def mean(key):
            return {who: spread.geometric_mean([efficiency(r, who)[key] for r in same]) for who in [kApart, *policies]}
        means.append({"speed": speed, "models": len(same), "median": mean("median"), "of_least": mean("of_least"),
                      "even_speed_up": spread.geometric_mean([even_speed_up(r)["median"] for r in same])})
    return means


def cell(e):
    return f"{e['median']:.3f} ±{e['mad']:.3f} ({e['of_least']:.3f})"


def table(results, policies, speed, markdown):
    """A row a model, the policies' efficiencies at one speed; the last row has their geometric means."""
    same, whos = [r for r in results if r["speed"] == speed], [kApart, *policies]
    limit_ns = near.limit_ns(results)
    rows = [[f"slow core at {speed:g}", "fast ms", "even speed-up", *whos, "near", "others"]]
    for r in same:
        rows.append([r["model"], number(min(r["least_ms"][kFast])), cell(even_speed_up(r)), *(cell(efficiency(r, who)) for who in whos),
                     near.cell(r, limit_ns, lambda r: f"{efficiency(r, policies[-1])['median']:.3f}"), f"{100 * r['others_share']:.0f} %"])
    mean = geometric_means(same, policies)[0]
    cells = [f"{mean['median'][who]:.3f} ({mean['of_least'][who]:.3f})" for who in whos]
    of_near = [r for r in (near.near_rounds(r, limit_ns) for r in same) if r["line_ns"]]
    near_mean = f"{geometric_means(of_near, policies)[0]['median'][policies[-1]]:.3f}" if len(of_near) == len(same) else "-"
    rows.append(["geometric mean", "", f"{mean['even_speed_up']:.3f}", *cells, near_mean, ""])
    return aligned(rows, markdown)


# Of `adaptive`: the least efficiency that networks shall have, the larger one for those of much work in each layer.
kBars, kBar = dict.fromkeys(("resnet18", "resnet50", "vgg16", "googlenet", "inception_v3"), 0.96), 0.92
kOurs, kPapers = "adaptive", ("asymo", "sani")  # ours, and the policies of papers
kAhead = 1.02  # a policy is ahead of ours from so many times its efficiency on: less is within what rounds scatter


def _at_bar(results, key):
    return sum(efficiency(r, kOurs)[key] >= kBars.get(r["model"], kBar) for r in results)


def _gains(mean):
    return ", ".join(f"{100 * (mean[kOurs] / mean[paper] - 1):.1f} %" for paper in kPapers)


def _ahead(results, policies):
    """The policies that are ahead of ours by medians, and by how much."""
    for r in results:
        times = {p: efficiency(r, p)["median"] / efficiency(r, kOurs)["median"] for p in policies if p != kOurs}
        ahead = [f"{p} {100 * (t - 1):.1f} %" for p, t in times.items() if t > kAhead]
        if ahead:
            yield f"{r['model']}: {', '.join(ahead)}"


def bars_table(documents, markdown):
    """A row a document, each of one speed: how many models reach their bar, and how far ours is ahead of others."""
    papers = ", ".join(f"`{p}`" for p in kPapers)
    rows = [["slow core at", "models", f"at {max(kBars.values()):g} or {kBar:g}", "by least times", f"ahead of {papers}", "by least times",
             "a policy ahead by more than 2 %"]]
    for document in documents:
        results, mean = document["results"], document["geometric_means"][0]
        rows.append([f"{mean['speed']:g}", str(len(results)), *(str(_at_bar(results, key)) for key in ("median", "of_least")),
                     *(_gains(mean[key]) for key in ("median", "of_least")), "; ".join(_ahead(results, document["policies"])) or "none"])
    return aligned(rows, markdown)
