"""MLServer's runtime for the comparison: a model of ONNX on ONNX Runtime, as its documents show custom runtimes."""
import os

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse


class OnnxModel(MLModel):
    async def load(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ["PEER_THREADS"])
        self.session = onnxruntime.InferenceSession(self.settings.parameters.uri, options, providers=["CPUExecutionProvider"])
        return True

    async def predict(self, payload):
        outputs = self.session.run(None, {tensor.name: NumpyCodec.decode_input(tensor) for tensor in payload.inputs})
        named = zip(self.session.get_outputs(), outputs)
        return InferenceResponse(model_name=self.name, outputs=[NumpyCodec.encode_output(output.name, value) for output, value in named])
