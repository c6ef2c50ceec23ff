#!/usr/bin/env python3
"""Rewrites the seeds of tflite_fuzz: tflite_seeds.py [FOLDER] (default: tests/fuzz/tflite_fuzz; needs flatc)

A model for each operator and form of it. Runtimes for the format run these models, too.
"""
import pathlib
import struct
import sys

from tflite_model import HERE, Model, numbers, read_codes
from tflite_runs import control, sequences


def products():
    def conv(padding, activation="NONE", **more):
        m = Model()
        y = m.op("CONV_2D", [m.input([2, 7, 6, 4]), m.floats([3, 3, 2, 4]), m.floats([3])], "Conv2DOptions", padding=padding, stride_w=2, stride_h=1,
                 activation=activation, **more)
        return m, y
    yield "conv-same", *conv("SAME", "RELU6")
    yield "conv-valid", *conv("VALID", "RELU")
    yield "conv-dilated", *conv("SAME", dilation_h=2)
    m = Model()
    yield "conv-grouped", m, m.op("CONV_2D", [m.input([1, 5, 5, 4]), m.floats([6, 3, 3, 2]), m.floats([6])], "Conv2DOptions", padding="SAME", stride_w=1,
                                  stride_h=1)
    for padding, bias in (("SAME", True), ("VALID", False)):
        m = Model()
        y = m.op("CONV_3D", [m.input([2, 4, 5, 6, 2]), m.floats([2, 3, 3, 2, 3]), *([m.floats([3])] if bias else [])], "Conv3DOptions",
                 padding=padding, stride_d=1, stride_h=2, stride_w=1, activation="RELU" if bias else "NONE", dilation_w=1 if bias else 2)
        yield f"conv-3d-{padding.lower()}", m, y
    m = Model()
    x = m.op("CONV_2D", [m.input([1, 6, 6, 2]), m.floats([4, 1, 1, 2]), m.floats([4])], "Conv2DOptions", padding="SAME", stride_w=1, stride_h=1)
    x = m.op("DEPTHWISE_CONV_2D", [x, m.floats([1, 3, 3, 8]), m.floats([8])], "DepthwiseConv2DOptions", padding="SAME", stride_w=2, stride_h=2,
             activation="RELU_N1_TO_1")
    yield "depthwise", m, m.op("MEAN", [x, m.ints(1, 2)], "ReducerOptions")
    for padding, height, width in (("SAME", 8, 6), ("SAME", 7, 5), ("VALID", 9, 7), ("VALID", 10, 7)):
        m = Model()
        y = m.op("TRANSPOSE_CONV", [m.ints(2, height, width, 3), m.floats([3, 3, 3, 4]), m.input([2, 4, 3, 4]), m.floats([3])], "TransposeConvOptions",
                 padding=padding, stride_w=2, stride_h=2)
        yield f"transpose-conv-{padding.lower()}-{height}", m, y
    m = Model()
    y = m.op("FULLY_CONNECTED", [m.input([2, 3, 4]), m.floats([5, 6]), m.floats([5])], "FullyConnectedOptions", activation="RELU")
    yield "fully-connected", m, y
    m = Model()
    y = m.op("FULLY_CONNECTED", [m.input([2, 3, 4]), m.floats([5, 4]), -1], "FullyConnectedOptions", keep_num_dims=True)
    yield "fully-connected-3d", m, y
    m = Model()
    yield "batch-matmul", m, m.op("BATCH_MATMUL", [m.input([2, 3, 4]), m.input([2, 5, 4])], "BatchMatMulOptions", adj_y=True)


