"""Small models of com.microsoft's operators, each with inputs that its masks and lengths need: what exporters of transformers and ONNX Runtime's optimizer write."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

kTypes = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.uint8): TensorProto.UINT8}
kBatch, kLength, kHeads, kSize = 2, 5, 4, 16
kHidden = kHeads * kSize


class Cases:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.cases = []

    def floats(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def add(self, name, op, inputs, constants=(), outputs=("y",), **attributes):
        """`inputs`: (name, value) in the operator's order, None where one is left out; those whose names are in `constants` are initializers."""
        names = [name_of[0] if name_of else "" for name_of in inputs]
        given = dict(i for i in inputs if i)
        node = helper.make_node(op, names, list(outputs), domain="com.microsoft", name="node", **attributes)
        graph = helper.make_graph(
            [node], "g",
            [helper.make_tensor_value_info(n, kTypes[v.dtype], v.shape) for n, v in given.items() if n not in constants],
            [helper.make_tensor_value_info(o, TensorProto.INT32 if o == "lengths" else TensorProto.UINT8 if op.startswith("QLinear") or op == "NhwcMaxPool" else TensorProto.FLOAT, None) for o in outputs if o],
            [numpy_helper.from_array(v, n) for n, v in given.items() if n in constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=9)
        self.cases.append((f"{op}: {name}", model, {n: v for n, v in given.items() if n not in constants}))


def attention(c):
    x, w, b = ("x", c.floats(kBatch, kLength, 24)), ("w", c.floats(24, 3 * kHidden) / 4), ("b", c.floats(3 * kHidden))
    ints = lambda *v: np.array(v, np.int32)
    valid = (c.rng.random((kBatch, kLength)) < 0.7).astype(np.int32)
    valid[:, 0] = 1
    masks = {"no mask": None, "lengths": ints(3, 5), "lengths and starts": ints(4, 5, 1, 0), "of keys": valid,
             "of queries and keys": np.maximum((c.rng.random((kBatch, kLength, kLength)) < 0.7).astype(np.int32), np.eye(kLength, dtype=np.int32))}
    for name, mask in masks.items():
        for causal in (0, 1):
            c.add(f"{name}, causal {causal}", "Attention", [x, w, b, ("m", mask) if mask is not None else None], ("w", "b"), num_heads=kHeads, unidirectional=causal)
    past = ("past", c.floats(2, kBatch, kHeads, 3, kSize))
    c.add("past", "Attention", [x, w, b, None, past], ("w", "b"), ("y", "present"), num_heads=kHeads, unidirectional=1)
    c.add("past and mask", "Attention", [x, w, b, ("m", np.concatenate([np.ones((kBatch, 3), np.int32), valid], 1)), past], ("w", "b"), ("y", "present"), num_heads=kHeads)
    c.add("present alone", "Attention", [x, w, b], ("w", "b"), ("y", "present"), num_heads=kHeads)
    c.add("bias of scores", "Attention", [x, w, b, None, None, ("r", c.floats(1, kHeads, kLength, kLength))], ("w", "b"), num_heads=kHeads, scale=0.3)
    c.add("no bias, filter", "Attention", [x, w, None, ("m", valid)], ("w",), num_heads=kHeads, mask_filter_value=-1.5)
    wide = ("w", c.floats(24, 2 * kHidden + 32) / 4), ("b", c.floats(2 * kHidden + 32))
    byte = lambda *shape: c.rng.integers(0, 256, shape).astype(np.uint8)
    scale, zero = lambda name, v: (name, np.array(v, np.float32)), lambda name, v: (name, np.array(v, np.uint8))
    c.add("mask", "QAttention", [("x", byte(kBatch, kLength, 24)), ("w", byte(24, 3 * kHidden)), b, scale("xs", 0.01), scale("ws", 0.02), ("m", valid), zero("xz", 120), zero("wz", 130)],
          ("w", "b", "xs", "ws", "xz", "wz"), num_heads=kHeads)
    c.add("other values", "Attention", [x, *wide], ("w", "b"), num_heads=kHeads, qkv_hidden_sizes=[kHidden, kHidden, 32])


def multi_head(c):
    q, k, v = ("q", c.floats(kBatch, kLength, kHidden)), ("k", c.floats(kBatch, 7, kHidden)), ("v", c.floats(kBatch, 7, 48))
    b = ("b", c.floats(2 * kHidden + 48))
    c.add("no bias", "MultiHeadAttention", [q, k, v], num_heads=kHeads)
    c.add("bias", "MultiHeadAttention", [q, k, v, b], ("b",), num_heads=kHeads, scale=0.2)
    valid = (c.rng.random((kBatch, 7)) < 0.7).astype(np.int32)
    valid[:, 0] = 1
    c.add("mask of keys", "MultiHeadAttention", [q, k, v, b, ("m", valid)], ("b",), num_heads=kHeads)
    c.add("lengths", "MultiHeadAttention", [q, k, v, None, ("m", np.array([4, 7], np.int32))], num_heads=kHeads)
    c.add("mask of queries and keys", "MultiHeadAttention", [q, k, v, None, ("m", np.maximum(c.rng.integers(0, 2, (kBatch, kLength, 7)), np.eye(kLength, 7)).astype(np.int32))], num_heads=kHeads)
    c.add("bias of scores", "MultiHeadAttention", [q, k, v, None, None, ("r", c.floats(1, kHeads, kLength, 7))], num_heads=kHeads)
    c.add("bias of scores for all heads", "MultiHeadAttention", [q, k, v, None, None, ("r", c.floats(kBatch, 1, kLength, 7))], num_heads=kHeads)
    cross = ("k", c.floats(kBatch, kHeads, 7, kSize)), ("v", c.floats(kBatch, kHeads, 7, kSize))
    c.add("keys in heads", "MultiHeadAttention", [q, *cross], num_heads=kHeads)
    own = ("k", c.floats(kBatch, kLength, kHidden)), ("v", c.floats(kBatch, kLength, kHidden))
    past = ("pk", c.floats(kBatch, kHeads, 3, kSize)), ("pv", c.floats(kBatch, kHeads, 3, kSize))
    for causal in (0, 1):
        c.add(f"past, causal {causal}", "MultiHeadAttention", [q, *own, ("b", c.floats(3 * kHidden)), None, None, *past], ("b",), ("y", "present_k", "present_v"), num_heads=kHeads, unidirectional=causal)
    c.add("present alone", "MultiHeadAttention", [q, *own], (), ("y", "present_k", "present_v"), num_heads=kHeads)


def group_query(c):
    kv, size = 2, 16
    cache = lambda rows: c.floats(rows, size // 2)

    def case(name, batch, length, buffer, lasts, total, packed=False, rotary=False, extra=(), **attributes):
        if packed:
            rows = [("q", c.floats(batch, length, (kHeads + 2 * kv) * size)), None, None]
        else:
            rows = [("q", c.floats(batch, length, kHeads * size)), ("k", c.floats(batch, length, kv * size)), ("v", c.floats(batch, length, kv * size))]
        past = [None, None]
        if buffer is not None:
            past = []
            for n in ("pk", "pv"):
                rest = c.floats(batch, kv, buffer, size)
                for row, last in enumerate(lasts):  # what is not written yet is zero, as ONNX Runtime's presents are
                    rest[row, :, 0 if total == length else last + 1 - length:] = 0
                past.append((n, rest))
        lengths = [("s", np.array(lasts, np.int32)), ("t", np.array(total, np.int32))]
        turned = [("cos", cache(32)), ("sin", cache(32))] if rotary else [None, None]
        inputs = rows + past + lengths + turned + list(extra)
        while inputs[-1] is None:
            inputs.pop()
        c.add(name, "GroupQueryAttention", inputs, ("t", "cos", "sin"), ("y", "present_k", "present_v"), num_heads=kHeads, kv_num_heads=kv, do_rotary=int(rotary), **attributes)

    case("prompt", 2, 6, 0, [5, 5], 6)
    case("prompt without past", 2, 6, None, [5, 5], 6)
    case("prompt in a buffer", 2, 6, 10, [5, 5], 6, rotary=True)
    case("a token", 2, 1, 7, [7, 7], 8)
    case("a token, rows of several lengths", 2, 1, 9, [4, 7], 8, rotary=True)
    case("a token in a buffer", 2, 1, 12, [4, 7], 8, packed=True, rotary=True, rotary_interleaved=1)
    case("more tokens behind a past", 1, 4, 5, [8], 9, rotary=True)
    case("packed prompt", 2, 6, 0, [5, 5], 6, packed=True, rotary=True, scale=0.2)
    for window in (1, 3):
        case(f"window {window}", 1, 6, 0, [5], 6, local_window_size=window)
        case(f"window {window}, a token", 2, 1, 9, [4, 7], 8, local_window_size=window)
    case("softcap", 2, 6, 0, [5, 5], 6, softcap=2.0)
    case("smooth softmax", 2, 6, 0, [5, 5], 6, smooth_softmax=1)
    bias = c.floats(1, kHeads, 6, 6)
    case("bias of scores", 2, 6, 0, [5, 5], 6, extra=[None, ("r", bias)], softcap=3.0)
    case("bias of scores, a token in a buffer", 2, 1, 12, [7, 7], 8, extra=[None, ("r", c.floats(2, 1, 1, 8))])
    case("sinks", 2, 6, 0, [5, 5], 6, extra=[None, None, ("h", c.floats(kHeads))])
    case("positions", 1, 4, 5, [8], 9, rotary=True, extra=[("p", np.array([[5, 6, 7, 8]], np.int64))])
    case("not causal", 2, 6, 0, [5, 5], 6, causal=0)


def tokens(c):
    words, tables = c.rng.integers(0, 30, (kBatch, kLength)).astype(np.int32), [c.floats(n, 24) for n in (30, 9, 2)]
    segments = c.rng.integers(0, 2, (kBatch, kLength)).astype(np.int32)
    g, b = ("g", c.floats(24)), ("b", c.floats(24))
    constants = ("word", "place", "segment", "g", "b")
    inputs = [("i", words), ("s", segments), ("word", tables[0]), ("place", tables[1]), ("segment", tables[2]), g, b]
    mask = ("m", (c.rng.random((kBatch, kLength)) < 0.6).astype(np.int32))
    c.add("segments", "EmbedLayerNormalization", inputs, constants, ("y", "lengths"), epsilon=1e-5)
    c.add("mask", "EmbedLayerNormalization", inputs + [mask], constants, ("y", "lengths"), mask_index_type=1)
    c.add("sum", "EmbedLayerNormalization", inputs + [mask], constants, ("y", "lengths", "sum"))
    c.add("places", "EmbedLayerNormalization", [inputs[0], None, *inputs[2:4], None, g, b, None, ("p", c.rng.integers(0, 9, (kBatch, kLength)).astype(np.int32))], constants, ("y", "lengths"))
    byte = lambda *shape: c.rng.integers(0, 256, shape).astype(np.uint8)
    quantized = [inputs[0], inputs[1]] + [(n, byte(*shape)) for n, shape in (("word", (30, 24)), ("place", (9, 24)), ("segment", (2, 24)), ("g", (24,)), ("b", (24,)))]
    scales = [(f"s{i}", np.array(0.01 * (i + 1), np.float32)) for i in range(5)] + [(f"z{i}", np.array(100 + i, np.uint8)) for i in range(5)]
    c.add("mask", "QEmbedLayerNormalization", quantized + [mask] + scales, constants + tuple(n for n, _ in scales), ("y", "lengths"))
    cos, sin = ("cos", c.floats(20, kSize // 2)), ("sin", c.floats(20, kSize // 2))
    places = ("p", c.rng.integers(0, 20, (kBatch, kLength)).astype(np.int64))
    for interleaved in (0, 1):
        c.add(f"rows, {interleaved}", "RotaryEmbedding", [("x", c.floats(kBatch, kLength, kHidden)), places, cos, sin], ("cos", "sin"), interleaved=interleaved)
        c.add(f"heads, {interleaved}", "RotaryEmbedding", [("x", c.floats(kBatch, kHeads, kLength, kSize)), places, cos, sin], ("cos", "sin"), interleaved=interleaved)
    c.add("first place", "RotaryEmbedding", [("x", c.floats(kBatch, kLength, kHidden)), ("p", np.array([3], np.int64)), cos, sin], ("cos", "sin"))
    part = ("cos", c.floats(20, 4)), ("sin", c.floats(20, 4))
    c.add("a part", "RotaryEmbedding", [("x", c.floats(kBatch, kLength, kHidden)), places, *part], ("cos", "sin"), num_heads=kHeads, rotary_embedding_dim=8)


def few_bits(c):
    for bits in (2, 4, 8):
        for block in (16, 32):
            k, n = 50, 11
            blocks = -(-k // block)
            weights = c.rng.integers(0, 256, (n, blocks, block * bits // 8)).astype(np.uint8)
            scales = c.floats(n * blocks) / 8
            inputs = [("a", c.floats(2, 3, k)), ("w", weights), ("s", scales)]
            sizes = {"K": k, "N": n, "bits": bits, "block_size": block}
            c.add(f"{bits} bits, blocks of {block}", "MatMulNBits", inputs, ("w", "s"), **sizes)
            zeros = c.rng.integers(0, 256, (n * -(-blocks * bits // 8))).astype(np.uint8)
            c.add(f"{bits} bits, blocks of {block}, zero points", "MatMulNBits", inputs + [("z", zeros)], ("w", "s", "z"), **sizes)
            if bits < 8:  # which ONNX Runtime lacks on a CPU
                c.add(f"{bits} bits, blocks of {block}, zero points in floats, bias", "MatMulNBits", inputs + [("z", c.floats(n, blocks) + 2 ** (bits - 1)), None, ("b", c.floats(n))], ("w", "s", "z", "b"), **sizes)


def codes(c):
    for kind, (k, n) in (("FP4", (50, 12)), ("NF4", (64, 11))):
        inputs = [("a", c.floats(2, 3, k)), ("w", c.rng.integers(0, 256, (n * k + 1) // 2).astype(np.uint8)), ("s", c.floats(-(-n * k // 16)) / 8)]
        c.add(kind, "MatMulBnb4", inputs, ("w", "s"), K=k, N=n, block_size=16, quant_type=int(kind == "NF4"))


def large_few_bits(c):
    for bits in (2, 4, 8):
        k, n, block = 1100, 270, 32  # which a kernel reads as integers
        blocks = -(-k // block)
        weights, zeros = (c.rng.integers(0, 256, shape).astype(np.uint8) for shape in ((n, blocks, block * bits // 8), (n, -(-blocks * bits // 8))))
        for rows in (1, 3):
            inputs = [("a", c.floats(rows, k)), ("w", weights), ("s", c.floats(n, blocks) / 8)]
            c.add(f"large, {bits} bits, {rows} rows", "MatMulNBits", inputs, ("w", "s"), K=k, N=n, bits=bits, block_size=block)
            c.add(f"large, {bits} bits, {rows} rows, zero points", "MatMulNBits", inputs + [("z", zeros)], ("w", "s", "z"), K=k, N=n, bits=bits, block_size=block)


def tables(c):
    for bits in (4, 8):
        words = ("i", c.rng.integers(0, 10, (2, 3)).astype(np.int64))
        inputs = [("t", c.rng.integers(0, 256, (10, 48 * bits // 8)).astype(np.uint8)), words, ("s", c.floats(10, 3))]
        c.add(f"{bits} bits", "GatherBlockQuantized", inputs, ("t", "s"), bits=bits, block_size=16, gather_axis=0, quantize_axis=1)
        zeros = ("z", c.rng.integers(0, 256, (10, -(-3 * bits // 8))).astype(np.uint8))
        c.add(f"{bits} bits, zero points", "GatherBlockQuantized", inputs + [zeros], ("t", "s", "z"), bits=bits, block_size=16, gather_axis=0, quantize_axis=1)


def images(c):
    x, w, b = ("x", c.floats(2, 9, 8, 6)), ("w", c.floats(5, 3, 3, 3)), ("b", c.floats(5))
    c.add("groups", "NhwcConv", [x, w, b], ("w", "b"), group=2, pads=[1, 0, 1, 2], strides=[2, 1])
    c.add("Relu and sum", "NhwcFusedConv", [("x", c.floats(2, 9, 8, 3)), w, b, ("z", c.floats(2, 9, 8, 5))], ("w", "b"), pads=[1, 1, 1, 1], activation="Relu")
    c.add("bytes", "NhwcMaxPool", [("x", c.rng.integers(0, 256, (2, 9, 8, 6)).astype(np.uint8))], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 0])
    for last in (0, 1):
        for activation in (0, 1):
            g, b = ("g", c.floats(6)), ("b", c.floats(6))
            c.add(f"channels last {last}, activation {activation}", "GroupNorm", [("x", c.floats(*((2, 5, 4, 6) if last else (2, 6, 5, 4)))), g, b], ("g", "b"), groups=3, activation=activation, channels_last=last)
    scale = lambda v: np.array(v, np.float32)
    byte = lambda *shape: c.rng.integers(0, 256, shape).astype(np.uint8)
    zero = np.array(117, np.uint8)
    c.add("channels last", "QLinearAveragePool", [("x", byte(2, 9, 8, 6)), ("xs", scale(0.02)), ("xz", zero), ("ys", scale(0.01)), ("yz", zero)], ("xs", "xz", "ys", "yz"), kernel_shape=[3, 3], channels_last=1)
    c.add("channels last", "QLinearGlobalAveragePool", [("x", byte(2, 9, 8, 6)), ("xs", scale(0.02)), ("xz", zero), ("ys", scale(0.01)), ("yz", zero)], ("xs", "xz", "ys", "yz"), channels_last=1)
    c.add("channels last", "QLinearConv", [("x", byte(2, 9, 8, 6)), ("xs", scale(0.02)), ("xz", zero), ("w", byte(5, 6, 3, 3)), ("ws", scale(0.01)), ("wz", zero), ("ys", scale(0.1)), ("yz", zero)],
          ("xs", "xz", "w", "ws", "wz", "ys", "yz"), pads=[1, 1, 1, 1], channels_last=1)


def others(c):
    a, b = ("a", c.floats(2, 4, 7)), ("b", c.floats(2, 5, 7))
    c.add("B transposed", "TransposeMatMul", [a, b], transB=1, alpha=0.5)
    apart = ("a", c.floats(5, 2, 3, 7)), ("b", c.floats(7, 2, 3, 4))
    c.add("the batch of both", "FusedMatMul", [*apart], transBatchA=1, transBatchB=1)
    c.add("the batch of A, transposed", "FusedMatMul", [("a", c.floats(7, 2, 3, 5)), ("b", c.floats(2, 3, 7, 4))], transBatchA=1, transA=1, alpha=0.5)
    c.add("an axis", "ExpandDims", [a, ("axis", np.array(-1, np.int32))], ("axis",))
    c.add("upper", "Trilu", [a], upper=1)
    c.add("lower", "Trilu", [a, ("k", np.array(1, np.int64))], ("k",), upper=0)


def cases(seed):
    """Yields (name, model, inputs)."""
    c = Cases(seed)
    for add in (attention, multi_head, group_query, tokens, few_bits, codes, large_few_bits, tables, images, others):
        add(c)
    yield from c.cases
