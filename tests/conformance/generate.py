#!/usr/bin/env python3
"""Writes the node tests of the onnx package as files: generate.py CASES.tsv FOLDER

Each case named in the first column of CASES.tsv becomes FOLDER/NAME/model.onnx with input_*.pb and output_*.pb in
test_data_set_*/. Cases that the package lacks are listed in FOLDER/missing.txt.
"""
import pathlib
import sys
import warnings

from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


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


def main():
    cases_file, folder = map(pathlib.Path, sys.argv[1:3])
    wanted = [line.split("\t")[0] for line in cases_file.read_text().splitlines() if line]
    warnings.simplefilter("ignore")  # overflows that the cases are about
    cases = {case.name: case for case in collect_testcases()}
    for name in wanted:
        if name in cases:
            write_case(cases[name], folder / name)
    missing = [name for name in wanted if name not in cases]
    (folder / "missing.txt").write_text("".join(name + "\n" for name in missing))
    print(f"{len(wanted) - len(missing)} of {len(wanted)} cases written")


if __name__ == "__main__":
    main()
