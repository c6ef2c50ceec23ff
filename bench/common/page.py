"""A page of results that a command makes of simulations: written whole, or not at all."""
import os

import networks
from output import kBadFile, kFailure, kSuccess, say, write_whole


def write(folder, name, make):
    """Writes make() as folder/name; returns the exit status."""
    try:
        text = make()
        os.makedirs(folder, exist_ok=True)
        write_whole(os.path.join(folder, name), text)
    except networks.BadModel as problem:
        say(problem)
        return kBadFile
    except OSError as problem:
        say(f"[reproduce] {problem}")
        return kFailure
    say(f"wrote {os.path.join(folder, name)}")
    return kSuccess
