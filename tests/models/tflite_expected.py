#!/usr/bin/env python3
"""Rewrites tests/fuzz/tflite_expected.tsv: tflite_expected.py (needs ai-edge-litert)

What LiteRT's reference kernels give for the models of tests/fuzz/tflite_fuzz: a row for each output with the model's name, the number of the
output, its type, its shape, and its elements. Element i of an input is made as `made` says, and as the test does
(tests/tflite_operators_test.cc).
"""
import pathlib

import numpy
from ai_edge_litert.interpreter import Interpreter, OpResolverType

FUZZ = pathlib.Path(__file__).resolve().parent.parent / "fuzz"
# The reference kernel leaves out the last of the 2 * radius + 1 channels that TensorFlow and LiteRT's usual kernel add up.
USUAL = ("lrn-1", "lrn-3")
NAMES = {"float32": "f32", "int32": "i32", "int64": "i64", "uint8": "u8", "int8": "i8", "bool": "bool"}


def made(shape, kind):
    i = numpy.arange(int(numpy.prod(shape))) * 37 % 101
    if kind == numpy.float32:
        return ((i - 50) / 32).astype(kind).reshape(shape)
    if kind == numpy.bool_:
        return (i % 2 == 0).reshape(shape)
    return (i * 2 if kind == numpy.uint8 else i).astype(kind).reshape(shape)


def loaded(path):
    kinds = (OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    for kernels in kinds[1:] if path.stem in USUAL else kinds:
        try:
            interpreter = Interpreter(model_path=str(path), experimental_op_resolver_type=kernels)
            interpreter.allocate_tensors()
            return interpreter
        except (RuntimeError, ValueError) as problem:
            last = problem
    raise last


def main():
    rows = []
    for path in sorted((FUZZ / "tflite_fuzz").iterdir()):
        interpreter = loaded(path)
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], made(detail["shape"], detail["dtype"]))
        interpreter.invoke()
        for number, detail in enumerate(interpreter.get_output_details()):
            value = interpreter.get_tensor(detail["index"])
            shape = "x".join(map(str, value.shape)) or "scalar"
            elements = " ".join(f"{v:.8g}" for v in value.astype(float).reshape(-1))
            rows.append(f"{path.stem}\t{number}\t{NAMES[value.dtype.name]}\t{shape}\t{elements}\n")
    (FUZZ / "tflite_expected.tsv").write_text("".join(rows))


if __name__ == "__main__":
    main()
