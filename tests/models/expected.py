#!/usr/bin/env python3
"""The answers that models/expected.json names: detectors, a person finder and a language model, on the sample pictures.

Every model runs through mete, pictures are decoded, resized and normalised by it too, with preprocess/*.toml. What expected.json
names but the shared folder does not have is reported as skipped.
"""
import json
import pathlib
import sys
import tempfile

import support

kProbability = 2e-5  # tolerance: the expected ones have 5 or 6 digits
kPictureSizes = {"face.jpg": (512, 355)}


def message(number, content):
    """A field of a protobuf message, of less than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def write_identity(path, height, width):
    """An ONNX model that gives the picture as it is."""
    dims = b"".join(message(1, b"\x08" + (bytes([d]) if d < 128 else bytes([d & 127 | 128, d >> 7]))) for d in (1, 3, height, width))
    port = lambda name: message(1, name) + message(2, message(1, b"\x08\x01" + message(2, dims)))
    node = message(1, b"x") + message(2, b"y") + message(4, b"Identity")
    graph = message(1, node) + message(2, b"g") + message(11, port(b"x")) + message(12, port(b"y"))
    path.write_bytes(b"\x08\x08" + message(7, graph) + message(8, b"\x10\x0d"))


def write_crop(flags, picture, box, work):
    """Cuts box = left, top, right, bottom out of a picture that mete decodes; gives the path of a PPM."""
    width, height = kPictureSizes[picture.name]
    write_identity(work / "identity.onnx", height, width)
    answer = support.mete_json(flags, "run", work / "identity.onnx", picture, "--output", work / "decoded")
    _, pixels = support.read_npy(answer["files"][0])
    left, top, right, bottom = box
    plane = width * height
    rgb = bytes(int(pixels[c * plane + y * width + x]) for y in range(top, bottom) for x in range(left, right) for c in range(3))
    path = work / "crop.ppm"
    path.write_bytes(b"P6\n%d %d\n255\n" % (right - left, bottom - top) + rgb)
    return path


def run_picture(flags, model, picture, preprocess, work, *words):
    """{output: values}"""
    answer = support.mete_json(flags, "run", model, picture, "--preprocess", support.kHere / "preprocess" / preprocess, "--output", work / "out", *words)
    names = [o["name"] for o in answer["results"][0]["outputs"]]
    return {name: support.read_npy(path)[1] for name, path in zip(names, answer["files"])}


def check_mtcnn(flags, folder, expected, table, work):
    for name, side in (("mtcnn_det1", 12), ("mtcnn_det2", 24), ("mtcnn_det3", 48)):
        wanted = expected[name]
        crop = write_crop(flags, folder / "images" / "samples" / wanted["image"], wanted["crop"], work)
        for ending in (".onnx", ".prototxt"):
            outputs = run_picture(flags, folder / "models" / (name + ending), crop, "mtcnn.toml", work, "--shape", f"data=1x3x{side}x{side}")
            face = outputs["prob1"][1]
            table.row(abs(face - wanted["face_prob"]) <= kProbability, name + ending, f"{wanted['image']}: face", f"{face:.6f}", f"{wanted['face_prob']:.6f}")


def check_vww(flags, folder, expected, table, work):
    for wanted in expected["vww_96"]:
        picture = folder / "images" / "samples" / wanted["image"]
        if not picture.exists():
            print(f"skipped: {picture.name} is not there")
            continue
        person = run_picture(flags, folder / "models" / "vww_96.onnx", picture, "vww_96.toml", work)["output"][1]
        want = wanted["no_person,person"][1]
        table.row(abs(person - want) <= kProbability, "vww_96.onnx", f"{picture.name}: person", f"{person:.6f}", f"{want:.6f}")


def check_fastestdet(flags, folder, expected, table, work):
    wanted = expected["fastestdet"]
    values = next(iter(run_picture(flags, folder / "models" / "fastestdet.onnx", folder / "images" / "samples" / wanted["image"], "fastestdet.toml", work).values()))
    side = 22
    cells = side * side  # 85 planes: objectness, box, 80 classes
    kinds = [max(range(80), key=lambda c: values[(5 + c) * cells + i]) for i in range(cells)]
    best = max(range(cells), key=lambda i: values[i] ** 0.6 * values[(5 + kinds[i]) * cells + i] ** 0.4)  # FastestDet's own score
    kind = kinds[best]
    ours = f"cell {best % side},{best // side} class {kind} {values[best]:.4f}"
    row, column = wanted["cell"]
    ok = [best % side, best // side, kind] == [column, row, wanted["class"]] and abs(values[best] - wanted["objectness"]) <= kProbability
    table.row(ok, "fastestdet.onnx", f"{wanted['image']}: objectness", ours, f"cell {column},{row} class {wanted['class']} {wanted['objectness']:.4f}")


def check_stories(flags, folder, expected, table, work):
    """Greedy decoding from the prompt, a run of the model a token, over all the tokens so far."""
    wanted = expected["stories260k"]["greedy_tokens"]
    tokens = list(expected["stories260k"]["prompt_tokens"])
    while len(tokens) < len(wanted):
        support.write_npy(work / "tokens.npy", [1, len(tokens)], tokens, "<i8")
        shape = f"tokens=1x{len(tokens)}"
        logits = support.run_tensors(flags, folder / "models" / "stories260k.onnx", {"tokens": work / "tokens.npy"}, work / "out", "--shape", shape)
        last = support.read_npy(logits["logits"])[1][-512:]
        tokens.append(max(range(512), key=lambda i: last[i]))
    same = sum(a == b for a, b in zip(tokens, wanted))
    table.row(tokens == wanted, "stories260k.onnx", "greedy tokens", f"{same} equal", f"{len(wanted)}")


def main():
    flags = support.arguments(__doc__).parse_args()
    folder = support.shared_folder(flags)
    expected = json.loads((folder / "models" / "expected.json").read_text())
    table = support.Table(("model", 20), ("what", 24), ("mete", 28), ("expected", 28))
    with tempfile.TemporaryDirectory() as temporary:
        for check in (check_mtcnn, check_vww, check_fastestdet, check_stories):
            check(flags, folder, expected, table, pathlib.Path(temporary))
    print("skipped: ad01_autoencoder's recorded sound is not there; its numbers are compared with ONNX Runtime's")
    return table.finish()


if __name__ == "__main__":
    sys.exit(main())
