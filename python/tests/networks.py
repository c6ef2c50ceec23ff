"""Small networks for the tests, as the bytes of ONNX files."""
import onnx
from onnx import TensorProto, helper

OPSET = 24


def one_node(op, inputs, outputs, **attributes):
    """A network of one node. `inputs`, `outputs`: lists of (name, element type, shape)."""
    node = helper.make_node(op, [name for name, _, _ in inputs], [name for name, _, _ in outputs], **attributes)
    graph = helper.make_graph([node], "net", [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(*o) for o in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11).SerializeToString()


def add(element_type=TensorProto.FLOAT, shape=("N", 3)):
    """c = a + b"""
    return one_node("Add", [("a", element_type, shape), ("b", element_type, shape)], [("c", element_type, shape)])


def identity(element_type, shape):
    return one_node("Identity", [("x", element_type, shape)], [("y", element_type, shape)])


def chain(nodes, size):
    """A chain of `nodes` matrix products of `size` x `size`, whose weights are inputs."""
    parts = [helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"]) for i in range(nodes)]
    shape = [size, size]
    graph = helper.make_graph(parts, "chain", [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("x0", "w")],
                              [helper.make_tensor_value_info(f"x{nodes}", TensorProto.FLOAT, shape)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11).SerializeToString()


def named():
    """add() of which the file says what it is."""
    model = onnx.load_from_string(add())
    model.domain, model.model_version, model.doc_string, model.graph.doc_string = "org.example", 7, "what it is", "one addition"
    return model.SerializeToString()
