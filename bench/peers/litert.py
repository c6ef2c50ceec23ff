"""Mete beside LiteRT on .tflite files: litert.py MODEL.tflite... (make compare-litert)

LiteRT computes as it does by default, with XNNPACK where that takes the operators. The table has the median of the turns' medians, how many elements of all
outputs are equal for the same random input, and the largest difference: as a share of the largest value of an output of floats, or in steps of one of integers.
"""
import argparse
import sys

from ai_edge_litert.interpreter import Interpreter

import in_turns


class LiteRt:
    def __init__(self, path, threads):
        self.interpreter = Interpreter(model_path=str(path), num_threads=threads)
        self.interpreter.allocate_tensors()
        details = self.interpreter.get_input_details()
        self.inputs = {d["name"]: in_turns.random_values(d["shape"], d["dtype"]) for d in details}
        for detail in details:
            self.interpreter.set_tensor(detail["index"], self.inputs[detail["name"]])
        self.interpreter.invoke()

    def turn(self, runs):
        return in_turns.median_ms(self.interpreter.invoke, runs)

    def outputs(self):
        return {d["name"]: self.interpreter.get_tensor(d["index"]) for d in self.interpreter.get_output_details()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+")
    in_turns.add_flags(parser)
    options = parser.parse_args()
    table = in_turns.Table(options, "LiteRT")
    for model in options.models:
        table.row(in_turns.name_of(model), model, LiteRt(model, options.threads))
    return table.end()


if __name__ == "__main__":
    sys.exit(main())
