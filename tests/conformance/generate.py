#!/usr/bin/env python3
"""Writes the tests of the onnx package as files: generate.py CASES.tsv FOLDER

Each case named in the first column of CASES.tsv becomes FOLDER/NAME/model.onnx with input_*.pb and output_*.pb in
test_data_set_*/. Cases that the package lacks are listed in FOLDER/missing.txt.
"""
import pathlib
import shutil
import sys
import warnings

import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests

# The suites that the package has as files.
SUITES = ("simple", "pytorch-converted", "pytorch-operator")


def write_values(folder, kind, values, infos):
    for i, (value, info) in enumerate(zip(values, infos)):
        if not isinstance(value, TensorProto):
            value = numpy_helper.from_array(value, info.name)
        value.name = info.name
        (folder / f"{kind}_{i}.pb").write_bytes(value.SerializeToString())


def write_case(case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for i, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir(exist_ok=True)
        write_values(data, "input", inputs, case.model.graph.input)
        write_values(data, "output", outputs, case.model.graph.output)


def copy_case(source, folder):
    """Copies a case that the package has as files. Some of their tensors have other names than the model's inputs."""
    shutil.copytree(source, folder)
    graph = onnx.load(folder / "model.onnx").graph
    constants = {t.name for t in graph.initializer}
    names = {
        "input": [i.name for i in graph.input if i.name not in constants],
        "output": [o.name for o in graph.output],
    }
    for path in folder.glob("test_data_set_*/*.pb"):
        kind, place = path.stem.split("_")
        tensor = TensorProto.FromString(path.read_bytes())
        tensor.name = names[kind][int(place)]
        path.write_bytes(tensor.SerializeToString())


def main():
    cases_file, folder = map(pathlib.Path, sys.argv[1:3])
    wanted = [line.split("\t")[0] for line in cases_file.read_text().splitlines() if line]
    warnings.simplefilter("ignore")  # overflows that the cases are about
    cases = {case.name: case for case in collect_testcases()}
    files = {case.name: case.model_dir for suite in SUITES for case in load_model_tests(kind=suite)}
    for name in wanted:
        if name in cases:
            write_case(cases[name], folder / name)
        elif name in files:
            copy_case(files[name], folder / name)
    missing = [name for name in wanted if name not in cases and name not in files]
    (folder / "missing.txt").write_text("".join(name + "\n" for name in missing))
    print(f"{len(wanted) - len(missing)} of {len(wanted)} cases written")


if __name__ == "__main__":
    main()
