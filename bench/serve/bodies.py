#!/usr/bin/env python3
"""Writes a request for the model NAME of a server as files for load generators: bodies.py MODEL FOLDER [NAME]

rest.body has a tensor in bytes behind the JSON whose length is printed, and grpc.body the same tensor as a framed message of gRPC. Standard
library only.
"""
import argparse
import array
import json
import math
import os
import pathlib
import random
import struct
import sys

_root = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path[:0] = [os.path.join(_root, "bench", "common"), os.path.join(_root, "tests", "cli")]
import networks
from onnx_files import message, varint


def tensor_of(mete, path, seed):
    """(name, shape, bytes) of seeded numbers for the input of a model."""
    inputs = networks.mete(mete, "inspect", path)["inputs"]
    if len(inputs) != 1 or inputs[0]["type"] != "f32" or not all(isinstance(dim, int) and dim > 0 for dim in inputs[0]["shape"]):
        got = ", ".join(f"{port['type']} {port['shape']}" for port in inputs)
        raise networks.BadModel(f"[{path}] no requests can be made for its inputs; got {got}, expected one of f32 with known sizes")
    tensor, elements = inputs[0], math.prod(inputs[0]["shape"])
    values = random.Random(seed)
    return tensor["name"], tensor["shape"], array.array("f", (values.uniform(-2, 2) for _ in range(elements))).tobytes()


def request_of(mete, path, seed):
    """(body, bytes of its JSON): a tensor of seeded numbers in bytes."""
    name, shape, data = tensor_of(mete, path, seed)
    text = json.dumps({"inputs": [{"name": name, "datatype": "FP32", "shape": shape, "parameters": {"binary_data_size": len(data)}}],
                       "parameters": {"binary_data_output": True}}).encode()
    return text + data, len(text)


def framed_message(mete, path, seed, model):
    """A ModelInferRequest (open_inference.proto) behind the five bytes that gRPC puts before a message."""
    name, shape, data = tensor_of(mete, path, seed)
    tensor = message(1, name) + message(2, "FP32") + message(3, b"".join(varint(dim) for dim in shape))
    request = message(1, model) + message(5, tensor) + message(7, data)
    return struct.pack(">?I", False, len(request)) + request


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("model", metavar="MODEL", help="a network of one input")
    p.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="where the files go; it is made")
    p.add_argument("name", metavar="NAME", nargs="?", default="net", help="of the model at the server (default: net)")
    p.add_argument("--mete", default=os.path.join(_root, "build", "release", "mete"), metavar="FILE", help="the program")
    flags = p.parse_args()
    try:
        body, json_bytes = request_of(flags.mete, flags.model, 1)
        message_of_grpc = framed_message(flags.mete, flags.model, 1, flags.name)
    except networks.BadModel as problem:
        sys.exit(f"bodies.py: {problem}")
    flags.folder.mkdir(parents=True, exist_ok=True)
    (flags.folder / "rest.body").write_bytes(body)
    (flags.folder / "grpc.body").write_bytes(message_of_grpc)
    print(json_bytes)


if __name__ == "__main__":
    main()
