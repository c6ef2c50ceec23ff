"""How the runs of a folder were measured: written before the first of them; a start with another setting is refused."""
import json
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import cells
import machine
import output
import sources

kName = "setting.json"


class OtherSetting(RuntimeError):
    pass


def of(flags, photos, program):
    """`photos`: (photo, size); `program`: the digest of what is measured."""
    return {"machine": machine.describe()["cpu"], "commit": sources.state(), "program": program, "speed": flags.speed, "limit_s": flags.limit, "rounds": flags.rounds,
            "cores": list(flags.cores), "models": list(flags.models), "links": list(flags.links), "states": list(flags.states), "sizes": list(flags.sizes),
            "photos": flags.photos, "warm_ups": [list(photo) for photo in cells.warm_ups(photos, flags.sizes[-1])]}


def read(folder):
    with open(os.path.join(folder, kName), encoding="utf-8") as file:
        return json.load(file)


def begin(folder, setting):
    """Keeps the setting of a new folder; compares that of another start."""
    if not os.path.exists(os.path.join(folder, kName)):
        if os.path.exists(os.path.join(folder, "runs.csv")):
            raise OtherSetting(f"[{folder}] runs without a setting; got none, expected {kName}; try another --folder")
        return output.write_json(os.path.join(folder, kName), {**setting, "seconds": 0})
    kept = read(folder)
    for name, value in setting.items():
        if kept.get(name) != value:
            raise OtherSetting(f"[{folder}] its runs have another {name}; got {value}, expected {kept.get(name)}; try another --folder")
    return None


def end(folder, seconds):
    """Adds what a start took that came to its end."""
    kept = read(folder)
    output.write_json(os.path.join(folder, kName), {**kept, "seconds": kept["seconds"] + seconds})