def images():
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        for padding in ("SAME", "VALID"):
            m = Model()
            y = m.op(name, [m.input([2, 7, 6, 4])], "Pool2DOptions", padding=padding, stride_w=2, stride_h=1, filter_w=3, filter_h=2, activation="RELU")
            yield f"{name.lower()}-{padding.lower()}", m, y
    for padding in ("SAME", "VALID"):
        m = Model()
        yield f"l2-pool-{padding.lower()}", m, m.op("L2_POOL_2D", [m.input([2, 7, 6, 3])], "Pool2DOptions", padding=padding, stride_w=2, stride_h=1,
                                                    filter_w=3, filter_h=2)
    for radius in (1, 3):
        m = Model()
        yield f"lrn-{radius}", m, m.op("LOCAL_RESPONSE_NORMALIZATION", [m.input([1, 3, 2, 7])], "LocalResponseNormalizationOptions", radius=radius, bias=1.5,
                                       alpha=0.25, beta=0.75)
    for name, options in (("RESIZE_BILINEAR", "ResizeBilinearOptions"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")):
        for mode in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
            for size in ((9, 11), (3, 2)):
                m = Model()
                y = m.op(name, [m.input([1, 5, 6, 2]), m.ints(*size)], options, **mode)
                yield f"{name.lower()}-{''.join(mode)}-{size[0]}", m, y
    m = Model()
    yield "space-to-depth", m, m.op("SPACE_TO_DEPTH", [m.input([1, 4, 6, 3])], "SpaceToDepthOptions", block_size=2)
    m = Model()
    yield "space-to-batch", m, m.op("SPACE_TO_BATCH_ND", [m.input([2, 5, 4, 3]), m.ints(3, 2), m.constant([2, 2], [1, 0, 0, 2], "INT32")])
    m = Model()
    yield "space-to-batch-line", m, m.op("SPACE_TO_BATCH_ND", [m.input([2, 6, 3]), m.ints(2), m.constant([1, 2], [1, 1], "INT32")])
    m = Model()
    yield "batch-to-space", m, m.op("BATCH_TO_SPACE_ND", [m.input([12, 3, 4, 2]), m.ints(2, 3), m.constant([2, 2], [1, 0, 2, 3], "INT32")])
    # A dilated convolution as older converters write it, with padding that makes whole blocks, and with bytes.
    for kind in ("FLOAT32", "UINT8"):
        m = Model()
        scale = {} if kind == "FLOAT32" else {"scale": 1 / 32, "zero": 128}
        value = lambda: [m.tensor([], kind, **scale)]
        x = m.op("SPACE_TO_BATCH_ND", [m.input([1, 9, 8, 4], kind, **scale), m.ints(2, 3), m.constant([2, 2], [2, 3, 3, 4], "INT32")], outputs=value())
        w = m.floats([1, 3, 3, 4]) if kind == "FLOAT32" else m.constant([1, 3, 3, 4], [(i * 37) % 101 for i in range(36)], kind, scale=1 / 64, zero=50)
        b = m.floats([4]) if kind == "FLOAT32" else m.constant([4], [100, -300, 0, 50], "INT32", scale=1 / 2048)
        y = m.op("DEPTHWISE_CONV_2D", [x, w, b], "DepthwiseConv2DOptions", outputs=value(), padding="VALID", stride_w=1, stride_h=1, activation="RELU6" if kind == "FLOAT32" else "NONE")
        yield f"dilated-{kind.lower()}", m, m.op("BATCH_TO_SPACE_ND", [y, m.ints(2, 3), m.constant([2, 2], [0, 1, 0, 1], "INT32")], outputs=value())
    m = Model()
    yield "depth-to-space", m, m.op("DEPTH_TO_SPACE", [m.input([1, 2, 3, 12])], "DepthToSpaceOptions", block_size=2)


def elementwise():
    for name in ("ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOGISTIC", "NEG", "RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "ROUND",
                 "SIGN", "SIN", "SQUARE", "TANH"):
        m = Model()
        yield name.lower(), m, m.op(name, [m.input([2, 5])])
    for name in ("LOG", "RSQRT", "SQRT"):
        m = Model()
        yield name.lower(), m, m.op(name, [m.op("ADD", [m.op("ABS", [m.input([2, 5])]), m.constant([], [0.25])], "AddOptions")])
    for name in ("ADD", "SUB", "MUL", "DIV"):
        m = Model()
        kind = f"{name.capitalize()}Options"
        yield name.lower(), m, m.op(name, [m.input([2, 3, 4, 5]), m.floats([5], 2)], kind, activation="RELU6")
        m = Model()
        x = m.op("CONV_2D", [m.input([1, 4, 3, 2]), m.floats([4, 1, 1, 2]), m.floats([4])], "Conv2DOptions", padding="SAME", stride_w=1, stride_h=1)
        x = m.op(name, [x, m.constant([4], [0.5, 1.5, 2, 3])], kind)
        yield f"{name.lower()}-planar", m, m.op(name, [x, m.constant([1, 4, 3, 1], [0.5 + i for i in range(12)])], kind, activation="RELU")
    for name in ("MINIMUM", "MAXIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV"):
        m = Model()
        yield name.lower(), m, m.op(name, [m.input([2, 3, 4]), m.floats([3, 1], 2)])
    for name in ("FLOOR_DIV", "FLOOR_MOD"):
        m = Model()
        divisors = m.constant([2, 5], [3, -3, 7, -7, 50, -50, 1, -1, 99, -101], "INT32")
        x = m.op("SUB", [m.input([2, 5], "INT32"), m.constant([], [50], "INT32")], "SubOptions", outputs=[m.tensor([2, 5], "INT32")])
        yield f"{name.lower()}-int", m, m.op(name, [x, divisors], outputs=[m.tensor([2, 5], "INT32")])
    m = Model()
    yield "floor-mod", m, m.op("FLOOR_MOD", [m.input([2, 3, 4]), m.constant([3, 1], [0.75, -0.5, 1.25])])
    m = Model()
    yield "pow", m, m.op("POW", [m.op("ABS", [m.input([2, 3])]), m.constant([], [1.5])])
    for name in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        m = Model()
        yield name.lower(), m, m.op(name, [m.input([2, 4]), m.constant([4], [0.0, 0.5, -0.5, 0.25])], outputs=[m.tensor([], "BOOL")])
    for name in ("LOGICAL_AND", "LOGICAL_OR"):
        m = Model()
        yield name.lower(), m, m.op(name, [m.input([4], "BOOL"), m.input([4], "BOOL")], outputs=[m.tensor([], "BOOL")])
    m = Model()
    yield "logical-not", m, m.op("LOGICAL_NOT", [m.input([4], "BOOL")], outputs=[m.tensor([], "BOOL")])
    m = Model()
    yield "select", m, m.op("SELECT", [m.input([2], "BOOL"), m.input([2, 3]), m.input([2, 3])])
    m = Model()
    yield "select-v2", m, m.op("SELECT_V2", [m.input([2, 1], "BOOL"), m.input([2, 3]), m.constant([], [0.5])])
    m = Model()
    yield "select-scalar", m, m.op("SELECT", [m.constant([], [False], "BOOL"), m.input([2, 3], "INT32"), m.input([2, 3], "INT32")],
                                   outputs=[m.tensor([2, 3], "INT32")])
    m = Model()
    yield "leaky-relu", m, m.op("LEAKY_RELU", [m.input([2, 5])], "LeakyReluOptions", alpha=0.25)
    m = Model()
    x = m.op("CONV_2D", [m.input([1, 4, 3, 2]), m.floats([4, 1, 1, 2]), m.floats([4])], "Conv2DOptions", padding="SAME", stride_w=1, stride_h=1)
    yield "prelu", m, m.op("PRELU", [x, m.constant([1, 1, 4], [0.5, 0.25, -1, 2])])
    for approximate in (False, True):
        m = Model()
        yield f"gelu-{approximate}", m, m.op("GELU", [m.input([2, 5])], "GeluOptions", approximate=approximate)
    m = Model()
    x = m.op("CONV_2D", [m.input([1, 4, 3, 2]), m.floats([4, 1, 1, 2]), m.floats([4])], "Conv2DOptions", padding="SAME", stride_w=1, stride_h=1)
    yield "softmax-planar", m, m.op("SOFTMAX", [x], "SoftmaxOptions", beta=0.5)
    m = Model()
    yield "log-softmax", m, m.op("LOG_SOFTMAX", [m.input([2, 5])])
    m = Model()
    yield "l2-normalization", m, m.op("L2_NORMALIZATION", [m.input([2, 5])])
    m = Model()
    yield "bitwise-xor", m, m.op("BITWISE_XOR", [m.input([2, 5], "INT32"), m.ints(-1, 7, 100, 5, 64)], outputs=[m.tensor([2, 5], "INT32")])
    m = Model()
    yield "add-n", m, m.op("ADD_N", [m.input([2, 3]), m.input([2, 3]), m.floats([2, 3])])
    m = Model()
    yield "cast", m, m.op("CAST", [m.input([2, 5], "INT32")])
    m = Model()
    yield "weights-f16", m, m.op("ADD", [m.input([4]), m.op("DEQUANTIZE", [m.constant([4], [0.5, 1, -2, 3], "FLOAT16")])], "AddOptions")


def reductions():
    for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for axes, keep in (((1, 2), True), ((-1,), False), ((1,), False), ((0, 3), False)):
            m = Model()
            x = m.op("MAX_POOL_2D", [m.input([2, 4, 3, 5])], "Pool2DOptions", padding="SAME", stride_w=1, stride_h=1, filter_w=2, filter_h=2)
            yield f"{name.lower()}-{'_'.join(map(str, axes))}-{keep}", m, m.op(name, [x, m.ints(*axes)], "ReducerOptions", keep_dims=keep)
    for name in ("REDUCE_ANY", "REDUCE_ALL"):
        m = Model()
        yield name.lower(), m, m.op(name, [m.input([2, 3], "BOOL"), m.ints(1)], "ReducerOptions", outputs=[m.tensor([], "BOOL")])
    for name in ("ARG_MAX", "ARG_MIN"):
        m = Model()
        x = m.op("MAX_POOL_2D", [m.input([2, 4, 3, 5])], "Pool2DOptions", padding="SAME", stride_w=1, stride_h=1, filter_w=2, filter_h=2)
        yield name.lower(), m, m.op(name, [x, m.constant([], [-1], "INT32")], f"Arg{name[4:].capitalize()}Options", output_type="INT32",
                                       outputs=[m.tensor([], "INT32")])
    m = Model()
    yield "topk", m, *m.op("TOPK_V2", [m.input([2, 7]), m.constant([], [3], "INT32")], outputs=[m.tensor([]), m.tensor([], "INT32")])
    m = Model()
    yield "cumsum", m, m.op("CUMSUM", [m.input([2, 5]), m.constant([], [1], "INT32")], "CumsumOptions", exclusive=True, reverse=True)


def moves():
    def pooled(m):
        return m.op("MAX_POOL_2D", [m.input([2, 4, 3, 6])], "Pool2DOptions", padding="SAME", stride_w=1, stride_h=1, filter_w=2, filter_h=2)
    m = Model()
    yield "reshape", m, m.op("RESHAPE", [pooled(m), m.ints(2, -1, 4)], "ReshapeOptions", new_shape=[2, -1, 4])
    m = Model()
    yield "reshape-options", m, m.op("RESHAPE", [m.input([2, 6])], "ReshapeOptions", new_shape=[3, 4])
    m = Model()
    yield "squeeze", m, m.op("SQUEEZE", [m.input([1, 3, 1, 2])], "SqueezeOptions", squeeze_dims=[-2])
    m = Model()
    yield "squeeze-all", m, m.op("SQUEEZE", [m.input([1, 3, 1, 2])])
    m = Model()
    yield "expand-dims", m, m.op("EXPAND_DIMS", [m.input([3, 2]), m.constant([], [-2], "INT32")])
    m = Model()
    yield "transpose", m, m.op("TRANSPOSE", [pooled(m), m.ints(0, 3, 1, 2)])
    for axis in (3, -3):
        m = Model()
        x = pooled(m)
        yield f"concatenation-{axis}", m, m.op("CONCATENATION", [x, m.input([2, 4, 3, 6])], "ConcatenationOptions", axis=axis)
    m = Model()
    yield "pack", m, m.op("PACK", [m.input([2, 3]), m.input([2, 3])], "PackOptions", axis=1, values_count=2)
    m = Model()
    yield "unpack", m, *m.op("UNPACK", [m.input([2, 3])], "UnpackOptions", axis=1, num=3, outputs=[m.tensor([]) for _ in range(3)])
    m = Model()
    yield "split", m, *m.op("SPLIT", [m.constant([], [3], "INT32"), pooled(m)], "SplitOptions", num_splits=3, outputs=[m.tensor([]) for _ in range(3)])
    m = Model()
    yield "split-v", m, *m.op("SPLIT_V", [pooled(m), m.ints(1, -1, 2), m.constant([], [3], "INT32")], "SplitVOptions", num_splits=3, outputs=[m.tensor([]) for _ in range(3)])
    pads = lambda m: m.constant([4, 2], [0, 0, 1, 2, 0, 1, 0, 0], "INT32")
    m = Model()
    x = m.op("PAD", [m.input([1, 4, 4, 2]), pads(m)])
    yield "pad-conv", m, m.op("CONV_2D", [x, m.floats([3, 3, 3, 2]), m.floats([3])], "Conv2DOptions", padding="VALID", stride_w=2, stride_h=2)
    m = Model()
    yield "padv2", m, m.op("PADV2", [m.input([1, 4, 4, 2]), pads(m), m.constant([], [0.5])])
    m = Model()
    yield "mirror-pad", m, m.op("MIRROR_PAD", [m.input([1, 4, 4, 2]), pads(m)], "MirrorPadOptions", mode="REFLECT")
    m = Model()
    yield "mirror-pad-symmetric", m, m.op("MIRROR_PAD", [m.input([3, 4]), m.constant([2, 2], [1, 0, 1, 1], "INT32")], "MirrorPadOptions", mode="SYMMETRIC")
    m = Model()
    yield "mirror-pad-symmetric-deep", m, m.op("MIRROR_PAD", [m.input([1, 4, 3, 2]), m.constant([4, 2], [0, 0, 2, 4, 3, 0, 1, 2], "INT32")],
                                               "MirrorPadOptions", mode="SYMMETRIC")
    m = Model()
    yield "tile", m, m.op("TILE", [m.input([2, 3]), m.ints(2, 3)])
    m = Model()
    yield "broadcast-to", m, m.op("BROADCAST_TO", [m.input([2, 1]), m.ints(3, 2, 4)], version=2)
    m = Model()
    yield "fill", m, m.op("MUL", [m.input([2, 3]), m.op("FILL", [m.ints(2, 3), m.constant([], [1.5])])], "MulOptions")
    m = Model()
    yield "gather", m, m.op("GATHER", [m.input([4, 3]), m.ints(2, 0, 2)], "GatherOptions", axis=0)
    m = Model()
    yield "gather-nd", m, m.op("GATHER_ND", [m.input([4, 3]), m.constant([2, 2], [2, 0, 3, 1], "INT32")])
    m = Model()
    x = m.input([2, 4, 3, 6])
    whole = m.op("SHAPE", [x], "ShapeOptions", out_type="INT32", outputs=[m.tensor([4], "INT32")])
    batch = m.op("STRIDED_SLICE", [whole, m.ints(0), m.ints(1), m.ints(1)], "StridedSliceOptions", shrink_axis_mask=1, outputs=[m.tensor([], "INT32")])
    last = m.op("MUL", [m.constant([], [3], "INT32"), m.constant([], [6], "INT32")], "MulOptions", outputs=[m.tensor([], "INT32")])
    sizes = m.op("PACK", [batch, m.constant([], [-1], "INT32"), last], "PackOptions", values_count=3, outputs=[m.tensor([3], "INT32")])
    yield "reshape-computed", m, m.op("RESHAPE", [x, sizes])


def makes():
    m = Model()
    steps = m.op("RANGE", [m.constant([], [v], "INT32") for v in (11, -4, -3)], outputs=[m.tensor([5], "INT32")])
    yield "range-known", m, m.op("ADD", [m.input([3, 5], "INT32"), steps], "AddOptions", outputs=[m.tensor([3, 5], "INT32")])
    m = Model()
    yield "range-float", m, m.op("ADD", [m.input([7]), m.op("RANGE", [m.constant([], [v]) for v in (-0.5, 1.2, 0.25)])], "AddOptions")
    m = Model()
    limit = m.op("REDUCE_MAX", [m.input([3], "INT32"), m.ints(0)], "ReducerOptions", outputs=[m.tensor([], "INT32")])
    yield "range-computed", m, m.op("RANGE", [m.constant([], [-3], "INT32"), limit, m.constant([], [9], "INT32")], outputs=[m.tensor([0], "INT32")])
    m = Model()
    yield "rank", m, m.op("RANK", [m.input([2, 1, 3])], outputs=[m.tensor([], "INT32")])
    m = Model()
    x = m.input([2, 3], "INT32")
    yield "zeros-like", m, m.op("ZEROS_LIKE", [x], outputs=[m.tensor([2, 3], "INT32")])
    m = Model()
    x = m.input([2, 3, 4])
    shape = m.op("SHAPE", [x], "ShapeOptions", out_type="INT32", outputs=[m.tensor([3], "INT32")])
    count = m.op("REDUCE_PROD", [shape, m.ints(0)], "ReducerOptions", outputs=[m.tensor([], "INT32")])
    half = m.op("FLOOR_DIV", [count, m.constant([], [5], "INT32")], outputs=[m.tensor([], "INT32")])
    odd = m.op("FLOOR_MOD", [count, m.constant([], [5], "INT32")], outputs=[m.tensor([], "INT32")])
    sizes = m.op("PACK", [half, odd, m.constant([], [2], "INT32")], "PackOptions", values_count=3, outputs=[m.tensor([3], "INT32")])
    columns = m.op("SLICE", [m.op("RESHAPE", [x, m.ints(24)]), m.ints(0), m.ints(4)])
    yield "shape-arithmetic", m, m.op("ADD", [m.op("FILL", [sizes, m.constant([], [0.5])]), m.op("RESHAPE", [columns, m.ints(4, 1, 1)])], "AddOptions")


def indices():
    for axis, batch, places in ((1, 1, (2, 3)), (2, 1, (2, 2)), (2, 2, (2, 3, 1)), (3, 1, (2, 2, 2)), (2, -1, (2, 3))):
        m = Model()
        count = 1
        for d in places:
            count *= d
        at = m.constant(list(places), [i * 7 % 3 for i in range(count)], "INT32")
        yield f"gather-{axis}-{batch}", m, m.op("GATHER", [m.input([2, 3, 4, 3]), at], "GatherOptions", axis=axis, batch_dims=batch)
    m = Model()
    x = m.input([2, 3, 4], "INT8", scale=0.02, zero=-8)
    yield "gather-bytes", m, m.op("GATHER", [x, m.constant([2, 2], [1, 0, 2, 2], "INT32")], "GatherOptions", axis=1, batch_dims=1,
                                  outputs=[m.tensor([2, 2, 4], "INT8", scale=0.02, zero=-8)])
    for axis, kind, off, on in ((-1, "FLOAT32", -0.5, 2.5), (0, "INT8", -100, 100), (1, "BOOL", True, False), (1, "INT32", 7, -9)):
        m = Model()
        x = m.op("SUB", [m.input([2, 3], "INT32"), m.constant([], [36], "INT32")], "SubOptions", outputs=[m.tensor([2, 3], "INT32")])
        yield f"one-hot-{axis}-{kind.lower()}", m, m.op("ONE_HOT", [x, m.constant([], [40], "INT32"), m.constant([], [on], kind), m.constant([], [off], kind)],
                                                        "OneHotOptions", axis=axis, outputs=[m.tensor([], kind)])
    m = Model()
    yield "where-bool", m, m.op("WHERE", [m.input([2, 3, 2], "BOOL")], outputs=[m.tensor([0, 3], "INT64")])
    m = Model()
    positive = m.op("RELU", [m.input([3, 4])])
    places = m.op("WHERE", [positive], outputs=[m.tensor([0, 2], "INT64")])
    taken = m.op("GATHER_ND", [positive, places])
    yield "where-gather", m, m.op("MUL", [taken, m.constant([], [2.0])], "MulOptions"), m.op("SHAPE", [places], "ShapeOptions", out_type="INT32",
                                                                                            outputs=[m.tensor([2], "INT32")])
    m = Model()
    at = m.constant([4, 1], [3, 0, 3, 1], "INT32")
    yield "scatter-nd", m, m.op("SCATTER_ND", [at, m.input([4, 3]), m.ints(5, 3)])
    m = Model()
    at = m.constant([3, 2], [0, 1, 2, 0, 0, 1], "INT32")
    yield "scatter-nd-int", m, m.op("SCATTER_ND", [at, m.input([3], "INT32"), m.ints(3, 2)], outputs=[m.tensor([3, 2], "INT32")])
    m = Model()
    yield "embedding", m, m.op("EMBEDDING_LOOKUP", [m.ints(3, 0, 3), m.input([4, 2, 3])])
    table = [(i * 37) % 200 - 100 for i in range(20)]
    m = Model()
    yield "embedding-bytes", m, m.op("EMBEDDING_LOOKUP", [m.ints(3, 0, 1, 3), m.constant([4, 5], table, "INT8", scale=0.02)])
    m = Model()
    yield "embedding-rows", m, m.op("EMBEDDING_LOOKUP", [m.ints(3, 0, 1, 3), m.constant([4, 5], table, "INT8", scale=[0.02, 0.5, 0.125, 0.01])])
    m = Model()
    first = m.op("SUB", [m.input([3], "INT32"), m.ints(1, 36, 73)], "SubOptions", outputs=[m.tensor([3], "INT32")])
    yield "dynamic-update-slice", m, m.op("DYNAMIC_UPDATE_SLICE", [m.input([3, 4, 2]), m.floats([2, 2, 2], 9), first])
    m = Model()
    yield "segment-sum", m, m.op("SEGMENT_SUM", [m.input([5, 2]), m.ints(0, 0, 1, 2, 2)])
    m = Model()
    segments = m.op("FLOOR_DIV", [m.op("RANGE", [m.constant([], [v], "INT32") for v in (0, 5, 1)], outputs=[m.tensor([5], "INT32")]), m.ints(2)],
                    outputs=[m.tensor([5], "INT32")])
    copies = m.op("ADD", [segments, m.op("REDUCE_MIN", [m.input([2], "INT32"), m.ints(0)], "ReducerOptions", outputs=[m.tensor([], "INT32")])], "AddOptions",
                  outputs=[m.tensor([5], "INT32")])
    yield "segment-sum-computed", m, m.op("SEGMENT_SUM", [m.input([5, 3], "INT32"), copies], outputs=[m.tensor([3, 3], "INT32")])
    m = Model()
    x = m.op("FLOOR_MOD", [m.input([9], "INT32"), m.constant([], [4], "INT32")], outputs=[m.tensor([9], "INT32")])
    yield "unique", m, *m.op("UNIQUE", [x], "UniqueOptions", idx_out_type="INT32", outputs=[m.tensor([0], "INT32"), m.tensor([9], "INT32")])


def suppressions():
    """The second box shares half of the first one, which is the limit; the others share less or more."""
    boxes = [0, 0, 1, 1, 0, 0, 1, 2, 0, 0.125, 1, 1.125, 3, 3, 2, 2, 2, 2, 3, 3.25, 5, 5, 6, 6, 0.25, 0, 1.25, 1]
    for version, most in ((4, 3), (4, 9), (5, 6)):
        m = Model()
        inputs = [m.constant([7, 4], boxes), m.input([7]), m.constant([], [most], "INT32"), m.constant([], [0.5]), m.constant([], [-1.25])]
        outputs = [m.tensor([most], "INT32"), m.tensor([], "INT32")]
        if version == 5:
            inputs.append(m.constant([], [0.0]))
            outputs.insert(1, m.tensor([most]))
        yield f"nms-{version}-{most}", m, *m.op(f"NON_MAX_SUPPRESSION_V{version}", inputs, outputs=outputs)


def slices():
    def strided(begin, end, step, shape=(3, 4, 5, 6), **masks):
        m = Model()
        x = m.op("MAX_POOL_2D", [m.input(list(shape))], "Pool2DOptions", padding="SAME", stride_w=1, stride_h=1, filter_w=1, filter_h=1)
        return m, m.op("STRIDED_SLICE", [x, m.ints(*begin), m.ints(*end), m.ints(*step)], "StridedSliceOptions", **masks)
    yield "strided-plain", *strided((0, 1, 0, 1), (3, 4, 5, -1), (1, 2, 1, 2))
    yield "strided-back", *strided((0, -1, 0, 0), (0, 0, 0, 0), (1, -1, 1, 2), begin_mask=1, end_mask=15)
    yield "strided-shrink", *strided((1, 0, -2, 0), (2, 4, 0, 6), (1, 1, 1, 1), shrink_axis_mask=5)
    yield "strided-new", *strided((0, 1, 0), (0, 3, 0), (1, 1, 1), new_axis_mask=1, end_mask=4, begin_mask=4)
    yield "strided-ellipsis", *strided((1, 0, 2), (3, 0, 5), (1, 1, 1), ellipsis_mask=2)
    m = Model()
    yield "slice", m, m.op("SLICE", [m.input([3, 4, 5]), m.ints(1, 0, 2), m.ints(2, -1, 2)])
    def computed(m, *values):
        """Numbers that only the run knows: an input is 0, 37, 74 and so on."""
        count = len(values)
        x = m.input([count], "INT32")
        return m.op("SUB", [x, m.ints(*(i * 37 % 101 - v for i, v in enumerate(values)))], "SubOptions", outputs=[m.tensor([count], "INT32")])
    m = Model()
    yield "slice-computed", m, m.op("SLICE", [m.input([3, 4, 5]), computed(m, 1, 0, 3), m.ints(2, 4, 1)])
    m = Model()
    part = m.op("SLICE", [m.input([3, 4, 5]), computed(m, 1, 2, 3), m.ints(2, -1, 2)])
    yield "slice-to-end", m, m.op("CONCATENATION", [part, m.floats([2, 1, 2])], "ConcatenationOptions", axis=1)
    m = Model()
    begin = computed(m, 0, 2, 0)
    yield "strided-computed", m, m.op("STRIDED_SLICE", [m.input([3, 4, 5]), begin, m.ints(0, 0, 0), m.ints(1, 1, 1)], "StridedSliceOptions", begin_mask=5,
                                      end_mask=5, shrink_axis_mask=2)
    for time, batch in ((1, 0), (0, 2)):
        m = Model()
        lengths = m.ints(*([3, 0, 4] if batch == 0 else [2, 3, 0, 1, 2]))
        yield f"reverse-sequence-{time}", m, m.op("REVERSE_SEQUENCE", [m.input([3, 4, 5]), lengths], "ReverseSequenceOptions", seq_dim=time, batch_dim=batch)
    m = Model()
    yield "reverse", m, m.op("REVERSE_V2", [m.input([3, 4]), m.ints(1)])


def quantized():
    for kind, zero in (("UINT8", 120), ("INT8", -8)):
        q = lambda m, shape, scale, zero=zero: m.tensor(shape, kind, scale=scale, zero=zero)
        for per_channel in ((False,) if kind == "UINT8" else (False, True)):
            m = Model()
            x = m.input([1, 6, 5, 4], kind, scale=0.02, zero=zero)
            levels = [(i * 37) % 200 - 100 + (128 if kind == "UINT8" else 0) for i in range(3 * 3 * 3 * 4)]
            scales = [0.005, 0.01, 0.02] if per_channel else 0.01
            w = m.constant([3, 3, 3, 4], levels, kind, scale=scales, zero=125 if kind == "UINT8" else 0)
            b = m.constant([3], [300, -500, 20], "INT32")
            y = m.op("CONV_2D", [x, w, b], "Conv2DOptions", padding="SAME", stride_w=1, stride_h=1, activation="RELU6", outputs=[q(m, [1, 6, 5, 3], 0.03)])
            scales = [0.005, 0.01, 0.02] if per_channel else 0.01
            w = m.constant([1, 3, 3, 3], levels[:27], kind, scale=scales, zero=125 if kind == "UINT8" else 0, axis=3)
            y = m.op("DEPTHWISE_CONV_2D", [y, w, b], "DepthwiseConv2DOptions", padding="SAME", stride_w=2, stride_h=2, outputs=[q(m, [1, 3, 3, 3], 0.02)])
            yield f"{kind.lower()}-conv-{per_channel}", m, y
        m = Model()
        x = m.input([1, 4, 4, 2], kind, scale=0.02, zero=zero)
        p = m.op("PAD", [x, m.constant([4, 2], [0, 0, 1, 0, 0, 1, 0, 0], "INT32")], outputs=[q(m, [1, 5, 5, 2], 0.02)])
        w = m.constant([2, 2, 2, 2], [(i * 37) % 200 - 100 + (128 if kind == "UINT8" else 0) for i in range(16)], kind, scale=0.01,
                       zero=125 if kind == "UINT8" else 0)
        c = m.op("CONV_2D", [p, w, m.constant([2], [100, -70], "INT32")], "Conv2DOptions", padding="VALID", stride_w=1, stride_h=1,
                 outputs=[q(m, [1, 4, 4, 2], 0.03 if kind == "INT8" else 0.02)])
        a = m.op("ADD", [c, x], "AddOptions", activation="RELU", outputs=[q(m, [1, 4, 4, 2], 0.03)])
        j = m.op("CONCATENATION", [a, c], "ConcatenationOptions", axis=3, outputs=[q(m, [1, 4, 4, 4], 0.03)])
        j = m.op("AVERAGE_POOL_2D", [j], "Pool2DOptions", padding="VALID", stride_w=2, stride_h=2, filter_w=2, filter_h=2, outputs=[q(m, [1, 2, 2, 4], 0.03)])
        g = m.op("MEAN", [j, m.ints(1, 2)], "ReducerOptions", outputs=[q(m, [1, 4], 0.03)])
        w = m.constant([3, 4], [(i * 37) % 200 - 100 + (128 if kind == "UINT8" else 0) for i in range(12)], kind, scale=0.01,
                       zero=125 if kind == "UINT8" else 0)
        f = m.op("FULLY_CONNECTED", [g, w, m.constant([3], [100, -70, 5], "INT32")], "FullyConnectedOptions", outputs=[q(m, [1, 3], 0.02)])
        s = m.op("LOGISTIC", [f], outputs=[q(m, [1, 3], 1 / 256, 0 if kind == "UINT8" else -128)])
        yield f"{kind.lower()}-network", m, s, f
        m = Model()
        x = m.input([1, 4, 4, 2], kind, scale=0.02, zero=zero)
        y = m.op("MAX_POOL_2D", [x], "Pool2DOptions", padding="SAME", stride_w=2, stride_h=2, filter_w=3, filter_h=3, outputs=[q(m, [1, 2, 2, 2], 0.02)])
        y = m.op("RESIZE_NEAREST_NEIGHBOR", [y, m.ints(4, 4)], "ResizeNearestNeighborOptions", outputs=[q(m, [1, 4, 4, 2], 0.02)])
        y = m.op("MUL", [x, y], "MulOptions", outputs=[q(m, [1, 4, 4, 2], 0.015)])
        y = m.op("RESHAPE", [y, m.ints(4, 8)], "ReshapeOptions", outputs=[q(m, [4, 8], 0.015)])
        yield f"{kind.lower()}-moves", m, m.op("SOFTMAX", [y], "SoftmaxOptions", beta=1.0,
                                               outputs=[q(m, [4, 8], 1 / 256, 0 if kind == "UINT8" else -128)])
    levels = [(i * 37) % 15 - 7 for i in range(3 * 9 * 4)]
    m = Model()
    x = m.input([1, 6, 5, 4], "INT8", scale=0.02, zero=-8)
    w = m.halves([3, 3, 3, 4], levels, scale=[0.05, 0.1, 0.2])
    yield "int4-conv", m, m.op("CONV_2D", [x, w, m.constant([3], [30, -50, 20], "INT32")], "Conv2DOptions", padding="SAME", stride_w=1, stride_h=1,
                               outputs=[m.tensor([1, 6, 5, 3], "INT8", scale=0.15, zero=3)])
    m = Model()
    x = m.input([2, 5], "INT8", scale=0.02, zero=-8)
    yield "int4-fully-connected", m, m.op("FULLY_CONNECTED", [x, m.halves([3, 5], levels[:15], scale=0.1), m.constant([3], [30, -50, 20], "INT32", scale=0.002)],
                                          "FullyConnectedOptions", outputs=[m.tensor([2, 3], "INT8", scale=0.05, zero=3)])
    m = Model()
    x = m.op("QUANTIZE", [m.input([2, 3])], outputs=[m.tensor([2, 3], "UINT8", scale=0.01, zero=100)])
    y = m.op("QUANTIZE", [x], outputs=[m.tensor([2, 3], "INT8", scale=0.01, zero=-28)])
    yield "requantize", m, m.op("DEQUANTIZE", [y])
    m = Model()
    w = m.constant([3, 4], [(i * 37) % 200 - 100 for i in range(12)], "INT8", scale=0.01)
    yield "weights-int8", m, m.op("ADD", [m.input([3, 4]), m.op("DEQUANTIZE", [w])], "AddOptions")


def sparse():
    def listed(kind, segments, indices):
        return {"format": "SPARSE_CSR", "array_segments_type": kind, "array_segments": {"values": segments}, "array_indices_type": kind,
                "array_indices": {"values": indices}}
    whole = lambda size: {"format": "DENSE", "dense_size": size}
    m = Model()
    rows = {"traversal_order": [0, 1], "dim_metadata": [whole(3), listed("Uint8Vector", [0, 2, 2, 5], [1, 4, 0, 2, 3])]}
    w = m.op("DENSIFY", [m.constant([3, 5], [0.5, -1.0, 2.0, 3.0, -0.25], sparsity=rows)])
    yield "sparse-rows", m, m.op("ADD", [m.input([3, 5]), w], "AddOptions")
    m = Model()
    columns = {"traversal_order": [2, 0, 1], "dim_metadata": [whole(2), listed("Uint16Vector", [0, 1, 3], [2, 0, 1]), whole(2)]}
    w = m.op("DENSIFY", [m.constant([3, 2, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "FLOAT16", sparsity=columns)], outputs=[m.tensor([3, 2, 2], "FLOAT16")])
    yield "sparse-columns", m, m.op("ADD", [m.input([3, 2, 2]), m.op("DEQUANTIZE", [w])], "AddOptions")


def detections():
    """A custom operator, whose options are a map in flexible form: keys, offsets, sorted keys, values and types."""
    def options(**values):
        keys = sorted(values)
        out, at = b"", {}
        for key in keys:
            at[key] = len(out)
            out += key.encode() + b"\0"
        out += b"\0" * (-len(out) % 4)
        first = len(out)
        out += struct.pack("<I", len(keys))
        start = len(out)
        for i, key in enumerate(keys):
            out += struct.pack("<I", start + 4 * i - at[key])
        out += struct.pack("<III", len(out) - start, 4, len(keys))
        assert first % 4 == 0
        values_at = len(out)
        for key in keys:
            out += struct.pack("<f" if isinstance(values[key], float) else "<i", values[key])
        # types: 1 integer, 3 float, 26 boolean; their width of 4 bytes is 2
        out += bytes((3 if isinstance(values[key], float) else 1) << 2 | 2 for key in keys)
        return out + bytes([len(out) - values_at, 9 << 2 | 2, 1])
    for regular in (0, 1):
        m = Model()
        boxes, count = 12, 3
        anchors = [v for i in range(boxes) for v in (0.1 + 0.07 * i, 0.9 - 0.06 * i, 0.3, 0.25)]
        flags = options(max_detections=5, max_classes_per_detection=1, detections_per_class=4, use_regular_nms=regular, nms_score_threshold=0.2,
                        nms_iou_threshold=0.5, num_classes=count, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)
        made = m.op("CUSTOM", [m.input([1, boxes, 4]), m.op("LOGISTIC", [m.input([1, boxes, count + 1])]), m.constant([boxes, 4], anchors)],
                    outputs=[m.tensor([]) for _ in range(4)], custom=("TFLite_Detection_PostProcess", flags))
        yield f"detections-{regular}", m, *made


def spectra():
    def complex_of(m, x, *lengths):
        return m.op("RFFT2D", [x, m.ints(*lengths)], outputs=[m.tensor([], "COMPLEX64")])

    m = Model()
    yield "rfft-magnitudes", m, m.op("COMPLEX_ABS", [complex_of(m, m.input([2, 1, 16]), 1, 16)])
    m = Model()
    z = complex_of(m, m.input([3, 6, 7]), 4, 8)  # rows too many, columns too few
    yield "rfft-2d", m, m.op("REAL", [z]), m.op("IMAG", [z])
    m = Model()
    z = complex_of(m, m.input([2, 1, 20]), 4, 8)
    z = m.op("SQUEEZE", [m.op("EXPAND_DIMS", [z, m.constant([], [0], "INT32")], outputs=[m.tensor([], "COMPLEX64")])], "SqueezeOptions",
             outputs=[m.tensor([], "COMPLEX64")])
    z = m.op("RESHAPE", [z, m.ints(4, -1)], outputs=[m.tensor([], "COMPLEX64")])
    yield "rfft-moved", m, m.op("CAST", [z]), m.op("IMAG", [z])
    m = Model()
    x = m.input([1, 12])
    shape = m.op("SHAPE", [x], "ShapeOptions", out_type="INT32", outputs=[m.tensor([2], "INT32")])
    one, rest, none = m.op("SPLIT_V", [shape, m.ints(1, -1, 0), m.constant([], [0], "INT32")], "SplitVOptions", num_splits=3,
                           outputs=[m.tensor([n], "INT32") for n in (1, 1, 0)])
    count = m.op("RESHAPE", [rest, m.constant([0], [], "INT32")], outputs=[m.tensor([], "INT32")])
    frames = m.op("FLOOR_DIV", [count, m.constant([], [5], "INT32")], outputs=[m.tensor([], "INT32")])
    used = m.op("RESHAPE", [m.op("MUL", [frames, m.constant([], [5], "INT32")], "MulOptions", outputs=[m.tensor([], "INT32")]), m.ints(1)],
                outputs=[m.tensor([1], "INT32")])
    end = m.op("CONCATENATION", [one, used, none], "ConcatenationOptions", outputs=[m.tensor([2], "INT32")])
    yield "framed", m, m.op("STRIDED_SLICE", [x, m.ints(0, 0), end, m.ints(1, 1)], "StridedSliceOptions")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "tflite_fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    read_codes()
    for family in (products, images, elementwise, reductions, moves, makes, indices, suppressions, slices, quantized, sparse, sequences, spectra, control,
                   detections):
        for name, model, *outputs in family():
            model.write(folder / f"{name.replace('_', '-')}.tflite", *outputs)


if __name__ == "__main__":
    main()
