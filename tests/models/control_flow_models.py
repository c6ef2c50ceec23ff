"""Small models with If, Loop and Scan, each with inputs that decide what runs: constants that bodies share, values that stay, grow and are collected, and nesting."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

kTypes = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.bool_): TensorProto.BOOL}
node = helper.make_node


def info(name, shape=None, type=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, type, shape)


def body(nodes, inputs, outputs, constants=()):
    return helper.make_graph(nodes, "body", [info(*i) for i in inputs], [info(*o) for o in outputs], [numpy_helper.from_array(np.array(v), n) for n, v in constants])


def model(nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", [info(n, v.shape, kTypes[v.dtype]) for n, v in inputs.items()], [info(o) for o in outputs], [numpy_helper.from_array(np.array(v), n) for n, v in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


kRun, kCondition, kGoesOn = ("run", [], TensorProto.INT64), ("condition", [], TensorProto.BOOL), ("go", [], TensorProto.BOOL)


def branches(floats):
    weights = ("w", floats(8, 3, 3, 3))
    convolves = lambda op, out: body([node("Conv", ["x", "w"], ["s" + out], pads=[1, 1, 1, 1]), node(op, ["s" + out], [out])], [], [(out,)])
    for taken in (True, False):
        inputs = {"c": np.array(taken), "x": floats(1, 3, 16, 16)}
        yield f"convolutions, {taken}", model([node("If", ["c"], ["y"], then_branch=convolves("Relu", "a"), else_branch=convolves("Neg", "b"))], inputs, ["y"], [weights]), inputs
    unary = lambda op, out, **attributes: body([node(op, ["x"], [out], **attributes)], [], [(out,)])
    inner = body([node("If", ["c"], ["n"], then_branch=unary("Relu", "r"), else_branch=unary("Neg", "m"))], [], [("n",)])
    for outer in (True, False):
        for within in (True, False):
            inputs = {"c": np.array(within), "d": np.array(outer), "x": floats(2, 3)}
            nodes = [node("If", ["d"], ["y"], then_branch=inner, else_branch=unary("Transpose", "t", perm=[1, 0])), node("Exp", ["y"], ["z"])]
            yield f"nested, {outer} and {within}, of two shapes", model(nodes, inputs, ["z"]), inputs


def loops(floats):
    steps = [node("MatMul", ["s", "w"], ["m"]), node("Tanh", ["m"], ["next"]), node("ReduceMax", ["next"], ["most"], keepdims=0), node("Less", ["most", "limit"], ["go"]), node("Identity", ["next"], ["each"])]
    stops = body(steps, [kRun, kCondition, ("s", [1, 4])], [kGoesOn, ("next", [1, 4]), ("each", [1, 4])], [("limit", np.float32(0.9))])
    for runs in (0, 1, 7):
        inputs = {"n": np.array(runs), "x": floats(1, 4)}
        yield f"{runs} runs at most", model([node("Loop", ["n", "", "x"], ["y", "ys"], body=stops)], inputs, ["y", "ys"], [("w", floats(4, 4) / 2)]), inputs
    grows = body([node("Concat", ["k", "more"], ["longer"], axis=0), node("Identity", ["condition"], ["go"])], [kRun, kCondition, ("k", [None, 3])], [kGoesOn, ("longer", [None, 3])])
    inputs = {"n": np.array(12), "k0": floats(1, 3), "more": floats(1, 3)}
    yield "a value that grows", model([node("Loop", ["n", "", "k0"], ["k"], body=grows), node("Softmax", ["k"], ["y"])], inputs, ["y"]), inputs


def scans(floats):
    steps = [node("Concat", ["h", "x"], ["hx"], axis=1), node("MatMul", ["hx", "w"], ["m"]), node("Sigmoid", ["m"], ["next"]), node("Identity", ["next"], ["each"])]
    cell = body(steps, [("h", [1, 4]), ("x", [1, 3])], [("next", [1, 4]), ("each", [1, 4])])
    for name, attributes in {"forwards": {}, "backwards": {"scan_input_directions": [1], "scan_output_directions": [1]}}.items():
        inputs = {"h0": np.zeros((1, 4), np.float32), "xs": floats(9, 1, 3)}
        yield name, model([node("Scan", ["h0", "xs"], ["h", "hs"], body=cell, num_scan_inputs=1, **attributes), node("Relu", ["hs"], ["y"])], inputs, ["h", "y"], [("w", floats(7, 4))]), inputs


kBeside = "beside"


def with_product(model):
    """The model with an input `beside` of 1 x 64 and its product with a constant as one more output."""
    wide = type(model)()
    wide.CopyFrom(model)
    wide.graph.node.append(node("MatMul", [kBeside, kBeside + ".w"], [kBeside + ".y"]))
    wide.graph.input.append(info(kBeside, [1, 64]))
    wide.graph.output.append(info(kBeside + ".y", [1, 64]))
    wide.graph.initializer.append(numpy_helper.from_array(np.eye(64, dtype=np.float32), kBeside + ".w"))
    return wide


def cases(seed):
    """Yields (name, model, inputs)."""
    rng = np.random.default_rng(seed)
    floats = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    for operator, of in {"If": branches, "Loop": loops, "Scan": scans}.items():
        for name, made, inputs in of(floats):
            yield f"{operator}: {name}", made, inputs
