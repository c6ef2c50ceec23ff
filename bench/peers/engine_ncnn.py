"""ncnn on the files that convert.py made: f32 throughout (no 16-bit storage, packing or arithmetic), or bf16 as ncnn stores it; its pool allocators,
Winograd and the rest as it comes."""
import os

import ncnn
import numpy as np

kReduced = ("use_fp16_storage", "use_fp16_packed", "use_fp16_arithmetic", "use_bf16_storage", "use_bf16_packed",
            "use_int8_inference", "use_int8_storage", "use_int8_packed", "use_int8_arithmetic")
kReported = ("num_threads", "use_fp16_storage", "use_bf16_storage", "use_packing_layout", "use_winograd_convolution",
             "use_sgemm_convolution")
kNarrower = {"int64": "int32"}  # ncnn has no 64-bit integers; pnnx changes the inputs' type, too


class Engine:
    version = ncnn.__version__

    def __init__(self, config):
        self.inputs = {name: np.load(path) for name, path in config["inputs"].items()}

    def load(self, config):
        converted = config["ncnn"]
        ncnn.set_omp_dynamic(0)
        ncnn.set_omp_num_threads(config["threads"])
        self.net = ncnn.Net()
        options = self.net.opt
        options.num_threads = config["threads"]
        options.use_vulkan_compute = False
        for name in kReduced:
            setattr(options, name, config["precision"] == "bf16" and "bf16" in name)
        self.allocators = ncnn.UnlockedPoolAllocator(), ncnn.PoolAllocator()  # must outlive the net
        options.blob_allocator, options.workspace_allocator = self.allocators
        self._must(self.net.load_param(converted["param"]), "load_param")
        self._must(self.net.load_model(converted["bin"]), "load_model")
        self.mats = []
        for (name, batch), value in zip(converted["inputs"], self.inputs.values()):
            value = np.ascontiguousarray(value, kNarrower.get(str(value.dtype), value.dtype))
            self.mats.append((name, (ncnn.Mat(value) if batch is None else ncnn.Mat(value, batch_index=batch)).clone()))
        self.names = self.net.output_names()
        return {name: getattr(options, name) for name in kReported}

    def _must(self, code, what):
        if code != 0:
            raise RuntimeError(f"[ncnn] {what} gave {code}")

    def run(self):
        extractor = self.net.create_extractor()
        for name, mat in self.mats:
            extractor.input(name, mat)
        self.outputs = []
        for name in self.names:
            code, out = extractor.extract(name)
            self._must(code, f"extract({name})")
            self.outputs.append(out)

    def save(self, folder):
        files = []
        for i, out in enumerate(self.outputs):
            files.append(os.path.join(folder, f"{i}.npy"))
            np.save(files[-1], np.array(out))
        return files
