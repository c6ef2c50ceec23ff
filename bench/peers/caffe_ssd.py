"""An SSD as users of Caffe have it, MobileNet v1 of 300x300 pixels with heads on six maps, and its twin in ONNX's operators, with the same weights.

The layers and the boxes are those of the published MobileNet-SSD for 21 classes, with batch norms folded; the weights are seeded random numbers.
"""
import os

import numpy as np
import onnx

import beside
from network_writer import Network

SIDE, CLASSES = 300, 21
OVERLAP, SCORE, MOST_OF_CLASS, MOST = 0.45, 0.25, 400, 100
VARIANCES = (0.1, 0.1, 0.2, 0.2)
# channels and stride of each pair of a depthwise and a pointwise convolution behind the first convolution
PAIRS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
EXTRA = ((256, 512), (128, 256), (128, 256), (64, 128))  # channels of the 1x1 convolution and of the 3x3 one behind it, which halves the map
SIZES = ((60, None), (105, 150), (150, 195), (195, 240), (240, 285), (285, 300))  # of the boxes on each map: least and most
RATIOS = ((2,), *[(2, 3)] * 5)


class Map:
    """A feature map in both networks."""

    def __init__(self, blob, value, channels, side):
        self.blob, self.value, self.channels, self.side = blob, value, channels, side


