"""OpenVINO: the CPU device reading the ONNX file itself, for latency, one stream, in the precision that is asked for, pinned within the process's cores."""
import os

import numpy as np
import openvino as ov

kAsked = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "ENABLE_CPU_PINNING": True}
kReported = ("NUM_STREAMS", "INFERENCE_NUM_THREADS", "INFERENCE_PRECISION_HINT", "ENABLE_CPU_PINNING")


class Engine:
    version = ov.__version__.partition("-")[0]

    def __init__(self, config):
        self.inputs = {name: np.load(path) for name, path in config["inputs"].items()}

    def load(self, config):
        core = ov.Core()
        model = core.read_model(config["model"])
        if model.is_dynamic():
            model.reshape({name: list(value.shape) for name, value in self.inputs.items()})
        self.compiled = core.compile_model(model, "CPU", {**kAsked, "INFERENCE_PRECISION_HINT": config["precision"],
                                                        "INFERENCE_NUM_THREADS": config["threads"]})
        self.request = self.compiled.create_infer_request()
        for name, value in self.inputs.items():
            self.request.set_tensor(name, ov.Tensor(value))
        return {name: self._setting(name) for name in kReported}

    def _setting(self, name):
        value = self.compiled.get_property(name)
        return value if isinstance(value, (bool, int)) else getattr(value, "get_type_name", value.__str__)()

    def run(self):
        self.request.infer(share_outputs=True)

    def save(self, folder):
        files = []
        for i in range(len(self.compiled.outputs)):
            files.append(os.path.join(folder, f"{i}.npy"))
            np.save(files[-1], self.request.get_output_tensor(i).data)
        return files
