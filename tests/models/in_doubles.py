"""A model's outputs in doubles, by the interpreter of the onnx package: what a float's rounding is measured against. Slow."""
import numpy as np
import onnx
import onnx.reference


def in_doubles(model):
    """A copy of `model` whose floats are doubles."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    tensors = [*made.graph.initializer, *(a.t for node in made.graph.node for a in node.attribute if a.HasField("t"))]
    for tensor in tensors:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for value in [*made.graph.input, *made.graph.output, *made.graph.value_info]:
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    return made


def outputs_in_doubles(model, inputs):
    doubles = {name: value.astype(np.float64) if value.dtype == np.float32 else value for name, value in inputs.items()}
    with np.errstate(all="ignore"):  # its sigmoid computes both branches
        return dict(zip([o.name for o in model.graph.output], onnx.reference.ReferenceEvaluator(in_doubles(model)).run(None, doubles)))