class Twins:
    """Both networks, layer by layer."""

    def __init__(self):
        self.onnx, self.text, self.weights = Network(10), [f'name: "caffe_ssd" input: "data" input_shape {{ dim: 1 dim: 3 dim: {SIDE} dim: {SIDE} }}'], []

    def layer(self, kind, name, bottoms, top, parameters=""):
        words = " ".join(f'bottom: "{bottom}"' for bottom in bottoms)
        self.text.append(f'layer {{ name: "{name}" type: "{kind}" {words} top: "{top}" {parameters} }}')
        return top

    def conv(self, name, of, out, kernel, stride=1, group=1, relu=True, gain=1.0):
        """`gain` is that of the values' variance, which a ReLU halves. Weights of an output add up to nothing where no ReLU is behind them, so that
        scores differ from place to place."""
        shape = (out, of.channels // group, kernel, kernel)
        weights = self.onnx.random.uniform(-1, 1, shape) * np.sqrt(3 * gain * (2 if relu else 1) / np.prod(shape[1:]))
        weights -= 0 if relu else weights.mean(axis=(1, 2, 3), keepdims=True)
        bias = self.onnx.random.uniform(-0.1, 0.1, out)
        self.weights.append((name, [weights.astype(np.float32), bias.astype(np.float32)]))
        pad = kernel // 2
        self.layer("Convolution", name, [of.blob], name, f"convolution_param {{ num_output: {out} kernel_size: {kernel} pad: {pad} stride: {stride} group: {group} }}")
        value = self.onnx.add("Conv", of.value, self.onnx.constant(weights), self.onnx.constant(bias), kernel_shape=[kernel] * 2, pads=[pad] * 4,
                              strides=[stride] * 2, group=group)
        if relu:
            self.layer("ReLU", f"{name}/relu", [name], name)
            value = self.onnx.add("Relu", value)
        return Map(name, value, out, (of.side + 2 * pad - kernel) // stride + 1)

    def row(self, name, of, width):
        """A map place by place: one row in Caffe, rows of `width` in ONNX."""
        blob = self.layer("Permute", f"{name}_perm", [of.blob], f"{name}_perm", "permute_param { order: 0 order: 2 order: 3 order: 1 }")
        blob = self.layer("Flatten", f"{name}_flat", [blob], f"{name}_flat", "flatten_param { axis: 1 }")
        return blob, self.onnx.add("Reshape", self.onnx.add("Transpose", of.value, perm=[0, 2, 3, 1]), self.onnx.integers(1, -1, width))


def maps(t):
    """The six maps on which boxes are looked for."""
    x, found = t.conv("conv0", Map("data", t.onnx.input("data", [1, 3, SIDE, SIDE]), 3, SIDE), 32, 3, stride=2), []
    for i, (out, stride) in enumerate(PAIRS, 1):
        x = t.conv(f"conv{i}/dw", x, x.channels, 3, stride, group=x.channels)
        x = t.conv(f"conv{i}", x, out, 1)
        if i in (11, 13):
            found.append(x)
    for i, (narrow, out) in enumerate(EXTRA, 14):
        x = t.conv(f"conv{i}_2", t.conv(f"conv{i}_1", x, narrow, 1), out, 3, stride=2)
        found.append(x)
    return found


def box_sizes(least, most, ratios):
    """Widths and heights in pixels, in the order of Caffe's layer."""
    sizes = [(least, least)] + ([(np.sqrt(least * most),) * 2] if most else [])
    return sizes + [(least * np.sqrt(r), least / np.sqrt(r)) for ratio in ratios for r in (ratio, 1 / ratio)]


def priors(side, sizes):
    """Corners of the boxes of a map, in fractions of the picture."""
    middle = (np.arange(side) + 0.5) / side
    y, x = (m[:, :, None] for m in np.meshgrid(middle, middle, indexing="ij"))
    half_width, half_height = (np.array(s) / (2 * SIDE) for s in zip(*sizes))
    return np.stack([x - half_width, y - half_height, x + half_width, y + half_height], -1).reshape(-1, 4)


def heads(t):
    """Predictions of boxes, scores and prior boxes of all maps: blobs of the Caffe network, values of ONNX for the first two, and the priors."""
    parts, corners = {"loc": [], "conf": [], "prior": []}, []
    for i, (of, (least, most), ratios) in enumerate(zip(maps(t), SIZES, RATIOS)):
        sizes = box_sizes(least, most, ratios)
        for kind, width, gain in (("loc", 4, 1), ("conf", CLASSES, 16)):
            parts[kind].append(t.row(f"{kind}{i}", t.conv(f"{kind}{i}", of, len(sizes) * width, 1, relu=False, gain=gain), width))
        words = f"min_size: {least} " + (f"max_size: {most} " if most else "") + " ".join(f"aspect_ratio: {r}" for r in ratios)
        words += " flip: true clip: false offset: 0.5 " + " ".join(f"variance: {v}" for v in VARIANCES)
        parts["prior"].append((t.layer("PriorBox", f"prior{i}", [of.blob, "data"], f"prior{i}", f"prior_box_param {{ {words} }}"), None))
        corners.append(priors(of.side, sizes))
    blobs = [t.layer("Concat", kind, [blob for blob, _ in parts[kind]], kind, f"concat_param {{ axis: {2 if kind == 'prior' else 1} }}") for kind in parts]
    values = [t.onnx.add("Concat", *(value for _, value in parts[kind]), axis=1) for kind in ("loc", "conf")]
    return blobs, values, np.concatenate(corners)


def caffe_end(t, loc, conf, prior):
    rows = t.layer("Reshape", "conf_rows", [conf], "conf_rows", f"reshape_param {{ shape {{ dim: 0 dim: -1 dim: {CLASSES} }} }}")
    rows = t.layer("Softmax", "softmax", [rows], "softmax", "softmax_param { axis: 2 }")
    scores = t.layer("Flatten", "scores", [rows], "scores", "flatten_param { axis: 1 }")
    t.layer("DetectionOutput", "found", [loc, scores, prior], "found",
            f"detection_output_param {{ num_classes: {CLASSES} share_location: true background_label_id: 0 code_type: CENTER_SIZE keep_top_k: {MOST} "
            f"confidence_threshold: {SCORE} nms_param {{ nms_threshold: {OVERLAP} top_k: {MOST_OF_CLASS} }} }}")


def onnx_end(n, loc, conf, corners):
    """The same rows as Caffe's layer: image, label, score and corners, by class and score."""
    middle, size = (corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]
    moved, scaled = n.add("Split", loc, outputs=2, axis=2)
    middle = n.add("Add", n.add("Mul", moved, n.constant(size * VARIANCES[0])), n.constant(middle))
    half = n.add("Mul", n.add("Exp", n.add("Mul", scaled, n.constant(VARIANCES[2]))), n.constant(size / 2))
    boxes = n.add("Concat", n.add("Sub", middle, half), n.add("Add", middle, half), axis=2)
    scores = n.add("Transpose", n.add("Softmax", conf, axis=2), perm=[0, 2, 1])
    scores = n.add("Slice", scores, n.integers(1), n.integers(CLASSES), n.integers(1))
    kept = n.add("NonMaxSuppression", boxes, scores, n.integers(MOST_OF_CLASS), n.constant([OVERLAP]), n.constant([SCORE]))
    score = n.add("GatherND", scores, kept)
    count = n.add("Min", n.add("Shape", score), n.integers(MOST))
    best = n.add("TopK", n.add("TopK", score, count, outputs=2)[1], count, outputs=2, largest=0)[0]  # in the order in which they were kept
    kept, score = n.add("Gather", kept, best), n.add("Gather", score, best)
    corners = n.add("GatherND", boxes, n.add("Gather", kept, n.integers(0, 2), axis=1))
    labels = n.add("Add", n.add("Gather", kept, n.integers(0, 1), axis=1), n.integers(0, 1))  # labels count the background
    rows = n.add("Concat", n.add("Cast", labels, to=1), n.add("Unsqueeze", score, n.integers(1)), corners, axis=1)
    n.output(n.add("Unsqueeze", rows, n.integers(0, 1)), "found", [1, 1, "found", 7])


def field(number, content):
    """A field of protobuf that has a length."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    low = bytes([value & 0x7F | (0x80 if value > 0x7F else 0)])
    return low + varint(value >> 7) if value > 0x7F else low


def caffemodel(weights):
    """The file of [(layer, blobs)], with the numbers of fields in caffe.proto."""
    def blob(values):
        return field(7, field(1, b"".join(map(varint, values.shape)))) + field(5, values.tobytes())

    return b"".join(field(100, field(1, name.encode()) + b"".join(field(7, blob(b)) for b in blobs)) for name, blobs in weights)


def write(folder):
    """Both networks, and the table beside them. Gives the path of the twin."""
    t = Twins()
    (loc, conf, prior), values, corners = heads(t)
    caffe_end(t, loc, conf, prior)
    onnx_end(t.onnx, *values, corners)
    files = ["caffe_ssd.prototxt", "caffe_ssd.caffemodel"]
    with open(os.path.join(folder, files[0]), "w") as file:
        file.write("\n".join(t.text) + "\n")
    with open(os.path.join(folder, files[1]), "wb") as file:
        file.write(caffemodel(t.weights))
    path = os.path.join(folder, "caffe_ssd.onnx")
    onnx.save(t.onnx.model("caffe_ssd"), path)
    beside.write(path, mete=files, tolerance=1e-5)
    return path
