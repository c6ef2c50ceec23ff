#!/usr/bin/env python3
"""Rewrites the fuzzers' seeds: make_seeds.py CONFORMANCE_DATA (build/conformance/data; needs the onnx and Pillow packages)

tests/fuzz/onnx: a few small models an operator, whose inputs became initializers, so that constant folding runs the kernels; and
networks of the forms that passes rewrite.
tests/fuzz/image_fuzz: a picture of each kind, and preprocessing files. tests/fuzz/caffe_fuzz: a net a layer type, with blobs.
tests/fuzz/rest_request_fuzz: requests to a server. tests/fuzz/tokenizer_fuzz: a few pieces of each kind. tests/fuzz/answer_fuzz:
outputs of a few heads.
"""
import base64
import collections
import io
import json
import pathlib
import re
import struct
import sys

import numpy
import onnx
from onnx import helper
from PIL import Image

HERE = pathlib.Path(__file__).parent
MOST_BYTES = 1500       # of one model
MODELS_AN_OPERATOR = 3
CONTROL_FLOW = ("test_if", "test_loop11", "test_scan9_sum", "test_scan9_multi_state", "test_sequence_model1", "test_sequence_model6")


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
    for case in CONTROL_FLOW:  # with inputs, so that bodies are decided in the run
        write("onnx", case.removeprefix("test_"), (data / case / "model.onnx").read_bytes())


