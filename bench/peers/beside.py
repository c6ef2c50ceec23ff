"""What a comparison knows of a model beside its file: the table NAME.json beside NAME.onnx, where there is one.

    {"feed": {"past": "present"}, "steps": 64}    a run is a chain of steps, each but the first on outputs of the one before
    {"mete": ["net.prototxt", "net.caffemodel"]}  Mete opens the first of these files; NAME.onnx is its twin for engines that read no such files
    {"shapes": ["past=1"]}                        sizes of the inputs that the file leaves open, as `mete --shape` takes them
    {"tolerance": 1e-5}                           how far outputs may lie apart, of the largest
"""
import json
import os

kKeys = {"feed", "steps", "mete", "shapes", "tolerance"}


class BadTable(ValueError):
    pass


class Beside:
    def __init__(self, path):
        """`path` is that of the .onnx file."""
        table = _table(f"{os.path.splitext(path)[0]}.json")
        self.feed, self.steps, self.tolerance = table.get("feed", {}), table.get("steps", 1), table.get("tolerance")
        self.shapes = table.get("shapes", [])
        self.mete_files = [os.path.join(os.path.dirname(path), file) for file in table["mete"]] if "mete" in table else [path]

    def shape_words(self):
        """For `mete inspect`, which says the inputs' shapes."""
        return [word for shape in self.shapes for word in ("--shape", shape)]

    def is_chain(self):
        return bool(self.feed)

    def chain(self):
        """For a worker's configuration."""
        return {"feed": self.feed, "steps": self.steps} if self.feed else {}

    def words(self):
        """For `mete bench`."""
        return [word for name, of in self.feed.items() for word in ("--feed", f"{name}={of}")] + (["--steps", str(self.steps)] if self.feed else [])


def write(path, **table):
    """Beside the .onnx file `path`."""
    with open(f"{os.path.splitext(path)[0]}.json", "w") as file:
        json.dump(table, file, indent=1)


def _table(path):
    if not os.path.isfile(path):
        return {}
    with open(path) as file:
        table = json.load(file)
    if not isinstance(table, dict) or not table.keys() <= kKeys:
        raise BadTable(f"[{path}] not a table beside a model; got {table!r:.200}, expected an object with some of {sorted(kKeys)}")
    return table
