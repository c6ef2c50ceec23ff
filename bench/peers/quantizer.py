"""Compares `mete quantize` with ONNX Runtime's quantizer, by its methods, on trained networks and pictures with known classes.

All quantizers get the same pictures for calibration, and all files are tested on the same other pictures, as tensors that Mete makes of them.
The networks and pictures are those of $METE_SHARED (default: ../shared beside the source tree): models/, and images/val, where a file's name
begins with its class. `make compare-quantizers` runs this with the peers' Python (run.sh --install --quantized).
"""
import argparse
import contextlib
import dataclasses
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from onnx_files import model as onnx_file  # noqa: E402

MOBILENET = ("--crop", "224", "--mean", "127.5", "--std", "127.5")
NETWORKS = {  # the side of the pictures, and how they become inputs (the protocol of the networks' authors)
    "mobilenet_v1_0.25_128": (128, MOBILENET),
    "mobilenet_v1_0.5_160": (160, MOBILENET),
    "mobilenet_v2_1.0_224": (224, MOBILENET),
    "squeezenet_v1.1": (227, ("--crop", "227", "--channels", "bgr", "--mean", "104,117,123")),
}
METHODS = ("MinMax", "Percentile", "Entropy")  # of ONNX Runtime; its defaults for each


@dataclasses.dataclass
class Pictures:
    paths: list

    @property
    def classes(self):
        return [int(path.name.partition("_")[0]) for path in self.paths]


@dataclasses.dataclass
class Result:
    quantizer: str
    top1: float
    agreement: float
    seconds: float = 0.0
    in_mete: float = None  # the share of pictures with the same class as in ONNX Runtime
    in_openvino: object = None


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"[quantizer] {' '.join(map(str, command[:3]))} failed:\n{done.stderr}")
    return done.stdout


