"""Models of TensorFlow Lite, made tensor by tensor and operator by operator, and written by flatc."""
import json
import pathlib
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = HERE.parent.parent / "src/import/tflite/tflite.fbs"
CODES = {}  # by operator
FORMS = {"FLOAT32": "f", "INT32": "i", "INT64": "q", "UINT8": "B", "INT8": "b", "BOOL": "?", "FLOAT16": "e"}


def read_codes():
    text = SCHEMA.read_text()
    body = text[text.index("enum BuiltinOperator"):]
    for entry in body[body.index("{") + 1:body.index("}")].split(","):
        name, code = entry.split("=")
        CODES[name.strip()] = int(code)


def numbers(shape, scale=1.0):
    """Floats of both signs with few digits."""
    count = 1
    for d in shape:
        count *= d
    return [scale * ((i * 37 % 101) - 50) / 64 for i in range(count)]


class Model:
    """The network of a file, or a subgraph that an operator of it runs."""
    def __init__(self, network=None):
        self.buffers, self.codes = (network.buffers, network.codes) if network else ([{}], [])
        self.tensors, self.operators, self.inputs, self.outputs, self.others = [], [], [], [], []
        if network:
            network.others.append(self)

    def tensor(self, shape, kind="FLOAT32", scale=None, zero=0, axis=0, **more):
        self.tensors.append({"shape": shape, "type": kind, "name": f"t{len(self.tensors)}", **more})
        if scale is not None:
            scales = scale if isinstance(scale, list) else [scale]
            self.tensors[-1]["quantization"] = {"scale": scales, "zero_point": [zero] * len(scales), "quantized_dimension": axis}
        return len(self.tensors) - 1

    def input(self, shape, kind="FLOAT32", **more):
        self.inputs.append(self.tensor(shape, kind, **more))
        return self.inputs[-1]

    def constant(self, shape, values, kind="FLOAT32", **more):
        self.buffers.append({"data": list(struct.pack(f"<{len(values)}{FORMS[kind]}", *values))})
        return self.tensor(shape, kind, buffer=len(self.buffers) - 1, **more)

    def halves(self, shape, values, **more):
        """Integers of 4 bits, two in a byte."""
        padded = [v & 15 for v in values] + [0] * (len(values) % 2)
        self.buffers.append({"data": [low | high << 4 for low, high in zip(padded[::2], padded[1::2])]})
        return self.tensor(shape, "INT4", buffer=len(self.buffers) - 1, **more)

    def floats(self, shape, scale=1.0):
        return self.constant(shape, numbers(shape, scale))

    def ints(self, *values):
        return self.constant([len(values)], list(values), "INT32")

    def op(self, name, inputs, options=None, outputs=None, custom=None, version=1, **settings):
        """Adds an operator; `outputs` are tensors that are made, by default one of floats. Returns one or a list."""
        code = {"builtin_byte": min(CODES[name], 127), "builtin_code": CODES[name], "version": version} | ({"custom_code": custom[0]} if custom else {})
        if code not in self.codes:
            self.codes.append(code)
        made = [self.tensor([])] if outputs is None else outputs
        operator = {"opcode_index": self.codes.index(code), "inputs": inputs, "outputs": made}
        if options:
            operator |= {"builtin_options_type": options, "builtin_options": settings}
        if custom:
            operator["custom_options"] = list(custom[1])
        self.operators.append(operator)
        return made[0] if len(made) == 1 else made

    def graph(self, name, outputs):
        return {"tensors": self.tensors, "inputs": self.inputs, "outputs": list(outputs), "operators": self.operators, "name": name}

    def write(self, path, *outputs):
        model = {"version": 3, "operator_codes": self.codes, "buffers": self.buffers, "subgraphs": [
            self.graph("main", outputs), *(other.graph(f"graph{i + 1}", other.outputs) for i, other in enumerate(self.others))]}
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "model.json"
            text.write_text(json.dumps(model))
            subprocess.run(["flatc", "-b", "-o", folder, SCHEMA, text], check=True)
            path.write_bytes((pathlib.Path(folder) / "model.bin").read_bytes())
