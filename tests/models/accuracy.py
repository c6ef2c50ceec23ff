#!/usr/bin/env python3
"""Classifies the pictures of images/val and compares with what ONNX Runtime gave on the same files.

Decoding and preprocessing are mete's own, by preprocess/MODEL.toml. Fails where top-1 or top-5 over all the pictures differ by
more than 0.1 points from the figures in PROVENANCE.md, or a score differs by more than kLargestDeviation from
labels/top5_MODEL.tsv. With --images N only N pictures, evenly spread, compared with the same rows of the .tsv.

A network of DequantizeLinear and QuantizeLinear has the same scores with --onnxruntime-sums alone. By default it is summed in integers:
its class must be the same on at least kSameClass of the pictures, and top-1 within kPointsOfIntegers.
"""
import re
import sys

import support

kModels = ["mobilenet_v1_0.25_128.onnx", "mobilenet_v1_0.5_160.onnx", "mobilenet_v1_0.5_160_qlinear_uint8.onnx", "mobilenet_v2_1.0_224.onnx",
           "mobilenet_v2_tf2_qdq_int8.onnx", "squeezenet_v1.1.onnx", "squeezenet_v1.1.prototxt"]
kFigures = {  # top-1 and top-5 in percent, from PROVENANCE.md
    "mobilenet_v1_0.25_128": (44.2, 71.0), "mobilenet_v1_0.5_160": (66.6, 87.2), "mobilenet_v1_0.5_160_qlinear_uint8": (67.2, 87.4),
    "mobilenet_v2_1.0_224": (87.2, 97.4), "mobilenet_v2_tf2_qdq_int8": (86.2, 97.2), "squeezenet_v1.1": (60.8, 82.8)}
kPoints = 0.1
kSumsOfOnnxRuntime = ["--onnxruntime-sums"]
kQdq = "mobilenet_v2_tf2_qdq_int8.onnx"
kSameClass, kPointsOfIntegers = 0.98, 0.5  # bars that we set ourselves
kLargestDeviation = 1e-3  # of a probability


def read_labels(path):
    """{label: [(class, score) x5]}"""
    rows = {}
    for line in path.read_text().splitlines():
        label, *top = line.split("\t")
        rows[int(label)] = [(int(c), float(s)) for c, s in (entry.split(":") for entry in top)]
    return rows


def share(tops, k):
    """Percent of {label: [(class, score)]} whose label is among the best k."""
    return 100 * sum(label in [c for c, _ in top[:k]] for label, top in tops.items()) / len(tops)


def classify(flags, folder, model, pictures, *more):
    name = model.rsplit(".", 1)[0]
    batch = ["--shape", "data=1x3x227x227"] if model.endswith(".prototxt") else []  # the file says 10 pictures at once
    answer = support.mete_json(flags, "run", folder / "models" / model, *pictures, *batch, *more, "--preprocess", support.kHere / "preprocess" / f"{name}.toml")
    tops = {}
    for result in answer["results"]:
        label = int(re.search(r"(\d+)_[^/]*$", result["image"])[1])
        tops[label] = [(t["class"], t["score"]) for t in result["top"]]
    return tops


def check(flags, folder, model, pictures, table, *more):
    name = model.rsplit(".", 1)[0]
    ours = classify(flags, folder, model, pictures, *more)
    reference = {label: top for label, top in read_labels(folder / "labels" / f"top5_{name}.tsv").items() if label in ours}
    figures = kFigures[name] if not flags.images else (share(reference, 1), share(reference, 5))
    shares = share(ours, 1), share(ours, 5)
    same = sum([c for c, _ in ours[label]] == [c for c, _ in top] for label, top in reference.items())
    first = sum(ours[label][0][0] == top[0][0] for label, top in reference.items())
    deviation = max(abs(score - theirs[c]) for label, top in reference.items() for theirs in [dict(top)] for c, score in ours[label] if c in theirs)
    integers = model == kQdq and not more
    points = kPointsOfIntegers if integers else kPoints
    ok = len(ours) == len(reference) == len(pictures) and abs(shares[0] - figures[0]) <= points + 1e-9
    ok = ok and (first >= kSameClass * len(ours) if integers else abs(shares[1] - figures[1]) <= points + 1e-9 and deviation <= kLargestDeviation)
    table.row(ok, " ".join([model, *more]), f"{shares[0]:.1f}", f"{figures[0]:.1f}", f"{shares[1]:.1f}", f"{figures[1]:.1f}", f"{first}/{len(ours)}",
              f"{same}/{len(ours)}", deviation)


def main():
    parser = support.arguments(__doc__)
    parser.add_argument("--images", type=int, default=0, metavar="N", help="only N pictures, evenly spread")
    parser.add_argument("--model", action="append", choices=kModels, help="only this one; may be repeated")
    flags = parser.parse_args()
    folder = support.shared_folder(flags)
    pictures = sorted((folder / "images" / "val").glob("*.jpg"), key=lambda p: int(p.name.split("_")[0]))
    if flags.images:
        pictures = pictures[::max(1, len(pictures) // flags.images)][:flags.images]
    print(f"{len(pictures)} pictures; 'ort' columns: ONNX Runtime's; same: pictures with the same class, same top 5: with the same five classes in the same order")
    table = support.Table(("model", 49), ("top-1", 5), ("ort", 5), ("top-5", 5), ("ort", 5), ("same", 7), ("same top 5", 10), ("max deviation", 13))
    for model in flags.model or kModels:
        check(flags, folder, model, pictures, table)
        if model == kQdq:
            check(flags, folder, model, pictures, table, *kSumsOfOnnxRuntime)
    return table.finish()


if __name__ == "__main__":
    sys.exit(main())
