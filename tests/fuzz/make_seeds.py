#!/usr/bin/env python3
"""Rewrites the fuzzers' seeds: make_seeds.py CONFORMANCE_DATA (build/conformance/data; needs the onnx and Pillow packages)

tests/fuzz/onnx: a few small models an operator, whose inputs became initializers, so that constant folding runs the kernels.
tests/fuzz/image_fuzz: a picture of each kind, and preprocessing files. tests/fuzz/caffe_fuzz: a net a layer type, with blobs.
"""
import collections
import io
import pathlib
import struct
import sys

import onnx
from PIL import Image

HERE = pathlib.Path(__file__).parent
MOST_BYTES = 1500       # of one model
MODELS_AN_OPERATOR = 3


def constant_model(case):
    model = onnx.load(case / "model.onnx")
    graph = model.graph
    inputs = list(graph.input)
    del graph.input[:]
    for i, info in enumerate(inputs):
        tensor = onnx.TensorProto.FromString((case / f"test_data_set_0/input_{i}.pb").read_bytes())
        tensor.name = info.name
        graph.initializer.append(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), info.name))
    del graph.value_info[:]
    for op in graph.node:
        op.doc_string = ""
    return model


def onnx_seeds(data):
    by_operator = collections.defaultdict(dict)
    for case in sorted(data.iterdir()):
        if not (case / "model.onnx").exists() or "expanded" in case.name:
            continue
        try:
            model = constant_model(case)
        except Exception as problem:  # sequences and strings
            print(f"{case.name}: {problem}")
            continue
        raw = model.SerializeToString()
        if len(model.graph.node) != 1 or len(raw) > MOST_BYTES:
            continue
        node = model.graph.node[0]
        kind = (tuple(sorted(a.name for a in node.attribute)), len(node.input))  # one of each kind
        known = by_operator[node.op_type]
        if kind not in known or len(raw) < len(known[kind]):
            known[kind] = raw
    for operator, kinds in by_operator.items():
        for i, raw in enumerate(sorted(kinds.values(), key=len)[:MODELS_AN_OPERATOR]):
            write("onnx", f"{operator}-{i}", raw)


def write(folder, name, raw):
    path = HERE / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)


def image_seeds():
    picture = Image.new("RGB", (24, 16))
    picture.putdata([(x * 10, y * 15, (x * y) % 256) for y in range(16) for x in range(24)])
    forms = {"plain.jpg": ("JPEG", {}), "progressive.jpg": ("JPEG", {"progressive": True}), "plain.png": ("PNG", {}),
             "plain.bmp": ("BMP", {}), "plain.ppm": ("PPM", {})}
    for name, (form, options) in forms.items():
        out = io.BytesIO()
        picture.save(out, form, **options)
        write("image_fuzz", name, out.getvalue())
    for mode in ("L", "P", "RGBA", "I;16", "1"):
        out = io.BytesIO()
        (picture.convert("L").convert("I").convert("I;16") if mode == "I;16" else picture.convert(mode)).save(out, "PNG")
        write("image_fuzz", f"{mode.replace(';', '')}.png", out.getvalue())
    for mode in ("L", "CMYK"):
        out = io.BytesIO()
        picture.convert(mode).save(out, "JPEG")
        write("image_fuzz", f"{mode}.jpg", out.getvalue())
    write("image_fuzz", "preprocess.toml", b'resize_shorter = 256\ncrop = [224, 224]\nmean = [0.4, 0.5, 0.6]\nscale = 0.017\norder = "BGR"\nlayout = "NCHW"\n')


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, raw):
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def blob(dims):
    count = 1
    for d in dims:
        count *= d
    return field(7, field(1, b"".join(map(varint, dims)))) + field(5, struct.pack(f"<{count}f", *range(1, count + 1)))


LAYERS = {
    "Convolution": ("convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 2 dilation: 1 group: 2 }", [[4, 2, 3, 3], [4]]),
    "Deconvolution": ("convolution_param { num_output: 2 kernel_size: 2 stride: 2 }", [[4, 2, 2, 2], [2]]),
    "InnerProduct": ("inner_product_param { num_output: 3 }", [[3, 120], [3]]),
    "Pooling": ("pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }", []),
    "PReLU": ("", [[4]]),
    "ELU": ("elu_param { alpha: 0.5 }", []),
    "LRN": ("lrn_param { local_size: 3 norm_region: WITHIN_CHANNEL }", []),
    "BatchNorm": ("batch_norm_param { eps: 1e-4 }", [[4], [4], [1]]),
    "Scale": ("scale_param { bias_term: true axis: 1 }", [[4], [4]]),
    "Bias": ("", [[4]]),
    "Concat": ("bottom: 'data' concat_param { axis: 1 }", []),
    "Eltwise": ("bottom: 'data' eltwise_param { operation: SUM coeff: 1 coeff: -1 }", []),
    "Slice": ("top: 'z' slice_param { axis: 1 slice_point: 1 }", []),
    "Softmax": ("softmax_param { axis: 1 }", []),
    "Flatten": ("flatten_param { axis: 1 end_axis: -1 }", []),
    "Reshape": ("reshape_param { shape { dim: 0 dim: -1 } axis: 0 num_axes: -1 }", []),
    "Permute": ("permute_param { order: 0 order: 2 order: 3 order: 1 }", []),
    "Normalize": ("norm_param { across_spatial: false }", [[4]]),
    "Power": ("power_param { power: 2 scale: 3 shift: 1 }", []),
    "Reduction": ("reduction_param { operation: MEAN axis: 1 }", []),
    "ArgMax": ("argmax_param { top_k: 2 axis: 1 }", []),
    "Crop": ("bottom: 'data' crop_param { axis: 2 offset: 0 }", []),
    "Interp": ("interp_param { height: 9 width: 8 }", []),
    "Upsample": ("upsample_param { scale: 2 }", []),
    "Dropout": ("", []),
    "Split": ("top: 'z'", []),
}


def caffe_seeds():
    for kind, (rest, blobs) in LAYERS.items():
        text = ("layer { name: 'data' type: 'Input' top: 'data' input_param { shape { dim: 2 dim: 4 dim: 6 dim: 5 } } } "
                f"layer {{ name: 'l' type: '{kind}' bottom: 'data' top: 'y' {rest} }}").encode()
        weights = field(100, field(1, b"l") + b"".join(field(7, blob(b)) for b in blobs)) if blobs else b""
        write("caffe_fuzz", kind, struct.pack("<H", len(text)) + text + weights)


if __name__ == "__main__":
    onnx_seeds(pathlib.Path(sys.argv[1]))
    image_seeds()
    caffe_seeds()
