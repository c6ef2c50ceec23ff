"""An 8-bit network of one in floats, and how far its answers are: quantize.py MODEL PICTURES OUT.onnx [RECIPE]"""
import pathlib
import sys

import mete
import numpy as np
from mete.program import quantize


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: quantize.py MODEL PICTURES OUT.onnx [RECIPE]")
    path, folder, out = sys.argv[1:4]
    recipe = sys.argv[4] if len(sys.argv) == 5 else None
    report = quantize(path, out, folder, preprocess=recipe)
    model, small = mete.Model.load(path), mete.Model.load(out)
    steps = mete.Preprocess.for_model(path, model.inputs[0])
    if recipe:
        steps.set("preprocess", recipe)
    sessions = mete.Session(model), mete.Session(small)
    pictures = sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png", ".bmp"))
    same = 0
    for picture in pictures:
        array = mete.make_input(mete.load_image(picture), steps, model.inputs[0])
        first, second = (session.run([array])[0].ravel() for session in sessions)
        same += int(np.argmax(first) == np.argmax(second))
    print(f"{report['bytes_before']} bytes of weights became a file of {report['bytes']}; {same} of {len(pictures)} pictures have the same class")


if __name__ == "__main__":
    main()
