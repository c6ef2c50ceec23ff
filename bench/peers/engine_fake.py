"""The engine of the tests: it counts its runs among its settings, and saves text instead of tensors. A run adds numbers for some microseconds,
because the times of runs are kept to a tenth of a microsecond and divided by each other."""
import os


class Engine:
    version = "0"

    def __init__(self, config):
        if config.get("missing"):
            raise ImportError("no module named fake")

    def load(self, config):
        self.settings = {"label": config.get("label", ""), "runs": 0}
        print("noise on stdout")
        return self.settings

    def run(self):
        self.settings["runs"] += 1
        sum(range(1000))

    def save(self, folder):
        path = os.path.join(folder, "0.npy")
        with open(path, "w") as file:
            file.write("nothing")
        return [path]
