"""The likeliest classes of a picture: classify.py MODEL PICTURE"""
import pathlib
import sys

import mete
import numpy as np


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: classify.py MODEL PICTURE")
    path, picture = sys.argv[1:]
    model = mete.Model.load(path)
    # The settings of the .toml beside the model; without one, pixels go in from 0 to 255.
    steps = mete.Preprocess.for_model(path, model.inputs[0])
    array = mete.make_input(mete.load_image(picture), steps, model.inputs[0])
    scores = mete.Session(model).run([array])[0].ravel()
    if steps.softmax:
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
    labels = pathlib.Path(steps.labels).read_text(encoding="utf-8").splitlines() if steps.labels else []
    for number in np.argsort(-scores)[:steps.top_k]:
        print(f"{scores[number]:8.4f}  {labels[number] if number < len(labels) else f'class {number}'}")


if __name__ == "__main__":
    main()
