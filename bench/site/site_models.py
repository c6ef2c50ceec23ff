"""The models of the experiment, each a file of the server and one of the device, which leave memory apart."""
import os
import shutil
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import networks
from scene import kRecipe

kModels = {"squeezenet_v1.1": 227, "alexnet": 227, "nin": 224}  # pixels of the input, a side


class SiteModel:
    def __init__(self, name, source, folder, pixels):
        self.name = name
        self.server, self.device = (os.path.join(folder, where, f"{name}.onnx") for where in ("models", "device-models"))
        for path in (self.server, self.device):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if not os.path.exists(path) or os.path.getsize(path) != os.path.getsize(source):
                shutil.copyfile(source, path)
            with open(path.replace(".onnx", ".toml"), "w", encoding="utf-8") as file:
                file.write(kRecipe.format(size=pixels))


def models_of(flags, folder):
    """SqueezeNet has its real weights; the others are of the zoo, with random ones."""
    made = []
    for name in flags.models:
        source = os.path.join(flags.shared, "models", f"{name}.onnx")
        if not os.path.exists(source):
            source = networks.model_file(flags.mete, name, flags.work)[1]
        made.append(SiteModel(name, source, folder, kModels[name]))
    return made
