"""Networks as users' exporters write them: recurrent ones, an If, ConvTranspose, 3D convolutions, a detector that ends in NonMaxSuppression.

    python users_networks.py FOLDER     writes FOLDER/<name>.onnx of each, with seeded random weights, and prints the paths

Sizes follow small published networks of each kind; the weights are not theirs. Networks of this kind that the zoo has are not here (ZOO).
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
ZOO = ["yolox_nano", "nanodet", "conformer4", "llama8"]


class Network:
    """A graph that grows by nodes; `add` returns the name of what a node makes."""

    def __init__(self, seed):
        self.random, self.nodes, self.constants, self.inputs, self.outputs = np.random.default_rng(seed), [], [], [], []

    def input(self, name, shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, values, kind=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), name))
        return name

    def integers(self, *values):
        return self.constant(values, np.int64)

    def weights(self, *shape):
        """Uniform, so wide that values neither grow nor fade through layers."""
        fan = int(np.prod(shape[1:])) or 1
        return self.constant(self.random.uniform(-1, 1, shape) * np.sqrt(3 / fan))

    def add(self, op, *inputs, outputs=1, **attributes):
        names = [f"{op.lower()}_{len(self.nodes)}" + (f"_{i}" if i else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def output(self, value, name, shape=None, kind=TensorProto.FLOAT):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def conv(self, x, channels, out, kernel, dims=2, activation="Relu", op="Conv", group=1, **attributes):
        shape = (channels, out) if op == "ConvTranspose" else (out, channels // group)
        pads = attributes.pop("pads", [kernel // 2] * 2 * dims)
        y = self.add(op, x, self.weights(*shape, *[kernel] * dims), self.constant(self.random.uniform(-0.1, 0.1, out)), group=group,
                     kernel_shape=[kernel] * dims, pads=pads, **attributes)
        return self.add(activation, y) if activation else y

    def recurrent(self, op, x, size, hidden, directions=1, state=(), **attributes):
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
        words = {"hidden_size": hidden, "direction": "bidirectional" if directions == 2 else "forward", **attributes}
        outputs = 3 if op == "LSTM" else 2
        return self.add(op, x, self.weights(directions, gates * hidden, size), self.weights(directions, gates * hidden, hidden),
                        self.constant(self.random.uniform(-0.1, 0.1, (directions, 2 * gates * hidden))), *state, outputs=outputs, **words)

    def dense(self, x, size, out):
        return self.add("Add", self.add("MatMul", x, self.weights(size, out)), self.constant(self.random.uniform(-0.1, 0.1, out)))

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="users_networks", ir_version=8)
        onnx.checker.check_model(made)
        return made


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


NETWORKS = [lstm_speech, bidirectional_lstm, gru_speech, voice_activity, super_resolution, video_3d, detector_with_suppression]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for network in NETWORKS:
        path = os.path.join(folder, f"{network.__name__}.onnx")
        onnx.save(network(), path)
        print(path)
    print(*ZOO, sep="\n")


if __name__ == "__main__":
    main()
