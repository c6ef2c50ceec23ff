"""A model made ready for the peers, and how to start each one's worker."""
import json
import os
import sys

import beside
import convert
import networks
import tensors

kPeers = ("onnxruntime", "openvino", "ncnn")
kChains = ("onnxruntime",)  # peers whose workers run chains (beside.py)
kTolerance = 1e-4  # of the largest output: f32 summed in another order, through some 100 layers, stays an order of magnitude below
# 8-bit networks: engines that round in another order differ in some bytes of each layer. OpenVINO's outputs differed by up to 0.13 of the largest
# (networks of the zoo, whose weights are random); a wrong kernel gives an unrelated answer, whose difference is near 1.
kByteTolerance = 0.3
# bf16: each operand of a product is off by up to 2^-8 of itself. If the errors of 100 layers with two operands each are independent, the answer is off
# by 2^-8 * sqrt(200) = 0.055 of its values; this is twice that.
kHalfTolerance = 0.11
_kWorker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")


class PreparedNode:
    """The model's path for peers and for Mete, its `ports` as `mete inspect` tells them, its `inputs` {name: .npy}, and `reasons` {peer that cannot: why}."""

    def __init__(self, path, ports, inputs):
        self.path, self.ports, self.inputs, self.beside = path, ports, inputs, beside.Beside(path)
        self.mete_path = self.beside.mete_files[0]
        self.converted, self.reasons = None, {}

    def input_words(self):
        """For Mete."""
        return [word for name, file in self.inputs.items() for word in ("--input", f"{name}={file}")] + self.beside.words()

    def can(self, engine):
        return engine not in self.reasons

    def command(self, engine, threads, precision="f32"):
        config = {"model": self.path, "threads": threads, "precision": precision, "inputs": self.inputs, "ncnn": self.converted,
                  **self.beside.chain()}
        return [sys.executable, _kWorker, engine, json.dumps(config)]


def prepare(mete, name, path, peers, work, shape_words=()):
    """Writes inputs, and for ncnn the converted model, into the folder `work`."""
    ports = networks.mete(mete, "inspect", path, *beside.Beside(path).shape_words(), *shape_words)["inputs"]
    prepared = PreparedNode(path, ports, tensors.make_inputs(ports, name, work))
    if prepared.beside.is_chain():
        prepared.reasons = {peer: "its worker runs no chains" for peer in peers if peer not in kChains}
    if "ncnn" in peers and prepared.can("ncnn"):
        try:
            prepared.converted = convert.convert(path, ports, os.path.join(work, "ncnn"))
        except convert.NotConverted as reason:
            prepared.reasons["ncnn"] = f"not converted: {reason}"
    return prepared
