"""Pages of results that a command makes of simulations: all are written, each whole, or none where a simulation fails."""
import os

import networks
from output import kBadFile, kFailure, kSuccess, say, write_whole


def write(folder, make):
    """Writes the texts of make(), which has them by the names of their files, into the folder; returns the exit status."""
    try:
        pages = make()
        os.makedirs(folder, exist_ok=True)
        for name, text in pages.items():
            write_whole(os.path.join(folder, name), text)
    except networks.BadModel as problem:
        say(problem)
        return kBadFile
    except OSError as problem:
        say(f"[reproduce] {problem}")
        return kFailure
    say("wrote " + " and ".join(os.path.join(folder, name) for name in pages))
    return kSuccess
