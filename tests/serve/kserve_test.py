#!/usr/bin/env python3
"""What KServe's Python clients (REST and gRPC) get from a server of the Open Inference Protocol.

    kserve_test.py --mete build/release/mete [-v] [TEST...]
    kserve_test.py --mlserver VENV/bin/mlserver        the part in common, against MLServer

Needs the packages of kserve-requirements.txt (run.sh installs them).
"""
import unittest

import grpc
import httpx
import numpy as np
from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest
from kserve.inference_client import RESTConfig

import serving

# which its clients can send; FP16 and BF16 have no JSON, and its gRPC client sends lists where they have no field
TYPES = [name for name in serving.TYPES if name not in ("FP16", "BF16")]


def values(datatype):
    """Six elements with the extremes of the datatype."""
    if datatype == "BOOL":
        return np.array([1, 0, 0, 1, 1, 0], bool).reshape(serving.SHAPE)
    kind = np.dtype(datatype.lower().replace("fp", "float"))
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
    return np.array([0, 1, 2, 3, limits.min, limits.max], kind).reshape(serving.SHAPE)


def request(model, tensors, binary=False, **more):
    inputs = []
    for name, (array, datatype) in tensors.items():
        tensor = InferInput(name, list(array.shape), datatype)
        tensor.set_data_from_numpy(array, binary_data=binary)
        inputs.append(tensor)
    return InferRequest(model, inputs, **more)


class Case:
    """The tests of one client; its methods are coroutines."""

    async def check_identities(self, binary):
        for datatype in TYPES:
            with self.subTest(datatype=datatype):
                array = values(datatype)
                answer = await self.infer(request(f"identity_{datatype.lower()}", {"x": (array, datatype)}, binary))
                self.assertEqual((answer.outputs[0].name, answer.outputs[0].datatype), ("y", datatype))
                np.testing.assert_array_equal(answer.outputs[0].as_numpy(), array)

    async def test_every_datatype(self):
        await self.check_identities(False)

    async def test_two_inputs(self):
        a, b = np.array([[1, 2, 3, 4]], np.float32), np.array([[0.5, -2, 0, 1e-3]], np.float32)
        answer = await self.infer(request("add", {"b": (b, "FP32"), "a": (a, "FP32")}))
        np.testing.assert_array_equal(answer.outputs[0].as_numpy(), a + b)

    async def test_request_id_comes_back(self):
        answer = await self.infer(request("identity_fp32", {"x": (values("FP32"), "FP32")}, request_id="any 1"))
        self.assertEqual((answer.id, answer.model_name), ("any 1", "identity_fp32"))

    async def test_health(self):
        self.assertTrue(await self.call("is_server_live"))
        self.assertTrue(await self.call("is_server_ready"))
        self.assertTrue(await self.call("is_model_ready", "identity_fp32"))


class Rest(Case, unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = InferenceRESTClient(RESTConfig(protocol="v2", retries=0))
        self.addAsyncCleanup(self.client.close)

    async def call(self, name, *args):
        return await getattr(self.client, name)(f"http://{serving.SERVER.http}", *args)

    async def infer(self, message):
        return await self.client.infer(f"http://{serving.SERVER.http}", message, model_name=message.model_name)

    async def test_health(self):
        if serving.SERVER.kind == "mlserver":
            with self.assertRaises(ValueError, msg="MLServer's health has a body now: try to delete these lines"):
                await self.call("is_server_live")
            self.skipTest("MLServer's answers for health have no body, which this client reads")
        await super().test_health()

    async def test_unknown_model(self):
        with self.assertRaises(httpx.HTTPStatusError) as caught:
            await self.infer(request("none", {"x": (values("FP32"), "FP32")}))
        self.assertEqual(caught.exception.response.status_code, 404)
        self.assertIn("none", caught.exception.response.json()["error"])


class Grpc(Case, unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.client = InferenceGRPCClient(serving.SERVER.grpc, retries=0)
        self.addAsyncCleanup(self.client.close)

    async def call(self, name, *args):
        return await getattr(self.client, name)(*args)

    async def infer(self, message):
        return await self.client.infer(message)

    async def test_unknown_model(self):
        with self.assertRaises(grpc.RpcError) as caught:
            await self.infer(request("none", {"x": (values("FP32"), "FP32")}))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)
        self.assertIn("none", caught.exception.details())

    async def test_every_datatype_as_bytes(self):
        await self.check_identities(True)


class Binary(Rest):
    """The binary tensors of REST, an extension that MLServer has not."""

    def setUp(self):
        if serving.SERVER.kind == "mlserver":
            self.skipTest("MLServer has no binary tensors over HTTP")

    async def test_every_datatype(self):
        await self.check_identities(True)

    async def test_fp16(self):
        array = np.array([0, 1, -2, 65504, 6e-8, 0.1], np.float16).reshape(serving.SHAPE)
        answer = await self.infer(request("identity_fp16", {"x": (array, "FP16")}, True))
        np.testing.assert_array_equal(answer.outputs[0].as_numpy(), array)


if __name__ == "__main__":
    serving.main()
