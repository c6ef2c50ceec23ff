"""8-bit files of a network, as ONNX Runtime's quantizer writes them: activations of u8 (qdq-s8: of i8), i8 weights with a scale for each channel."""
import hashlib
import os

kForms = ("qdq", "qoperator", "qdq-s8")
kCalibration = 4  # inputs, seeded; the ranges are those of the smallest and the largest value
kIndices = 2  # inputs of integers are indices below this


class NotQuantized(RuntimeError):
    pass


def quantized_file(path, form, folder):
    """The 8-bit file of a network in floats, made where it is missing or older. Batch norms are folded first."""
    name = os.path.basename(path)[:-len(".onnx")]
    place = hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:8]  # two folders may have a file of this name
    file = os.path.join(folder, f"{name}-{place}-{form}.onnx")
    if os.path.isfile(file) and os.path.getmtime(file) >= os.path.getmtime(path):
        return file
    os.makedirs(folder, exist_ok=True)
    part = f"{file}.part"
    try:
        _quantize(path, form, part)
    except ImportError as problem:
        raise NotQuantized(f"[{name}] ONNX Runtime's quantizer is not installed: {problem}; try --install --quantized") from problem
    except Exception as problem:  # whatever the quantizer throws
        for left in (part, f"{part}.folded"):
            if os.path.exists(left):
                os.remove(left)
        raise NotQuantized(f"[{name}] ONNX Runtime's quantizer does not take it: {problem}") from problem
    os.replace(part, file)
    return file


def _quantize(path, form, file):
    import logging  # these take a second, and few runs need them

    import numpy as np
    import onnx
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    logging.disable(logging.WARNING)
    folded = f"{file}.folded"
    quant_pre_process(path, folded, skip_symbolic_shape=True)
    graph = onnx.load(folded).graph
    constants = {t.name for t in graph.initializer}
    inputs = {i.name: i.type.tensor_type for i in graph.input if i.name not in constants}

    def numbers(random, tensor):
        kind, shape = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type), [d.dim_value or 1 for d in tensor.shape.dim]
        values = random.uniform(-1, 1, shape) if np.issubdtype(kind, np.floating) else random.integers(0, kIndices, shape)
        return values.astype(kind)

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            random = np.random.default_rng(0)
            self.batches = iter([{name: numbers(random, t) for name, t in inputs.items()} for _ in range(kCalibration)])

        def get_next(self):
            return next(self.batches, None)

    how, _, of = form.partition("-")
    formats = {"qdq": quantization.QuantFormat.QDQ, "qoperator": quantization.QuantFormat.QOperator}
    activations = {"": quantization.QuantType.QUInt8, "s8": quantization.QuantType.QInt8}
    quantization.quantize_static(folded, file, Reader(), quant_format=formats[how], per_channel=True, activation_type=activations[of],
                                 weight_type=quantization.QuantType.QInt8)
    os.remove(folded)
