"""What the checks of whole models share: finding the shared files, running mete, tensors in files, tables.

Standard library only. The trained models and pictures are not in the repository: without them a check ends with kSkipped.
"""
import argparse
import array
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys

kSkipped = 77  # ctest's SKIP_RETURN_CODE
kHere = pathlib.Path(__file__).resolve().parent

# .npy type to array's type code; half floats have none and go through struct.
kCodes = {"<f4": "f", "<f8": "d", "|i1": "b", "|u1": "B", "|b1": "B", "<i2": "h", "<u2": "H", "<i4": "i", "<u4": "I", "<i8": "q", "<u8": "Q"}
# TensorProto.data_type to .npy type (onnx.proto).
kProtoTypes = {1: "<f4", 2: "|u1", 3: "|i1", 4: "<u2", 5: "<i2", 6: "<i4", 7: "<i8", 9: "|b1", 11: "<f8", 12: "<u4", 13: "<u8"}


def arguments(description):
    """The flags of every check; add more to what it returns."""
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument("--mete", default="build/release/mete", help="the program (default: %(default)s)")
    parser.add_argument("--shared", default=os.environ.get("METE_SHARED", "../shared"), help="folder with models/ and images/ (default: %(default)s)")
    parser.add_argument("--flags", default="", help="more flags for mete, e.g. --flags=--reference")
    return parser


def shared_folder(flags):
    folder = pathlib.Path(flags.shared)
    if not (folder / "models").is_dir():
        print(f"skipped: {folder}/models is missing; the trained models are not in the repository (METE_SHARED or --shared names their folder)")
        sys.exit(kSkipped)
    return folder


def mete_json(flags, *words):
    """The answer of `mete WORDS --json`. Ends the check where mete fails."""
    command = [flags.mete, *map(str, words), "--json", *flags.flags.split()]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:6])} ... ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def run_tensors(flags, model, inputs, folder, *words):
    """Runs `model` on {name: path of a tensor}; gives the paths of its outputs by their names."""
    named = [word for name, path in inputs.items() for word in ("--input", f"{name}={path}")]
    answer = mete_json(flags, "run", model, *named, "--output", folder, *words)
    return {output["name"]: path for output, path in zip(answer["results"][0]["outputs"], answer["files"])}


def write_npy(path, shape, values, kind="<f4"):
    dims = "".join(f"{d}, " for d in shape)
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({dims}), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        array.array(kCodes[kind], values).tofile(file)


def read_npy(path):
    """(shape, values)"""
    data = pathlib.Path(path).read_bytes()
    return parse_npy(data)


def parse_npy(data):
    size = struct.unpack_from("<H", data, 8)[0]
    header = data[10:10 + size].decode()
    kind = re.search(r"'descr': *'([^']*)'", header)[1]
    shape = [int(d) for d in re.findall(r"\d+", re.search(r"'shape': *\(([^)]*)\)", header)[1])]
    return shape, decode(kind, data[10 + size:])


def decode(kind, data):
    if kind == "<f2":
        return array.array("f", struct.unpack(f"<{len(data) // 2}e", data))
    values = array.array(kCodes[kind])
    values.frombytes(data)
    return values


def fields(data):
    """(number, value) of a protobuf message: integers and byte strings."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = {1: lambda: 8, 2: varint, 5: lambda: 4}[key & 7]()
        yield key >> 3, data[at:at + size]
        at += size


def read_pb(path):
    """(shape, values) of an ONNX TensorProto."""
    shape, kind, raw = [], None, b""
    for number, value in fields(pathlib.Path(path).read_bytes()):
        if number == 1:  # packed or not
            shape += [value] if isinstance(value, int) else list(value)
        elif number == 2:
            kind = kProtoTypes[value]
        elif number in (4, 9, 10):  # float_data, raw_data, double_data: packed little endian, all of them
            raw += value
    return shape, decode(kind, raw)


def largest_errors(ours, reference):
    """(largest |a-b|, the same relative to the reference's largest value); infinite where one is not a number."""
    if len(ours) != len(reference):
        return math.inf, math.inf
    most = scale = 0.0
    for a, b in zip(ours, reference):
        if not (math.isfinite(a) and math.isfinite(b)):
            return math.inf, math.inf
        most, scale = max(most, abs(a - b)), max(scale, abs(b))
    return most, most / scale if scale > 0 else most


class Table:
    """Rows under a heading, printed as they come; the last column says whether a row is as it should be."""

    def __init__(self, *columns):
        self.widths = [int(width) for _, width in columns]
        self.failures = 0
        self._print([name for name, _ in columns] + ["ok"])
        self._print(["-" * width for width in self.widths] + ["--"])

    def row(self, ok, *cells):
        self.failures += not ok
        self._print([f"{c:.3g}" if isinstance(c, float) else str(c) for c in cells] + ["yes" if ok else "NO"])

    def _print(self, cells):
        print("| " + " | ".join(c.ljust(w) for c, w in zip(cells, self.widths + [3])) + " |", flush=True)

    def finish(self):
        print(f"{self.failures} failed" if self.failures else "all as expected")
        return 1 if self.failures else 0
