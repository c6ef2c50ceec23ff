"""OrtValue and IOBinding of ONNX Runtime's API: arrays that several runs use in place."""
import ctypes

import numpy

from mete.errors import FailedPrecondition, InvalidArgument

_NUMPY_OF = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64",
             12: "uint32", 13: "uint64"}  # by the numbers of onnx.TensorProto.DataType


def _dtype(element_type):
    return numpy.dtype(_NUMPY_OF.get(element_type, element_type) if isinstance(element_type, int) else element_type)


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
        return self._array

    def __dlpack__(self, **arguments):
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def shape(self):
        return list(self._array.shape)

    def data_type(self):
        names = {"float32": "float", "float64": "double"}
        return f"tensor({names.get(self._array.dtype.name, self._array.dtype.name)})"

    def data_ptr(self):
        return self._array.ctypes.data

    def device_name(self):
        return "cpu"

    def is_tensor(self):
        return True

    def has_value(self):
        return True

    def update_inplace(self, numpy_obj):
        self._array[...] = numpy_obj


class IOBinding:
    """Arrays that are bound to the inputs and outputs of a session, by name."""

    def __init__(self, session):
        self._session = session
        self._inputs = {}
        self._outputs = {}  # by name; None: each run makes the array
        self._results = {}

    def bind_cpu_input(self, name, arr_on_cpu):
        self._inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name, ortvalue):
        self._inputs[name] = ortvalue.numpy()

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        del device_id
        self._inputs[name] = _array_at(buffer_ptr, shape, element_type, device_type)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        del device_id
        _check_cpu(device_type)
        self._outputs[name] = None if buffer_ptr is None else _array_at(buffer_ptr, shape, element_type, device_type)

    def bind_ortvalue_output(self, name, ortvalue):
        self._outputs[name] = ortvalue.numpy()

    def synchronize_inputs(self):
        """Nothing to wait for: the memory is the CPU's."""

    synchronize_outputs = synchronize_inputs

    def get_outputs(self):
        """A list of OrtValue of the last run, in the order in which outputs were bound."""
        return [OrtValue(array) for array in self.copy_outputs_to_cpu()]

    def copy_outputs_to_cpu(self):
        """The arrays of the last run, in the order in which outputs were bound."""
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
        model = session.session.model
        names = [port.name for port in model.outputs]
        cancel, deadline_s = (None, None) if run_options is None else (run_options._cancel, run_options.deadline_s)
        if all(self._outputs.get(name) is not None for name in names):
            session.session.run_into(self._inputs, [self._outputs[name] for name in names], cancel=cancel, deadline_s=deadline_s)
            self._results = dict(self._outputs)
            return
        arrays = session.session.run(self._inputs, list(self._outputs), cancel=cancel, deadline_s=deadline_s)
        for (name, bound), array in zip(self._outputs.items(), arrays):
            if bound is not None:
                if bound.shape != array.shape or bound.dtype != array.dtype:
                    raise InvalidArgument(f"[{name}] the bound array does not fit; got {bound.dtype} {list(bound.shape)}, "
                                          f"expected {array.dtype} {list(array.shape)}")
                bound[...] = array
            self._results[name] = array if bound is None else bound


def _array_at(address, shape, element_type, device_type):
    """An array on the caller's memory, which the caller keeps as long as the binding has it."""
    _check_cpu(device_type)
    dtype = _dtype(element_type)
    bytes_ = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
    memory = (ctypes.c_char * bytes_).from_address(address)
    return numpy.frombuffer(memory, dtype).reshape(shape)
