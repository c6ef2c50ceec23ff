"""No engine at all: sleeps config["ms"] a run; for the tests. Saves text instead of tensors."""
import os
import time


class Engine:
    version = "0"

    def __init__(self, config):
        if config.get("missing"):
            raise ImportError("no module named fake")

    def load(self, config):
        self.seconds = config["ms"] / 1e3
        print("noise on stdout")
        return {"ms": config["ms"]}

    def run(self):
        time.sleep(self.seconds)

    def save(self, folder):
        path = os.path.join(folder, "0.npy")
        with open(path, "w") as file:
            file.write("nothing")
        return [path]
