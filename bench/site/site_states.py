"""How a new process finds the state that is asked for, and which of its answers count."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import device
import pages
from output import say
from site_names import kSteps, kWays

kTries = 3    # until an answer counts; guess
kPatience = 4  # src/plan/site/plan_site.cc: a way is given up after so many times of what is foreseen, or later


class PagesStay(device.DeviceFailed):
    pass


class NoAnswer(device.DeviceFailed):
    pass


def reach(state, files):
    """Before the start of a process, which reads `files`; the pages of them that are in memory then."""
    if state == "killed":
        pages.read_through(files)
    elif pages.evict(files):
        raise PagesStay(f"[{state}] pages stay in memory; got {pages.pages_of(files)}, expected none")
    return pages.pages_of(files)


def given_up_ms(done, way, limit_ms=0):
    """For how long the program has waited for a way, where the device has answered instead because that took too long; nothing: the way failed."""
    waited = done["whole_ms"] - sum(done["steps"][step] for step in kSteps if step != "upload_ms")
    foreseen = sum(done["planned"].get(kWays[way], {}).get(step, 0) for step in kSteps)
    return waited if waited >= (limit_ms or kPatience * foreseen) > 0 else None


def why_not(done, state, way):
    """Why an answer is none of this way in this state; empty: it is one."""
    if done["state"] != state:
        return f"the program found another state; got {done['state']}, expected {state}"
    if done["measured_first"]:
        return f"the program measured before it answered; got {done['measured_first']}"
    return "" if done["way"] == kWays[way] else f"another way answered; got {done['way']}, expected {kWays[way]}: {done['fell_back']}"


def answered(attempt, state, way, limit_ms=0):
    """(answer, bound): the first answer that counts. `bound` is ">" where the way was given up, which takes longer than whole_ms then."""
    for _ in range(kTries):
        done = attempt()
        why = why_not(done, state, way)
        if not why:
            return done, ""
        bound = given_up_ms(done, way, limit_ms)
        if bound is not None and done["state"] == state and not done["measured_first"]:
            return {**done, "whole_ms": bound, "steps": {}}, ">"
        say(f"[{state}, {way}] {why}")
    raise NoAnswer(f"[{state}, {way}] no answer counts of {kTries}; the last: {why}")
