"""Networks as users' exporters write them: recurrent ones, an If, ConvTranspose, 3D convolutions, a detector that ends in NonMaxSuppression, a decoder
whose cache grows, and an SSD in Caffe's form with its twin in ONNX.

    python users_networks.py FOLDER     writes FOLDER/<name>.onnx of each, with seeded random weights, and prints the paths

Sizes follow small published networks of each kind; the weights are not theirs. Networks of this kind that the zoo has are not here (ZOO).
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import beside
import caffe_ssd
from network_writer import Network

ZOO = ["yolox_nano", "nanodet", "conformer4", "llama8"]


def recurrent_layers(seed, op, size, hidden, classes, directions=1, **attributes):
    """Two layers over 100 frames, as in small speech networks, and classes of each frame."""
    n = Network(seed)
    x = n.input("frames", [100, 1, size])
    for of in (size, directions * hidden):
        y = n.recurrent(op, x, of, hidden, directions, **attributes)[0]  # [frames, directions, batch, hidden]
        x = n.add("Reshape", n.add("Transpose", y, perm=[0, 2, 1, 3]), n.integers(0, 0, -1))
    n.output(n.add("LogSoftmax", n.dense(x, directions * hidden, classes), axis=-1), "classes", [100, 1, classes])
    return n


def lstm_speech():
    return recurrent_layers(1, "LSTM", 40, 128, 29).model("lstm_speech")


def bidirectional_lstm():
    return recurrent_layers(2, "LSTM", 80, 128, 64, directions=2).model("bidirectional_lstm")


def gru_speech():
    return recurrent_layers(3, "GRU", 40, 128, 29, linear_before_reset=1).model("gru_speech")


def voice_activity():
    """A window of 512 or 256 samples by rate, its spectrum by a convolution, an LSTM cell with a state, and the probability of a voice."""
    n = Network(4)
    samples, rate = n.input("samples", [1, 512]), n.input("rate", [], TensorProto.INT64)
    h, c = n.input("h", [1, 1, 128]), n.input("c", [1, 1, 128])

    def branch(name, kernel, stride):
        b = Network(5)
        wave = b.add("Unsqueeze", samples, b.integers(1))
        spectrum = b.add("Conv", wave, b.weights(130, 1, kernel), kernel_shape=[kernel], strides=[stride])
        b.output(b.add("Slice", spectrum, b.integers(0), b.integers(4), b.integers(2)), f"{name}_spectrum", [1, 130, 4])
        return helper.make_graph(b.nodes, name, [], b.outputs, [numpy_helper.from_array(numpy_helper.to_array(t), t.name) for t in b.constants])

    branches = {}
    for key, kernel, stride in (("then_branch", 256, 64), ("else_branch", 128, 64)):
        graph = branch(key, kernel, stride)
        for of in (*graph.node, *graph.initializer):  # names of a body must not be those of the graph around it
            if hasattr(of, "input"):
                of.input[:] = [i if i == samples else f"{key}/{i}" for i in of.input]
                of.output[:] = [o if o.endswith("_spectrum") else f"{key}/{o}" for o in of.output]
            of.name = f"{key}/{of.name}"
        branches[key] = graph
    x = n.add("If", n.add("Equal", rate, n.constant(16000, np.int64)), **branches)
    parts = n.add("Split", x, outputs=2, axis=1)
    x = n.add("Sqrt", n.add("Add", n.add("Add", *(n.add("Mul", p, p) for p in parts)), n.constant(1e-6)))
    for channels, out, stride in ((65, 128, 1), (128, 64, 2), (64, 64, 2), (64, 128, 1)):
        x = n.conv(x, channels, out, 3, dims=1, strides=[stride])
    x = n.add("Transpose", x, perm=[2, 0, 1])
    y, new_h, new_c = n.recurrent("LSTM", x, 128, 128, state=("", h, c))
    last = n.add("Relu", n.add("Reshape", new_h, n.integers(1, 128)))
    n.output(n.add("Sigmoid", n.dense(last, 128, 1)), "voice", [1, 1])
    n.output(new_h, "new_h", [1, 1, 128])
    n.output(new_c, "new_c", [1, 1, 128])
    return n.model("voice_activity")


def super_resolution():
    """Three times the size, by features of the small picture and one transposed convolution."""
    n = Network(6)
    x = n.conv(n.input("picture", [1, 1, 90, 160]), 1, 56, 5)
    x = n.conv(x, 56, 12, 1)
    for _ in range(4):
        x = n.conv(x, 12, 12, 3)
    x = n.conv(x, 12, 56, 1)
    x = n.conv(x, 56, 1, 9, activation=None, op="ConvTranspose", strides=[3, 3], pads=[4] * 4, output_padding=[2, 2])
    n.output(x, "large", [1, 1, 270, 480])
    return n.model("super_resolution")


def video_3d():
    """3D convolutions and pooling over 16 pictures."""
    n = Network(7)
    x, channels = n.input("clip", [1, 3, 16, 56, 56]), 3
    for out, depth in ((16, 1), (32, 2), (64, 2), (64, 2)):
        x, channels = n.conv(x, channels, out, 3, dims=3), out
        x = n.add("MaxPool", x, kernel_shape=[depth, 2, 2], strides=[depth, 2, 2])
    x = n.add("Flatten", n.add("GlobalAveragePool", x))
    n.output(n.dense(x, 64, 101), "classes", [1, 101])
    return n.model("video_3d")


def detector_with_suppression():
    """A small detector: boxes and scores of 1,600 cells, of which NonMaxSuppression keeps some."""
    n = Network(8)
    x, channels = n.input("picture", [1, 3, 320, 320]), 3
    for out in (16, 32, 64):
        x, channels = n.conv(x, channels, out, 3, strides=[2, 2]), out
        x = n.conv(x, out, out, 3, group=out)
        x = n.conv(x, out, out, 1)
    cells = 40 * 40
    corners = n.add("Sigmoid", n.add("Reshape", n.add("Transpose", n.conv(x, 64, 4, 1, activation=None), perm=[0, 2, 3, 1]), n.integers(1, cells, 4)))
    scores = n.add("Reshape", n.add("Sigmoid", n.conv(x, 64, 20, 1, activation=None)), n.integers(1, 20, cells))
    grid = np.stack(np.meshgrid(np.arange(40), np.arange(40), indexing="ij"), -1).reshape(1, cells, 2) * 8
    middle, size = n.add("Split", corners, outputs=2, axis=2)
    middle = n.add("Add", n.add("Mul", middle, n.constant(8.0)), n.constant(grid))
    half = n.add("Mul", size, n.constant(16.0))
    boxes = n.add("Concat", n.add("Sub", middle, half), n.add("Add", middle, half), axis=2)
    kept = n.add("NonMaxSuppression", boxes, scores, n.integers(100), n.constant([0.45]), n.constant([0.6]))
    n.output(boxes, "boxes", [1, cells, 4])
    n.output(kept, "kept", ["kept", 3], TensorProto.INT64)
    return n.model("detector_with_suppression")


DECODER_LAYERS = 4


def growing_decoder():
    """One token through four layers, whose keys and values join those of earlier tokens; the next token is the one with the best score."""
    n = Network(9)
    hidden, heads, vocabulary, longest = 256, 4, 1000, 256
    depth = hidden // heads

    def norm(x):
        return n.add("LayerNormalization", x, n.constant(n.random.uniform(0.5, 1.5, hidden)), n.constant(n.random.uniform(-0.1, 0.1, hidden)), axis=-1)

    def by_head(x):
        return n.add("Transpose", n.add("Reshape", x, n.integers(1, 1, heads, depth)), perm=[0, 2, 1, 3])

    def joined(kind, layer, of_token):
        past = n.input(f"past_{kind}_{layer}", [1, heads, "past", depth])
        name = f"present_{kind}_{layer}"
        n.output(n.add("Concat", past, of_token, name=name, axis=2), name, [1, heads, "present", depth])
        return name

    def gelu(x):
        return n.add("Mul", n.add("Mul", x, n.add("Add", n.add("Erf", n.add("Div", x, n.constant(2 ** 0.5))), n.constant(1.0))), n.constant(0.5))

    token = n.input("token", [1, 1], TensorProto.INT64)
    position = n.add("Unsqueeze", n.add("Slice", n.add("Shape", "past_key_0"), n.integers(2), n.integers(3)), n.integers(0))
    x = n.add("Add", n.add("Gather", n.weights(vocabulary, hidden), token), n.add("Gather", n.weights(longest, hidden), position))
    for layer in range(DECODER_LAYERS):
        y = norm(x)
        query = by_head(n.dense(y, hidden, hidden))
        keys, values = (joined(kind, layer, by_head(n.dense(y, hidden, hidden))) for kind in ("key", "value"))
        scores = n.add("Softmax", n.add("Div", n.add("MatMul", query, n.add("Transpose", keys, perm=[0, 1, 3, 2])), n.constant(depth ** 0.5)), axis=-1)
        y = n.add("Reshape", n.add("Transpose", n.add("MatMul", scores, values), perm=[0, 2, 1, 3]), n.integers(1, 1, hidden))
        x = n.add("Add", x, n.dense(y, hidden, hidden))
        x = n.add("Add", x, n.dense(gelu(n.dense(norm(x), hidden, 4 * hidden)), 4 * hidden, hidden))
    logits = n.dense(norm(x), hidden, vocabulary)
    n.output(logits, "logits", [1, 1, vocabulary])
    n.output(n.add("ArgMax", logits, axis=-1, keepdims=0), "next", [1, 1], TensorProto.INT64)
    return n.model("growing_decoder")


NETWORKS = [lstm_speech, bidirectional_lstm, gru_speech, voice_activity, super_resolution, video_3d, detector_with_suppression]


def write_growing_decoder(folder):
    """The decoder and what follows from run to run: 64 tokens, each with the one before and a cache that is longer by it."""
    path = os.path.join(folder, "growing_decoder.onnx")
    onnx.save(growing_decoder(), path)
    feed = {f"past_{kind}_{layer}": f"present_{kind}_{layer}" for layer in range(DECODER_LAYERS) for kind in ("key", "value")}
    beside.write(path, feed={"token": "next", **feed}, steps=64, shapes=["past=1"], tolerance=1e-5)
    return path


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for network in NETWORKS:
        path = os.path.join(folder, f"{network.__name__}.onnx")
        onnx.save(network(), path)
        print(path)
    print(write_growing_decoder(folder), caffe_ssd.write(folder), *ZOO, sep="\n")


if __name__ == "__main__":
    main()
