"""A `mete serve` that runs while a test needs it, and models for it. Standard library only."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import onnx_files  # noqa: E402
from served import Served  # noqa: E402

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


class Mete(Served):
    """Runs `mete serve FOLDER` on free ports: `http` and `grpc` are HOST:PORT."""
    kind = "mete"

    def __init__(self, program, folder, *flags):
        super().__init__(program, folder, "--grpc-listen", "127.0.0.1:0", *flags, log="none")
        self.http = f"127.0.0.1:{self.port}"
        self.grpc = self.started["grpc"]


@contextlib.contextmanager
def served(program, *flags):
    """A Mete with the models of write_models(). SIGTERM has to end it with 0, unless it has ended before, which the caller sees by runs()."""
    with tempfile.TemporaryDirectory() as folder:
        models = pathlib.Path(folder) / "models"
        models.mkdir()
        write_models(models)
        with Mete(program, models, *flags) as server:
            yield server
            if server.runs() and (ended := server.end()) != 0:
                raise RuntimeError(f"SIGTERM ended the server with {ended}, expected 0: {server.said()[-2000:]}")


@contextlib.contextmanager
def mlserved(program):
    """An MLServer with the same models."""
    with tempfile.TemporaryDirectory() as folder:
        models = pathlib.Path(folder) / "models"
        models.mkdir()
        server = MLServer(program, models)
        try:
            yield server
        finally:
            server.end()


class MLServer:
    """Runs MLServer with the models of mlserver_models.py, which compute what those of write_models() do."""
    kind = "mlserver"

    def __init__(self, program, folder):
        folder = pathlib.Path(folder)
        ports = [free_port() for _ in range(3)]
        settings = {"host": "127.0.0.1", "http_port": ports[0], "grpc_port": ports[1], "metrics_port": ports[2], "parallel_workers": 0}
        (folder / "settings.json").write_text(json.dumps(settings))
        models = {f"identity_{name.lower()}": ("Identity", [("x", name, SHAPE)], [("y", name, SHAPE)]) for name in TYPES}
        models["add"] = ("Add", [("a", "FP32", [1, 4]), ("b", "FP32", [1, 4])], [("c", "FP32", [1, 4])])
        for name, (kind, *tensors) in models.items():
            inputs, outputs = [[dict(zip(("name", "datatype", "shape"), tensor)) for tensor in list_] for list_ in tensors]
            (folder / name).mkdir()
            (folder / name / "model-settings.json").write_text(json.dumps(
                {"name": name, "implementation": f"mlserver_models.{kind}", "inputs": inputs, "outputs": outputs}))
        self.http, self.grpc = (f"127.0.0.1:{port}" for port in ports[:2])
        self.log = open(folder.parent / "mlserver.log", "w+")
        here = str(pathlib.Path(__file__).resolve().parent)
        self.process = subprocess.Popen([program, "start", str(folder)], stdout=self.log, stderr=subprocess.STDOUT,
                                        env={**os.environ, "PYTHONPATH": here})
        until = time.monotonic() + 120
        while not self.ready():
            if time.monotonic() > until or self.process.poll() is not None:
                raise RuntimeError(f"MLServer is not ready: {pathlib.Path(self.log.name).read_text()[-3000:]}")
            time.sleep(0.2)

    def ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.http}/v2/health/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


SERVER = None  # that the tests of this process ask; main() sets it


def main():
    """Starts the server that the flags name, runs the tests of the program, and ends the server."""
    global SERVER
    parser = argparse.ArgumentParser()
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--mete", help="the program")
    which.add_argument("--mlserver", help="the program")
    args, rest = parser.parse_known_args()
    with served(args.mete) if args.mete else mlserved(args.mlserver) as server:
        sys.modules["serving"].SERVER = server
        program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    sys.exit(not program.result.wasSuccessful())
