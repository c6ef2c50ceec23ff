"""Writes the trained network as an ordinary ONNX file: Conv, BatchNormalization, Relu, Add, Gemm, Softmax."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import network as net


class Exporter:
    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))
        return name

    def node(self, op, inputs, **attributes):
        self.count += 1
        output = f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def conv(self, x, weight, stride, pad, group):
        name = self.weight(f"conv_{self.count + 1}.weight", weight)
        return self.node("Conv", [x, name], kernel_shape=list(weight.shape[2:]), strides=[stride] * 2,
                         pads=[pad] * 4, group=group)

    def batch_norm(self, x, layer):
        prefix = f"batchnormalization_{self.count + 1}"
        values = {"scale": layer.gamma.value, "bias": layer.beta.value, "mean": layer.mean, "var": layer.var}
        names = [self.weight(f"{prefix}.{key}", value) for key, value in values.items()]
        return self.node("BatchNormalization", [x, *names], epsilon=layer.EPSILON)

    def dense(self, x, layer):
        if layer.bias is None:
            return self.conv(x, layer.weight.value.T[:, :, None, None], 1, 0, 1)
        weight = self.weight("classifier.weight", layer.weight.value.T)
        bias = self.weight("classifier.bias", layer.bias.value)
        return self.node("Gemm", [x, weight, bias], transB=1)

    def layer(self, x, layer):
        if isinstance(layer, net.Conv3x3):
            return self.conv(x, layer.weight.value.transpose(3, 2, 0, 1), layer.stride, 1, 1)
        if isinstance(layer, net.Depthwise3x3):
            weight = layer.weight.value.transpose(2, 0, 1)[:, None]
            return self.conv(x, weight, layer.stride, 1, weight.shape[0])
        if isinstance(layer, net.Dense):
            return self.dense(x, layer)
        if isinstance(layer, net.BatchNorm):
            return self.batch_norm(x, layer)
        if isinstance(layer, net.Relu):
            return self.node("Relu", [x])
        if isinstance(layer, net.GlobalAverage):
            return self.node("Flatten", [self.node("GlobalAveragePool", [x])])
        if isinstance(layer, net.Residual):
            return self.node("Add", [self.chain(x, layer.layers), x])
        raise TypeError(type(layer))

    def chain(self, x, layers):
        for layer in layers:
            x = self.layer(x, layer)
        return x


def export(layers, path, side):
    """The input is 1 x 3 x side x side, RGB, (value / 255 - 0.5) / 0.25; the output ten probabilities."""
    exporter = Exporter()
    logits = exporter.chain("image", layers)
    exporter.nodes.append(helper.make_node("Softmax", [logits], ["probabilities"], name="softmax", axis=1))
    graph = helper.make_graph(
        exporter.nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, side, side])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])], exporter.weights)
    model = helper.make_model(graph, producer_name="mete-digits", ir_version=8,
                              opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
