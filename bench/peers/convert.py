"""An ONNX file to ncnn's format with pnnx, the converter of ncnn's authors. Its wheel holds a program that needs no PyTorch."""
import importlib.util
import os
import re
import subprocess

from protocol import last_words

kLimitS = 600  # guess: VGG-16 takes some seconds


class NotConverted(RuntimeError):
    """Its text is the reason, fit for a table."""


def program():
    found = importlib.util.find_spec("pnnx")
    if found is None:
        raise NotConverted("pnnx is not installed")
    return os.path.join(os.path.dirname(found.origin), "pnnx")


def input_shapes(ports):
    """pnnx's form: [1,3,224,224]f32,[1,128]i64"""
    return ",".join(f"[{','.join(map(str, port['shape']))}]{port['type']}" for port in ports)


def input_mats(script):
    """[(name, dimension that is the batch, or None)] as the script that pnnx writes beside its files feeds them."""
    found = re.findall(r'ex\.input\("(\w+)", ncnn\.Mat\(\w+\.numpy\(\)(?:, batch_index=(\d+))?\)', script)
    return [(name, int(batch) if batch else None) for name, batch in found]


def convert(model, ports, folder):
    """{"param", "bin", "inputs"} for engine_ncnn.py. NotConverted where pnnx fails, loses something, or leaves operators that ncnn has not."""
    folder = os.path.abspath(folder)  # pnnx runs in it
    os.makedirs(folder, exist_ok=True)
    here = os.path.join(folder, "model.onnx")  # pnnx writes its files beside what it reads
    os.symlink(os.path.abspath(model), here)
    try:
        done = subprocess.run([program(), here, f"inputshape={input_shapes(ports)}", "fp16=0"], cwd=folder, capture_output=True, text=True,
                              errors="replace", timeout=kLimitS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotConverted(f"pnnx: {problem}") from None
    param, weights, script = (os.path.join(folder, name) for name in ("model.ncnn.param", "model.ncnn.bin", "model_ncnn.py"))
    if done.returncode != 0 or not all(map(os.path.isfile, (param, weights, script))):
        raise NotConverted(f"pnnx ended with {done.returncode}: {last_words(done.stdout + done.stderr)}")
    lost = re.findall(r"^ignore (\S+) \S+ param (\S+?)=", done.stdout + done.stderr, re.M)
    if lost:
        raise NotConverted(f"pnnx loses {', '.join(sorted({f'{param} of {layer}' for layer, param in lost}))}")
    with open(param) as file:
        left = sorted({line.split()[0] for line in file if re.match(r"(pnnx|aten|onnx|prim|torch|F|nn)[.:]", line)})
    if left:
        raise NotConverted(f"pnnx leaves {', '.join(left)}, which ncnn does not have")
    with open(script) as file:
        return {"param": param, "bin": weights, "inputs": input_mats(file.read())}
