"""Mete as a backend of the onnx package: `mete.backend.prepare(model).run(inputs)`, for onnx's own BackendTest."""
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from mete._mete import Model, Session
from mete.errors import Error


class MeteRep(BackendRep):
    """A model that is prepared to run."""

    def __init__(self, session):
        self._session = session
        self._names = [port.name for port in session.model.outputs]

    def run(self, inputs, **kwargs):
        """Return the outputs for a list of arrays in the model's order, or for a dict by name."""
        del kwargs
        return namedtupledict("Outputs", self._names)(*self._session.run(inputs))


class MeteBackend(Backend):
    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Whether Mete can load the model."""
        if not cls.supports_device(device):
            return False
        try:
            cls.prepare(model, device, **kwargs)
        except Error:
            return False
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """Return a MeteRep. `kwargs` are those of mete.Session."""
        if not cls.supports_device(device):
            raise ValueError(f"[device] is not one of Mete's; got '{device}', expected 'CPU'")
        data = model if isinstance(model, bytes) else model.SerializeToString()
        loaded = Model.load_bytes(data, name=getattr(getattr(model, "graph", None), "name", "") or "model")
        return MeteRep(Session(loaded, **kwargs))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """Run one node, whose inputs are the arrays of a list; empty names of inputs have none."""
        names = [name for name in node.input if name]
        values = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
                  for name, array in zip(names, inputs)]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        if outputs_info is not None:
            outputs = [onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)
                       for name, (dtype, shape) in zip((o.name for o in outputs), outputs_info)]
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "node", values, outputs),
                                       opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return cls.run_model(model, list(inputs), device, **kwargs)

    @classmethod
    def supports_device(cls, device):
        return device.split(":")[0] == "CPU"


is_compatible = MeteBackend.is_compatible
prepare = MeteBackend.prepare
run = MeteBackend.run_model
run_model = MeteBackend.run_model
run_node = MeteBackend.run_node
supports_device = MeteBackend.supports_device
