#!/usr/bin/env python3
"""Models that come with an input and its output: the nine light ones of the onnx repository, and three trained ones.

The light models' weights are all 0.02, so they check import and shapes; their input is arange(n) / n, as the onnx package's
own test runner makes it (onnx/backend/test/runner, generate_dummy_data).
"""
import math
import pathlib
import sys
import tempfile
import zipfile

import support

kTolerance = 1e-4  # largest difference over largest value
kLightInput = {"light_resnet50": "gpu_0/data_0", "light_shufflenet": "gpu_0/data_0", "light_zfnet512": "gpu_0/data_0"}  # the others: data_0
kLightShape = [1, 3, 224, 224]


def write_light_input(path):
    n = math.prod(kLightShape)
    support.write_npy(path, kLightShape, [i / n for i in range(n)])


def compare(flags, table, model, name, path, expected, work, *words):
    shape, values = expected
    outputs = support.run_tensors(flags, model, {name: path}, work / "out", *words)
    ours_shape, ours = support.read_npy(next(iter(outputs.values())))
    most, relative = support.largest_errors(ours, values)
    table.row(ours_shape == shape and relative <= kTolerance, model.name, "x".join(map(str, ours_shape)), most, relative)


def check_light(flags, folder, table, work):
    write_light_input(work / "light.npy")
    for model in sorted((folder / "onnx-light").glob("*.onnx")):
        expected = support.read_pb(model.with_name(model.stem + "_output_0.pb"))
        compare(flags, table, model, kLightInput.get(model.stem, "data_0"), work / "light.npy", expected, work)


def check_trained(flags, folder, table, work):
    models = folder / "models"
    for name, port in (("mnist_8", "Input3"), ("super_resolution_10", "input")):
        expected = support.read_pb(models / f"{name}_output_0.pb")
        compare(flags, table, models / f"{name}.onnx", port, models / f"{name}_input_0.pb", expected, work)
    with zipfile.ZipFile(models / "byte_sb_bidi_lstm_io.npz") as given:
        (work / "lstm.npy").write_bytes(given.read("input.npy"))
        expected = support.parse_npy(given.read("Add_26.npy"))
    length = "x".join(map(str, expected[0][:2]))
    compare(flags, table, models / "byte_sb_bidi_lstm.onnx", "input", work / "lstm.npy", expected, work, "--shape", f"input={length}")


def main():
    flags = support.arguments(__doc__).parse_args()
    folder = support.shared_folder(flags)
    table = support.Table(("model", 24), ("output", 13), ("max abs", 8), ("max rel", 8))
    with tempfile.TemporaryDirectory() as work:
        check_light(flags, folder, table, pathlib.Path(work))
        check_trained(flags, folder, table, pathlib.Path(work))
    return table.finish()


if __name__ == "__main__":
    sys.exit(main())