class Net:
    """A network of one input in f32, node by node; each method returns the name of its result."""

    def __init__(self, *shape):
        self.shape, self.nodes, self.constants = shape, [], []

    def constant(self, values, kind=numpy.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(numpy.array(values, kind), name))
        return name

    def weights(self, *shape, kind=numpy.int8):
        count = int(numpy.prod(shape))
        levels = (numpy.arange(count) * 37 % 101 - 50).reshape(shape)
        return self.constant(levels * 0.01 if kind is numpy.float32 else levels, kind)

    def op(self, kind, *inputs, domain="", **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"n{len(self.nodes)}", domain=domain, **attributes))
        return name

    def scale(self, kind=numpy.uint8):
        return self.constant(0.0625), self.constant(3, kind)

    def weight_scale(self):
        return self.constant(0.01), self.constant(0, numpy.int8)

    def rounded(self, x, kind=numpy.uint8):
        scale = self.scale(kind)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, *scale), *scale)

    def dequantized(self, *shape, kind=numpy.int8, scale=0.01, axis=0):
        scales = self.constant([scale * (i + 1) for i in range(shape[axis])])
        return self.op("DequantizeLinear", self.weights(*shape, kind=kind), scales, axis=axis)

    def write(self, name, *outputs):
        value = lambda of, shape: helper.make_tensor_value_info(of, onnx.TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, name, [value("x", self.shape)], [value(o, None) for o in outputs], self.constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        write("onnx", f"net-{name}", helper.make_model(graph, opset_imports=opsets).SerializeToString())


def quantized_seeds():
    for kind in (numpy.uint8, numpy.int8):
        n = Net(1, 4, 6, 5)
        x = n.rounded("x", kind)
        bias = n.dequantized(4, kind=numpy.int32, scale=0.000625)
        x = n.rounded(n.op("Relu", n.op("Conv", x, n.dequantized(4, 4, 3, 3), bias, pads=[1, 1, 1, 1])), kind)
        y = n.rounded(n.op("Clip", n.op("Conv", x, n.dequantized(4, 1, 3, 3), group=4, pads=[1, 1, 1, 1]), n.constant(0), n.constant(6)), kind)
        y = n.rounded(n.op("Mul", y, n.op("Sigmoid", y)), kind)
        y = n.rounded(n.op("MaxPool", n.rounded(n.op("Add", x, y), kind), kernel_shape=[2, 2]), kind)
        y = n.rounded(n.op("Concat", y, n.rounded(n.op("Relu", y), kind), axis=1), kind)
        y = n.op("Flatten", n.rounded(n.op("GlobalAveragePool", y), kind))
        n.write(f"qdq-{kind.__name__}", n.op("Gemm", y, n.dequantized(3, 8), n.dequantized(3, kind=numpy.int32, scale=0.000625), transB=1))
    n = Net(2, 3, 8)
    q = n.op("QuantizeLinear", "x", *n.scale())
    of_x, out = (q, *n.scale()), n.scale()
    product = n.op("QLinearMatMul", *of_x, n.weights(8, 8), *n.weight_scale(), *out)
    y = n.op("QLinearAdd", *of_x, product, *out, *n.scale(), domain="com.microsoft")
    y = n.op("QLinearConcat", *n.scale(), *of_x, y, *n.scale(), domain="com.microsoft", axis=-1)
    for kind in ("QLinearLeakyRelu", "QLinearSigmoid"):
        y = n.op(kind, y, *n.scale(), *n.scale(), domain="com.microsoft")
    y = n.op("QLinearSoftmax", y, *n.scale(), *n.scale(), domain="com.microsoft", axis=-1, opset=13)
    n.write("microsoft-qlinear", n.op("DequantizeLinear", n.op("QLinearMul", y, *n.scale(), y, *n.scale(), *n.scale(), domain="com.microsoft"), *n.scale()))
    n = Net(1, 4, 6, 5)
    q = n.op("QuantizeLinear", "x", *n.scale())
    y = n.op("QLinearAveragePool", q, *n.scale(), *n.scale(), domain="com.microsoft", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    y = n.op("QLinearGlobalAveragePool", y, *n.scale(), *n.scale(), domain="com.microsoft")
    y = n.op("QGemm", n.op("Flatten", y), *n.scale(), n.weights(4, 3), *n.weight_scale(), n.weights(3, kind=numpy.int32), domain="com.microsoft")
    n.write("microsoft-images", y)
    n = Net(3, 8)
    y = n.op("DynamicQuantizeMatMul", "x", n.weights(8, 4), n.constant(0.01), n.constant(0, numpy.int8), n.weights(4, kind=numpy.float32), domain="com.microsoft")
    q = n.op("QuantizeLinear", y, *n.scale())
    n.write("microsoft-dynamic", n.op("MatMulIntegerToFloat", q, n.weights(4, 2), n.constant(0.1), n.constant(0.01), n.constant(3, numpy.uint8), domain="com.microsoft"))


def fused_seeds():
    fused = lambda n, kind, *inputs, **attributes: n.op(kind, *inputs, domain="com.microsoft", **attributes)
    n = Net(1, 4, 6, 5)
    y = fused(n, "FusedConv", "x", n.weights(4, 4, 3, 3, kind=numpy.float32), n.weights(4, kind=numpy.float32), "x", pads=[1, 1, 1, 1], activation="Clip",
              activation_params=[0.0, 6.0])
    y = fused(n, "QuickGelu", fused(n, "Gelu", y))
    n.write("microsoft-fused-images", fused(n, "FusedGemm", n.op("Flatten", y), n.weights(3, 120, kind=numpy.float32), transB=1, activation="LeakyRelu",
                                            activation_alpha=0.3))
    n = Net(2, 3, 8)
    vector = lambda: n.weights(8, kind=numpy.float32)
    y = fused(n, "SkipLayerNormalization", "x", "x", vector(), vector(), vector(), epsilon=0.001)
    y = fused(n, "SkipSimplifiedLayerNormalization", y, "x", vector(), vector())
    y = fused(n, "FastGelu", fused(n, "BiasGelu", y, vector()), vector())
    n.write("microsoft-fused", fused(n, "FusedMatMul", y, fused(n, "FusedMatMul", "x", y, transA=1, alpha=0.5), transB=1))


def transformer_seeds():
    layer = lambda n, kind, *inputs, **attributes: n.op(kind, *inputs, domain="com.microsoft", **attributes)
    numbers = lambda n, *values: n.constant(values, numpy.int32)
    floats = lambda n, *shape: n.weights(*shape, kind=numpy.float32)
    n = Net(2, 3, 8)
    y = layer(n, "Attention", "x", floats(n, 8, 24), floats(n, 24), numbers(n, 2, 3, 1, 0), floats(n, 2, 2, 2, 1, 4), floats(n, 1, 2, 3, 4), num_heads=2, unidirectional=1)
    y = layer(n, "RotaryEmbedding", y, n.constant([[0, 1, 2], [2, 3, 4]], numpy.int64), floats(n, 5, 2), floats(n, 5, 2), num_heads=2)
    y = layer(n, "MultiHeadAttention", y, "x", "x", floats(n, 24), n.constant([[1, 1, 0]] * 2, numpy.int32), num_heads=2)
    n.write("microsoft-attention", y)
    n = Net(2, 3, 8)
    y = layer(n, "MatMulNBits", "x", n.constant([[[0x7B] * 8]] * 8, numpy.uint8), floats(n, 8), n.constant([9] * 8, numpy.uint8), K=8, N=8, block_size=16)
    y = layer(n, "GroupQueryAttention", y, floats(n, 2, 3, 4), floats(n, 2, 3, 4), floats(n, 2, 1, 4, 4), floats(n, 2, 1, 4, 4), numbers(n, 2, 2), numbers(n, 3), floats(n, 9, 2),
              floats(n, 9, 2), num_heads=2, kv_num_heads=1, do_rotary=1, local_window_size=2)
    n.write("microsoft-decoder", y)
    n = Net(1, 5, 6, 4)
    y = layer(n, "NhwcFusedConv", "x", floats(n, 4, 2, 3, 3), floats(n, 4), "x", group=2, pads=[1, 1, 1, 1], activation="Relu")
    n.write("microsoft-channels-last", layer(n, "GroupNorm", y, floats(n, 4), floats(n, 4), groups=2, activation=1))
    n = Net(2, 4)
    rows = layer(n, "GatherBlockQuantized", n.constant([[0x5A] * 4] * 5, numpy.uint8), n.constant([1, 3], numpy.int64), floats(n, 5, 1), bits=4, block_size=16)
    ids = n.constant([[1, 0, 2]], numpy.int32)
    words = layer(n, "EmbedLayerNormalization", ids, ids, floats(n, 3, 8), floats(n, 4, 8), floats(n, 3, 8), floats(n, 8), floats(n, 8))
    n.write("microsoft-tables", rows, words, layer(n, "ExpandDims", "x", n.constant(0, numpy.int32)))


def convolution_seeds():
    ints = lambda n, *values: n.constant(values, numpy.int64)
    n = Net(1, 2, 6, 4)
    parts = [n.op("Slice", "x", ints(n, r, c), ints(n, 99, 99), ints(n, 2, 3), ints(n, 2, 2)) for c in (0, 1) for r in (0, 1)]
    n.write("focus", n.op("Conv", n.op("Concat", *parts, axis=1), n.weights(3, 8, 1, 1, kind=numpy.float32)))
    n = Net(1, 2, 6, 4)
    y = n.op("Conv", n.op("SpaceToDepth", "x", blocksize=2), n.weights(4, 8, 1, 1, kind=numpy.float32))
    y = n.op("ConvTranspose", n.op("Relu", y), n.weights(4, 3, 3, 3, kind=numpy.float32), strides=[2, 2], pads=[1, 1, 1, 1])
    n.write("there-and-back", n.op("Resize", y, "", n.constant([1, 1, 2, 2]), mode="linear"))
    n = Net(1, 8, 5)
    y = n.op("Conv", n.op("Transpose", "x", perm=[0, 2, 1]), n.weights(4, 5, 3, kind=numpy.float32), pads=[1, 1])
    y = n.op("MaxPool", n.op("Mul", y, n.op("Sigmoid", y)), kernel_shape=[2], strides=[2])
    n.write("line", n.op("Transpose", n.op("Concat", y, y, axis=1), perm=[0, 2, 1]))
    n = Net(1, 4, 6, 5)
    y = n.op("BatchNormalization", n.op("Conv", n.op("Pad", "x", ints(n, 0, 0, 1, 1, 0, 0, 1, 1)), n.weights(4, 4, 3, 3, kind=numpy.float32)),
             *[n.constant([1, 2, 3, 4]) for _ in range(4)])
    n.write("residual", n.op("Relu", n.op("Add", y, "x")))


def write(folder, name, raw):
    path = HERE / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)


def tokenizer_seeds():
    pieces = [b"<unk>", b"<s>", b"</s>", b"<0x61>", b" ", b"a", b"b", b"ab", "\u00e4".encode()]
    write("tokenizer_fuzz", "small.bin", bytes(4) + b"".join(struct.pack("<fi", -i, len(piece)) + piece for i, piece in enumerate(pieces)))

    special = [{"id": 0, "content": "<s>", "lstrip": True, "rstrip": True, "normalized": False, "special": True},
               {"id": 9, "content": "aB", "normalized": True, "special": False}]
    frame = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
             "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}}
    pairs = {"type": "BPE", "vocab": {"<s>": 0, "a": 1, "b": 2, "ab": 3, "\u2581": 4, "<0x20>": 5, "\u0120": 6}, "merges": ["a b"], "unk_token": "<s>",
             "fuse_unk": True, "byte_fallback": True, "ignore_merges": True}
    kinds = {
        "bytes": {"model": pairs, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}, "decoder": {"type": "ByteLevel"},
                  "post_processor": {"type": "ByteLevel"}},
        "characters": {"model": {**pairs, "merges": [["a", "b"]]}, "post_processor": frame, "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}, {"type": "Lowercase"}]},
            "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
                                                         {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}},
        "metaspace": {"model": pairs, "post_processor": {"type": "RobertaProcessing", "sep": ["<s>", 0], "cls": ["<s>", 0]},
                      "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True},
                      "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"}},
        "words": {"model": {"type": "WordPiece", "vocab": {"<s>": 0, "a": 1, "##b": 2}, "unk_token": "<s>", "max_input_chars_per_word": 9},
                  "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##"}},
    }
    # A trie of "a", which becomes "b": as text_changes_test.cc has a larger one.
    units = [0] * 128
    units[0], units[97], units[1] = 0, 97 | 1 << 8 | (97 ^ 1) << 10, 1 << 31
    charsmap = base64.b64encode(struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"b\0").decode()
    split = lambda pattern, behavior="Isolated", invert=False: {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}
    words = r"(?i:'s|'ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    kinds["split"] = {"model": pairs, "decoder": {"type": "ByteLevel"}, "normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        split(words), split(r"^(?>[a-z&&[^b]]{2,}?|\d*?x)$|(?m).\x41", "MergedWithNext", True), {"type": "Digits", "individual_digits": True},
        {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "WhitespaceSplit"}]}}
    kinds["pieces"] = {"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [["<s>", 0.0], ["\u2581", -1.5], ["a", -2.5], ["ab", -3], ["<0x20>", -9]]},
                       "normalizer": {"type": "Sequence", "normalizers": [
                           {"type": "Precompiled", "precompiled_charsmap": charsmap}, {"type": "Strip", "strip_left": False, "strip_right": True}, {"type": "NFKC"},
                           {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
                       "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"}, "decoder": {"type": "Metaspace"}}
    for name, kind in kinds.items():
        write("tokenizer_fuzz", f"{name}.json", json.dumps({"added_tokens": special, **kind}).encode())


def answer_seeds():
    """The numbers of a head, of its layout, of whether classes are chosen, and of names; then outputs: the number of a name, a rank and dimensions; and the
    values of all of them."""
    source = (HERE.parents[1] / "src/answer/answer.cc").read_text()
    heads = re.findall(r'"([\w-]+)",\s+(?:\.kind = )?AnswerKind::', source)

    def outputs(*shapes):
        return bytes([len(shapes)]) + b"".join(bytes([name, len(shape), *shape]) for name, shape in shapes)
    values = struct.pack("<4f", 0.75, -0.5, 2, 0.25)
    # The input is 16x16 pixels.
    cases = {"retinaface": ((0, (1, 12, 4)), (1, (1, 12, 2)), (2, (1, 12, 10))), "yolo-v3": ((0, (1, 12, 2, 2)), (1, (1, 12, 1, 1))),
             "yolo-pose": ((0, (1, 56, 3)),), "yolo-x": ((0, (1, 6, 7)),), "movenet": ((0, (1, 1, 17, 3)),), "movenet-multipose": ((0, (1, 6, 56)),),
             "posenet": ((4, (1, 2, 3, 3)), (8, (1, 4, 3, 3))), "nanodet": ((0, (1, 7, 35)),), "rt-detr": ((0, (1, 3, 4)), (3, (1, 3, 5)))}
    for name, shapes in cases.items():
        write("answer_fuzz", name.replace("-", "_"), bytes([heads.index(name), 0, 0, 0]) + outputs(*shapes) + values)
    last = ((0, (1, 3, 3, 4)),)
    write("answer_fuzz", "channels_last", bytes([heads.index("classes"), 1, 1, 0]) + outputs(*last) + values)
    write("answer_fuzz", "tokens", bytes(4) + outputs((3, (1, 4, 9))) + values)


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
    "BN": ("bn_param { frozen: true momentum: 0.95 eps: 1e-4 }", [[1, 4, 1, 1]] * 4),
    "SPP": ("spp_param { pyramid_height: 2 pool: AVE }", []),
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
    "Axpy": ("bottom: 'data' bottom: 'data'", []),
    "Clip": ("clip_param { min: -1 max: 2 }", []),
    "Mish": ("", []),
    "MVN": ("mvn_param { normalize_variance: true across_channels: true eps: 0.1 }", []),
    "PriorBox": ("bottom: 'data' prior_box_param { min_size: 2 max_size: 3 aspect_ratio: 2 flip: true clip: true variance: 0.1 "
                 "img_w: 9 img_h: 8 step: 2 offset: 0.5 }", []),
    "Reorg": ("reorg_param { stride: 2 reverse: true }", []),
    "ShuffleChannel": ("shuffle_channel_param { group: 2 }", []),
    "Swish": ("swish_param { beta: 2 }", []),
    "Tile": ("tile_param { axis: 2 tiles: 3 }", []),
}
# Of the layer that has three bottoms of different shapes: 30 boxes, and scores of 4 classes for each.
DETECTION = ("layer { name: 'f' type: 'Flatten' bottom: 'data' top: 'f' } "
             "layer { name: 'p' type: 'PriorBox' bottom: 'data' bottom: 'data' top: 'p' prior_box_param { min_size: 2 } } "
             "layer { name: 'l' type: 'DetectionOutput' bottom: 'f' bottom: 'f' bottom: 'p' top: 'y' detection_output_param { "
             "num_classes: 4 share_location: true background_label_id: 0 nms_param { nms_threshold: 0.4 top_k: 9 eta: 0.9 } "
             "code_type: CENTER_SIZE keep_top_k: 5 confidence_threshold: 0.1 variance_encoded_in_target: true clip: true } }")


def caffe_seeds():
    def net(kind, layers, blobs):
        text = f"layer {{ name: 'data' type: 'Input' top: 'data' input_param {{ shape {{ dim: 2 dim: 4 dim: 6 dim: 5 }} }} }} {layers}".encode()
        weights = field(100, field(1, b"l") + b"".join(field(7, blob(b)) for b in blobs)) if blobs else b""
        write("caffe_fuzz", kind, struct.pack("<H", len(text)) + text + weights)

    for kind, (rest, blobs) in LAYERS.items():
        net(kind, f"layer {{ name: 'l' type: '{kind}' bottom: 'data' top: 'y' {rest} }}", blobs)
    net("DetectionOutput", DETECTION, [])


def request_seeds():
    """Bodies of requests to a server, behind the length of their JSON: without the header, and with tensors in bytes."""
    def body(name, inputs, raw=b"", header=False, **more):
        text = json.dumps({"inputs": inputs, **more}).encode()
        write("rest_request_fuzz", name, struct.pack("<H", len(text) if header else 0xffff) + text + raw)

    def tensor(name, datatype, shape, data=None, size=None):
        elements = {"data": data} if size is None else {"parameters": {"binary_data_size": size}}
        return {"name": name, "datatype": datatype, "shape": shape, **elements}

    body("floats", [tensor("x", "FP32", [1, 2, 2], [0.5, -1e-3, 3, 4.25])], id="7", parameters={"binary_data_output": True, "t": 0.5})
    body("nested", [tensor("x", "INT64", [2, 2], [[1, 2], [-3, 4]]), tensor("b", "BOOL", [2], [True, False])],
         outputs=[{"name": "y", "parameters": {"classification": 3, "binary_data": False}}])
    body("texts", [tensor("t", "BYTES", [2], ["a\n", "\u00e9"]), tensor("h", "FP16", [3], ["NaN", "-Infinity", 65504])])
    texts = b"".join(struct.pack("<I", len(t)) + t for t in (b"ab", b"\xff"))
    body("bytes", [tensor("x", "FP32", [2], size=8), tensor("t", "BYTES", [2], size=len(texts)), tensor("u", "UINT8", [1], [255])],
         struct.pack("<2f", 1, -2) + texts, header=True)


if __name__ == "__main__":
    onnx_seeds(pathlib.Path(sys.argv[1]))
    quantized_seeds()
    fused_seeds()
    transformer_seeds()
    convolution_seeds()
    image_seeds()
    caffe_seeds()
    request_seeds()
    tokenizer_seeds()
    answer_seeds()
