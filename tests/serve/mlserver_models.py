"""The models of serving.write_models() as MLServer's runtimes."""
import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class Numpy(MLModel):
    async def load(self):
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        inputs = {tensor.name: NumpyCodec.decode_input(tensor) for tensor in payload.inputs}
        name, array = self.compute(inputs)
        return InferenceResponse(id=payload.id, model_name=self.name, model_version=self.version,
                                 outputs=[NumpyCodec.encode_output(name, array)])


class Identity(Numpy):
    def compute(self, inputs):
        return "y", inputs["x"]


class Add(Numpy):
    def compute(self, inputs):
        return "c", np.add(inputs["a"], inputs["b"])
