"""OrtValue and IOBinding of ONNX Runtime's API: arrays that several runs use in place."""
import ctypes

import numpy

from mete.errors import FailedPrecondition, InvalidArgument
from mete.inference_session import tensor_name

_NUMPY_OF = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64",
             12: "uint32", 13: "uint64"}  # by the numbers of onnx.TensorProto.DataType


_EXTENSIONS = {16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 21: "uint4", 22: "int4",
               23: "float4_e2m1fn", 24: "float8_e8m0fnu", 25: "uint2", 26: "int2"}  # of ml_dtypes


def _dtype(element_type):
    """NumPy's type for a type of NumPy, or for a number of onnx.TensorProto.DataType."""
    if element_type in _EXTENSIONS:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, _EXTENSIONS[element_type]))
    if element_type is None or (isinstance(element_type, int) and element_type not in _NUMPY_OF):
        raise InvalidArgument(f"[element_type] is no type of elements; got {element_type}, expected one of NumPy, or a number of ONNX's types")
    return numpy.dtype(_NUMPY_OF[element_type] if isinstance(element_type, int) else element_type)


def _check_cpu(device_type):
    if device_type.lower() != "cpu":
        raise InvalidArgument(f"[device] is not one of Mete's for inputs and outputs; got '{device_type}', expected 'cpu'")


class OrtValue:
    """A tensor in the CPU's memory, which is that of a NumPy array."""

    def __init__(self, array):
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(numpy_obj, device_type="cpu", device_id=0):
        """The array's own memory: nothing is copied."""
        del device_id
        _check_cpu(device_type)
        return OrtValue(numpy_obj)

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        del device_id
        _check_cpu(device_type)
        return OrtValue(numpy.zeros(shape, _dtype(element_type)))

    def numpy(self):
        """A copy, as in ONNX Runtime: numpy.from_dlpack(value) shares the memory."""
        return self._array.copy()

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def shape(self):
        return list(self._array.shape)

    def data_type(self):
        return tensor_name(self._array.dtype)

    def data_ptr(self):
        return self._array.ctypes.data

    def device_name(self):
        return "cpu"

    def is_tensor(self):
        return True

    def has_value(self):
        return True

    def update_inplace(self, numpy_obj):
        _copy_into(self._array, numpy_obj, "update_inplace")


def _copy_into(place, array, name):
    if place.shape != array.shape or place.dtype != array.dtype:
        raise InvalidArgument(f"[{name}] the array does not fit; got {array.dtype} {list(array.shape)}, expected {place.dtype} {list(place.shape)}")
    place[...] = array


class IOBinding:
    """Arrays that are bound to the inputs and outputs of a session, by name.

    The device is the CPU, whatever its number; the type and shape of an output without memory follow from the run.
    """

    def __init__(self, session):
        model = session.session.model
        self._names = {"input": [port.name for port in model.inputs], "output": [port.name for port in model.outputs]}
        self._inputs = {}
        self._outputs = {}  # by name; None: each run makes the array
        self._results = {}

    def _known(self, kind, name):
        if name not in self._names[kind]:
            names = ", ".join(map(repr, self._names[kind]))
            raise InvalidArgument(f"[{name}] the model has no {kind} of this name; got '{name}', expected one of {names}")
        return name

    def bind_cpu_input(self, name, arr_on_cpu):
        self._inputs[self._known("input", name)] = arr_on_cpu

    def bind_ortvalue_input(self, name, ortvalue):
        self._inputs[self._known("input", name)] = ortvalue._array

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        del device_id
        self._inputs[self._known("input", name)] = _array_at(buffer_ptr, shape, element_type, device_type)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        del device_id
        _check_cpu(device_type)
        self._outputs[self._known("output", name)] = None if buffer_ptr is None else _array_at(buffer_ptr, shape, element_type, device_type)

    def bind_ortvalue_output(self, name, ortvalue):
        self._outputs[self._known("output", name)] = ortvalue._array

    def synchronize_inputs(self):
        """Nothing to wait for: the memory is the CPU's."""

    synchronize_outputs = synchronize_inputs

    def get_outputs(self):
        """A list of OrtValue of the last run, in the order in which outputs were bound."""
        return [OrtValue(array) for array in self._last()]

    def copy_outputs_to_cpu(self):
        """Copies of the outputs of the last run, in the order in which they were bound."""
        return [array.copy() for array in self._last()]

    def _last(self):
        missing = [name for name in self._outputs if name not in self._results]
        if missing:
            raise FailedPrecondition(f"[{missing[0]}] has no value; got no run since it was bound, expected run_with_iobinding() before")
        return [self._results[name] for name in self._outputs]

    def clear_binding_inputs(self):
        self._inputs = {}

    def clear_binding_outputs(self):
        self._outputs, self._results = {}, {}

    def _run(self, session, run_options):
        if not self._outputs:
            raise FailedPrecondition("[IOBinding] no output is bound; got none, expected bind_output() before a run")
        if all(self._outputs.get(name) is not None for name in self._names["output"]):
            session._traced(session.session.run_into, self._inputs, [self._outputs[name] for name in self._names["output"]], run_options)
            self._results = dict(self._outputs)
            return
        arrays = session._traced(session.session.run, self._inputs, list(self._outputs), run_options)
        for (name, bound), array in zip(self._outputs.items(), arrays):
            if bound is not None:
                _copy_into(bound, array, name)
            self._results[name] = array if bound is None else bound


def _array_at(address, shape, element_type, device_type):
    """An array on the caller's memory, which the caller keeps as long as the binding has it."""
    _check_cpu(device_type)
    dtype = _dtype(element_type)
    bytes_ = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
    memory = (ctypes.c_char * bytes_).from_address(address)
    return numpy.frombuffer(memory, dtype).reshape(shape)
