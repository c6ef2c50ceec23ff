"""Objects in a picture, with their boxes drawn: detect.py MODEL PICTURE OUT.png [KEY=VALUE...]

KEY=VALUE are settings as in the .toml beside a model: head=ultraface mean=127 std=128
"""
import pathlib
import sys

import mete


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: detect.py MODEL PICTURE OUT.png [KEY=VALUE...]")
    path, picture, out = sys.argv[1:4]
    model = mete.Model.load(path)
    steps = mete.Preprocess.for_model(path, model.inputs[0])
    for setting in sys.argv[4:]:
        steps.set(*setting.split("=", 1))
    pixels = mete.load_image(picture)
    outputs = mete.Session(model).run([mete.make_input(pixels, steps, model.inputs[0])])
    answer = mete.decode_answer(model, outputs, pixels, steps)
    labels = pathlib.Path(steps.labels).read_text(encoding="utf-8").splitlines() if steps.labels else []
    for found in answer.boxes:
        left, top, right, bottom = found["box"]
        name = labels[found["label"]] if found["label"] < len(labels) else f"class {found['label']}"
        print(f"{found['score']:.3f}  {name}  from ({left:.0f}, {top:.0f}) to ({right:.0f}, {bottom:.0f})")
    pathlib.Path(out).write_bytes(mete.png(mete.draw_answer(pixels, answer, labels)))


if __name__ == "__main__":
    main()