def divide(folder, calibration):
    """`calibration` pictures spread evenly over all, and the others."""
    paths = sorted(folder.glob("*.jpg"), key=lambda path: int(path.name.partition("_")[0]))
    chosen = {i * len(paths) // calibration for i in range(calibration)}
    return Pictures([p for i, p in enumerate(paths) if i in chosen]), Pictures([p for i, p in enumerate(paths) if i not in chosen])


def tensors_of(mete, side, flags, pictures, work):
    """What `mete run` makes of the pictures, from a network that returns its input."""
    import numpy as np
    net = work / "input.onnx"
    net.write_bytes(onnx_file([("image", [1, 3, side, side])], [("Identity", ["image"], ["out"])], ["out"]))
    with tempfile.TemporaryDirectory(dir=work) as folder:
        run([mete, "run", net, *pictures.paths, *flags, "--output", folder])
        return np.concatenate([np.load(os.path.join(folder, f"{path.stem}.out.npy")) for path in pictures.paths])


def classes_in_onnxruntime(path, tensors):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return [int(session.run(None, {name: tensors[i:i + 1]})[0].argmax()) for i in range(len(tensors))]


def classes_in_openvino(path, tensors):
    """Nothing where OpenVINO is not installed."""
    try:
        import openvino
    except ImportError:
        return None
    core = openvino.Core()
    net = core.read_model(str(path))
    net.reshape(list(tensors[:1].shape))
    compiled = core.compile_model(net, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
    return [int(compiled(tensors[i:i + 1])[0].argmax()) for i in range(len(tensors))]


def classes_in_mete(mete, path, flags, pictures):
    answer = json.loads(run([mete, "run", path, *pictures.paths, *flags, "--json", "--top-k", "1", "--tune", "never"]))
    return [result["top"][0]["class"] for result in answer["results"]]


def quantize_with_onnxruntime(path, method, tensors, out):
    import onnxruntime
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process
    folded = out.with_suffix(".folded.onnx")
    quant_pre_process(str(path), str(folded), skip_symbolic_shape=True)
    name = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).get_inputs()[0].name

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.rest = iter([{name: tensors[i:i + 1]} for i in range(len(tensors))])

        def get_next(self):
            return next(self.rest, None)

    with contextlib.redirect_stdout(sys.stderr):  # it tells what it does
        quantization.quantize_static(str(folded), str(out), Reader(), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                     activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8,
                                     calibrate_method=quantization.CalibrationMethod[method])


def share(a, b):
    return 100 * sum(x == y for x, y in zip(a, b)) / len(b)


def compare(name, arguments, work):
    side, flags = NETWORKS[name]
    path = arguments.shared / "models" / f"{name}.onnx"
    calibration, test = divide(arguments.shared / "images" / "val", arguments.pictures)
    inputs = tensors_of(arguments.mete, side, flags, calibration, work)
    tests = tensors_of(arguments.mete, side, flags, test, work)
    exact = classes_in_onnxruntime(path, tests)

    def result(quantizer, classes, seconds=0.0):
        return Result(quantizer, share(classes, test.classes), share(classes, exact), seconds)

    results = [result("none: f32", exact)]
    for method in METHODS:
        out, start = work / f"{name}.{method}.onnx", time.monotonic()
        quantize_with_onnxruntime(path, method, inputs, out)
        results.append(result(f"ONNX Runtime, {method}", classes_in_onnxruntime(out, tests), time.monotonic() - start))
    for method in arguments.methods:
        out, start = work / f"{name}.mete.{method}.onnx", time.monotonic()
        pictures = [word for picture in calibration.paths for word in ("--calibrate", picture)]
        run([arguments.mete, "quantize", path, *pictures, "--pictures", len(calibration.paths), "-o", out, *flags, "--method", method])
        seconds = time.monotonic() - start
        classes = classes_in_onnxruntime(out, tests)
        mine = result(f"Mete, {method}", classes, seconds)
        mine.in_mete = share(classes_in_mete(arguments.mete, out, flags, test), classes)
        others = classes_in_openvino(out, tests)
        mine.in_openvino = None if others is None else share(others, classes)
        results.append(mine)
    return results


def table(name, results):
    lines = [f"### {name}", "", "| quantizer | top-1, % | same class as f32, % | Mete = ONNX Runtime, % | OpenVINO = ONNX Runtime, % | seconds |",
             "|---|---:|---:|---:|---:|---:|"]
    for r in results:
        cells = ["" if value is None else f"{value:.1f}" for value in (r.in_mete, r.in_openvino)]
        lines.append(f"| {r.quantizer} | {r.top1:.1f} | {r.agreement:.1f} | {cells[0]} | {cells[1]} | {f'{r.seconds:.1f}' if r.seconds else ''} |")
    return "\n".join(lines) + "\n"


def summary(by_network):
    """How the first of Mete's methods stands beside the best of ONNX Runtime's."""
    lines = ["| network | loss of top-1, points | top-1 beside the best of ONNX Runtime | same class as f32 beside the best |", "|---|---:|---:|---:|"]
    losses = []
    for name, results in by_network.items():
        exact, peers = results[0], [r for r in results if r.quantizer.startswith("ONNX Runtime")]
        mine = next(r for r in results if r.quantizer.startswith("Mete"))
        losses.append(exact.top1 - mine.top1)
        lines.append(f"| {name} | {losses[-1]:+.1f} | {mine.top1:.1f} / {max(r.top1 for r in peers):.1f} | "
                     f"{mine.agreement:.1f} / {max(r.agreement for r in peers):.1f} |")
    return "\n".join([*lines, "", f"Mean loss of top-1: {sum(losses) / len(losses):+.2f} points."]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mete", type=pathlib.Path, default=ROOT / "build" / "release" / "mete", help="the program")
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("METE_SHARED", ROOT.parent / "shared"), help="networks and pictures")
    parser.add_argument("--models", nargs="+", choices=sorted(NETWORKS), default=list(NETWORKS), metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--methods", nargs="+", default=["auto"], help="of mete quantize")
    parser.add_argument("--pictures", type=int, default=64, help="of the calibration; the others are tested")
    arguments = parser.parse_args()
    arguments.shared = pathlib.Path(arguments.shared)
    if not (arguments.shared / "images" / "val").is_dir():
        raise SystemExit(f"[quantizer] no networks and pictures in {arguments.shared}; try --shared FOLDER")
    logging.disable(logging.WARNING)
    by_network = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.models:
            by_network[name] = compare(name, arguments, pathlib.Path(folder))
            print(table(name, by_network[name]), flush=True)
    print(summary(by_network))


if __name__ == "__main__":
    main()
