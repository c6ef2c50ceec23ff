"""A `mete serve` that runs while a test needs it, and models for it. Standard library only."""
import json
import pathlib
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import onnx_files  # noqa: E402

# datatype of the protocol: (TensorProto.DataType, bytes of an element)
TYPES = {"BOOL": (9, 1), "UINT8": (2, 1), "UINT16": (4, 2), "UINT32": (12, 4), "UINT64": (13, 8), "INT8": (3, 1), "INT16": (5, 2),
         "INT32": (6, 4), "INT64": (7, 8), "FP16": (10, 2), "FP32": (1, 4), "FP64": (11, 8), "BF16": (16, 2)}
SHAPE = [2, 3]  # of x and y of the models identity_TYPE


def write_models(folder):
    """identity_fp32 and so on, for every datatype; add: c = a + b of FP32 and [1, 4]; digits, which classifies pictures."""
    folder = pathlib.Path(folder)
    for name, (kind, _) in TYPES.items():
        model = onnx_files.model([("x", SHAPE, kind)], [("Identity", ["x"], ["y"])], ["y"])
        (folder / f"identity_{name.lower()}.onnx").write_bytes(model)
    add = onnx_files.model([("a", [1, 4]), ("b", [1, 4])], [("Add", ["a", "b"], ["c"])], ["c"])
    (folder / "add.onnx").write_bytes(add)
    for name in ("digits.onnx", "digits.toml", "digits.labels.txt"):
        shutil.copy(ROOT / "models" / name, folder)


class Mete:
    """Runs `mete serve FOLDER` on free ports: `http` and `grpc` are HOST:PORT."""

    def __init__(self, program, folder, *flags):
        command = [program, "serve", folder, "--json", "--listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0", "--log", "none", *flags]
        self.log = open(pathlib.Path(folder).parent / "serve.log", "w+")
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=self.log, text=True)
        started, text = None, ""
        while started is None:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"mete serve has ended: {self.said()}")
            text += line
            try:
                started = json.loads(text)
            except ValueError:
                pass
        self.http = started["listening"].removeprefix("http://")
        self.grpc = started["grpc"]

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def runs(self):
        return self.process.poll() is None

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def end(self):
        """Returns the exit status of SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)
