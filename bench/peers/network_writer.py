"""Writes ONNX networks node by node, with seeded random weights."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


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

    def add(self, op, *inputs, outputs=1, name=None, **attributes):
        """`name` is that of the first output."""
        names = [(name or f"{op.lower()}_{len(self.nodes)}") + (f"_{i}" if i else "") for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def output(self, value, name, shape=None, kind=TensorProto.FLOAT):
        """A value that has another name becomes one of this name by an Identity."""
        if value != name:
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
