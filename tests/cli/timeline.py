"""Whether a trace keeps the rules of Chrome's Trace Event Format that viewers rely on. Standard library only."""

kSmall = 1e-6  # us; times are nanoseconds that were divided


def problems(trace):
    """What is wrong with a trace, a line each; nothing where it is sound."""
    events = trace["traceEvents"]
    names = {kind: {} for kind in ("process_name", "thread_name")}
    for e in events:
        if e["ph"] == "M" and e["name"] in names:
            names[e["name"]][place(e) if e["name"] == "thread_name" else e["pid"]] = e["args"]["name"]
    found = []
    for e in events:
        if e["pid"] <= 0 or e.get("tid", 1) <= 0:
            found.append(f"a process or lane with a number of 0 or less: {e}")
        if not names["process_name"].get(e["pid"]):
            found.append(f"process {e['pid']} has no name")
        if "tid" in e and not names["thread_name"].get(place(e)):
            found.append(f"lane {place(e)} has no name")
    slices = [e for e in events if e["ph"] == "X"]
    return found + [p for lane in names["thread_name"] for p in overlaps([s for s in slices if place(s) == lane])] + arrow_problems(events, slices)


def place(event):
    return (event["pid"], event["tid"])


def end(piece):
    return piece["ts"] + piece["dur"]


def overlaps(slices):
    """Slices of a lane lie inside of each other or do not touch."""
    found, open_slices = [], []
    for s in sorted(slices, key=lambda s: (s["ts"], -s["dur"])):
        if s["ts"] < -kSmall or s["dur"] < -kSmall:
            found.append(f"'{s['name']}' ends before it begins, or begins before the run: {s['ts']} + {s['dur']}")
        while open_slices and end(open_slices[-1]) <= s["ts"] + kSmall:
            open_slices.pop()
        if open_slices and end(s) > end(open_slices[-1]) + kSmall:
            found.append(f"'{s['name']}' begins inside of '{open_slices[-1]['name']}' and ends behind it")
        open_slices.append(s)
    return found


def arrow_problems(events, slices):
    """Each arrow has one begin and one end, in this order, each inside of a slice, in two lanes."""
    begins, ends = ({e["id"]: e for e in events if e["ph"] == kind} for kind in "sf")
    found = [f"arrow {i} has a begin or an end alone" for i in begins.keys() ^ ends.keys()]
    if len(begins) + len(ends) != sum(e["ph"] in "sf" for e in events):
        found.append("two arrows have one number")
    for i in begins.keys() & ends.keys():
        if begins[i]["ts"] > ends[i]["ts"] + kSmall:
            found.append(f"arrow {i} ends before it begins")
        if place(begins[i]) == place(ends[i]):
            found.append(f"arrow {i} stays in its lane")
        for e in (begins[i], ends[i]):
            if not any(place(s) == place(e) and s["ts"] - kSmall <= e["ts"] <= end(s) + kSmall for s in slices):
                found.append(f"arrow {i} is not at a slice in lane {place(e)}")
    return found


def lanes(trace):
    """The names of all lanes, by process."""
    events = trace["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    found = {name: [] for name in processes.values()}
    for e in events:
        if e["name"] == "thread_name":
            found[processes[e["pid"]]].append(e["args"]["name"])
    return found
