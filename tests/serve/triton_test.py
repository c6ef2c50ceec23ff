#!/usr/bin/env python3
"""What Triton's Python clients (HTTP, gRPC, and both for asyncio) get from a server of the Open Inference Protocol.

    triton_test.py --mete build/release/mete [-v] [TEST...]
    triton_test.py --mlserver VENV/bin/mlserver        the part in common, against MLServer

Needs the packages of clients-requirements.txt (run.sh installs them). A test that MLServer answers otherwise is in DEVIATIONS, with what
it does, and has to go on doing so.
"""
import asyncio
import functools
import sys
import unittest

import numpy as np
import tritonclient.grpc
import tritonclient.grpc.aio
import tritonclient.http
import tritonclient.http.aio
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

import serving

SHAPE = serving.SHAPE


def values(datatype):
    """Six elements with the extremes of the datatype."""
    kind = np.dtype(triton_to_np_dtype(datatype))
    if datatype == "BF16":
        return np.array([0, -0.0, 1.5, -2, 2.0**-120, 2.0**100], np.float32).reshape(SHAPE).astype(kind)
    if kind.kind == "b":
        return np.array([1, 0, 0, 1, 1, 0], bool).reshape(SHAPE)
    limits = np.iinfo(kind) if kind.kind in "iu" else np.finfo(kind)
    return np.array([0, 1, 2, 3, limits.min, limits.max], kind).reshape(SHAPE)


class Blocking:
    """Calls the client of a module as it is."""

    def __init__(self, module, address, http):
        self.module, self.http = module, http
        self.client = module.InferenceServerClient(address)

    def call(self, name, *args, **kwargs):
        return getattr(self.client, name)(*args, **kwargs)

    def close(self):
        self.client.close()


class Async(Blocking):
    """The same for a client whose calls are coroutines."""

    def __init__(self, module, address, http):
        self.loop = asyncio.new_event_loop()
        self.module, self.http = module, http

        async def make():
            return module.InferenceServerClient(address)
        self.client = self.loop.run_until_complete(make())

    def call(self, name, *args, **kwargs):
        return self.loop.run_until_complete(getattr(self.client, name)(*args, **kwargs))

    def close(self):
        self.call("close")
        self.loop.close()


class Case(unittest.TestCase):
    """The tests of one client. Those of MeteCase are of what MLServer has not."""
    make = None  # (server) -> Blocking

    def setUp(self):
        self.client = type(self).make(serving.SERVER)
        self.addCleanup(self.client.close)

    def infer(self, model, inputs, outputs=None, binary=(False, False), **more):
        """`inputs`: name to (array, datatype); `outputs`: names. `binary`: whether HTTP sends elements so, there and back."""
        module, asked = self.client.module, []
        if serving.SERVER.kind == "mlserver" and self.client.http:  # which takes a body for JSON only if this says so
            more["headers"] = {"Content-Type": "application/json"}
        for name, (array, datatype) in inputs.items():
            tensor = module.InferInput(name, list(array.shape), datatype)
            tensor.set_data_from_numpy(array, *([binary[0]] if self.client.http else []))
            asked.append(tensor)
        wanted = outputs and [module.InferRequestedOutput(name, *([binary[1]] if self.client.http else [])) for name in outputs]
        return self.client.call("infer", model, asked, outputs=wanted, **more)

    def x(self):
        return {"x": (values("FP32"), "FP32")}

    def assert_refused(self, call, http, grpc, text=True):
        """The error has a text, and the status of HTTP or gRPC; several may be allowed."""
        with self.assertRaises(InferenceServerException) as caught:
            call()
        status = str(caught.exception.status()).removeprefix("StatusCode.")
        self.assertIn(status, (http if self.client.http else grpc).split())
        self.assertTrue(not text or caught.exception.message())

    # What every server of the protocol has.

    def test_health(self):
        self.assertTrue(self.client.call("is_server_live"))
        self.assertTrue(self.client.call("is_server_ready"))
        self.assertTrue(self.client.call("is_model_ready", "identity_fp32"))

    def test_unknown_model_is_not_ready(self):
        try:
            self.assertFalse(self.client.call("is_model_ready", "none"))
        except InferenceServerException as error:
            self.assertEqual(error.status(), "StatusCode.NOT_FOUND")

    def metadata(self, name, *args):
        return self.client.call(name, *args, **({} if self.client.http else {"as_json": True}))

    def test_server_metadata(self):
        about = self.metadata("get_server_metadata")
        self.assertTrue(about["name"] and about["version"])

    def test_model_metadata(self):
        about = self.metadata("get_model_metadata", "identity_int8")
        self.assertEqual(about["name"], "identity_int8")
        for list_name, tensor in (("inputs", "x"), ("outputs", "y")):
            (found,) = about[list_name]
            self.assertEqual((found["name"], found["datatype"], [int(d) for d in found["shape"]]), (tensor, "INT8", SHAPE))

    def test_unknown_model_has_no_metadata(self):
        self.assert_refused(lambda: self.metadata("get_model_metadata", "none"), "404", "NOT_FOUND")

    def test_request_id_comes_back(self):
        self.assertEqual(self.response(self.infer("identity_fp32", self.x(), request_id="any 1"))["id"], "any 1")

    def response(self, result):
        return result.get_response() if self.client.http else result.get_response(as_json=True)

    def test_answer_names_the_model(self):
        self.assertEqual(self.response(self.infer("identity_fp32", self.x()))["model_name"], "identity_fp32")

    def test_two_inputs(self):
        a, b = np.array([[1, 2, 3, 4]], np.float32), np.array([[0.5, -2, 0, 1e-3]], np.float32)
        c = self.infer("add", {"b": (b, "FP32"), "a": (a, "FP32")}, ["c"]).as_numpy("c")  # the names say which is which
        np.testing.assert_array_equal(c, a + b)

    def test_unknown_model(self):
        self.assert_refused(lambda: self.infer("none", self.x()), "404", "NOT_FOUND")

    def test_unknown_version(self):
        self.assert_refused(lambda: self.infer("identity_fp32", self.x(), model_version="77"), "404", "NOT_FOUND")

    def test_missing_input(self):
        self.assert_refused(lambda: self.infer("add", {"a": (np.zeros((1, 4), np.float32), "FP32")}), "400", "INVALID_ARGUMENT")

    def test_repository(self):
        index = self.metadata("get_model_repository_index")
        index = index if self.client.http else index["models"]
        self.assertIn(("add", "READY"), {(entry["name"], entry["state"]) for entry in index})

    def test_unload_and_load(self):
        two = {name: (np.ones((1, 4), np.float32), "FP32") for name in "ab"}
        self.client.call("unload_model", "add")
        try:
            self.assert_refused(lambda: self.infer("add", two), "400 404 503", "INVALID_ARGUMENT NOT_FOUND UNAVAILABLE")
        finally:
            self.client.call("load_model", "add")
        np.testing.assert_array_equal(self.infer("add", two).as_numpy("c"), [[2, 2, 2, 2]])

    def test_load_unknown_model(self):
        self.assert_refused(lambda: self.client.call("load_model", "none"), "404", "NOT_FOUND")


class MeteCase:
    """Beside Case: what is Mete's, or an extension that MLServer has not."""

    def test_extensions(self):
        self.assertLessEqual({"binary_tensor_data", "classification", "model_repository", "statistics"},
                             set(self.metadata("get_server_metadata")["extensions"]))

    def test_version(self):
        result = self.infer("identity_fp32", self.x(), model_version="1")
        self.assertEqual(self.response(result)["model_version"], "1")

    def test_wrong_inputs(self):
        for name, array, datatype in (("y", values("FP32"), "FP32"), ("x", values("FP64"), "FP64"), ("x", np.zeros(5, np.float32), "FP32")):
            with self.subTest(name=name, datatype=datatype, shape=array.shape):
                self.assert_refused(lambda: self.infer("identity_fp32", {name: (array, datatype)}), "400",
                                    "INVALID_ARGUMENT FAILED_PRECONDITION")

    def test_unknown_output(self):
        self.assert_refused(lambda: self.infer("identity_fp32", self.x(), ["z"]), "400", "INVALID_ARGUMENT FAILED_PRECONDITION")

    def test_deadline_that_cannot_be_met(self):
        self.assert_refused(lambda: self.infer("identity_fp32", self.x(), timeout=1), "504", "DEADLINE_EXCEEDED")

    def test_classification(self):
        image = {"image": (np.random.default_rng(1).random((1, 3, 32, 32), np.float32), "FP32")}
        module = self.client.module
        scores = self.infer("digits", image, ["probabilities"]).as_numpy("probabilities")[0]
        tensor = module.InferInput("image", [1, 3, 32, 32], "FP32")
        tensor.set_data_from_numpy(image["image"][0])
        asked = module.InferRequestedOutput("probabilities", class_count=3)
        classes = self.client.call("infer", "digits", [tensor], outputs=[asked]).as_numpy("probabilities").reshape(-1)
        found = [text.decode().split(":")[:2] for text in classes]
        best = np.argsort(-scores)[:3]
        self.assertEqual([int(index) for _, index in found], best.tolist())
        np.testing.assert_allclose([float(score) for score, _ in found], scores[best], rtol=1e-5)

    def test_picture_as_bytes(self):
        picture = np.array([(serving.ROOT / "models" / "digit.png").read_bytes()], object)
        scores = self.infer("digits", {"image": (picture, "BYTES")}, binary=(True, True)).as_numpy("probabilities")
        self.assertEqual(scores.shape, (1, 10))
        self.assertGreater(scores.max(), 0.9)  # a digit that the model knows

    def test_statistics(self):
        def count():
            (stats,) = self.metadata("get_inference_statistics", "identity_fp32")["model_stats"]
            return int(stats.get("inference_count", 0)), int(stats["inference_stats"]["success"].get("count", 0))
        before = count()
        self.infer("identity_fp32", self.x())
        self.assertEqual(count(), (before[0] + 1, before[1] + 1))
        self.assert_refused(lambda: self.metadata("get_inference_statistics", "none"), "404", "NOT_FOUND")

    def test_unload_is_seen_in_the_index(self):
        self.client.call("unload_model", "identity_bool")
        index = self.metadata("get_model_repository_index")
        index = index if self.client.http else index["models"]
        self.assertEqual([entry["state"] for entry in index if entry["name"] == "identity_bool"], ["UNAVAILABLE"])
        self.client.call("load_model", "identity_bool")
        self.assertTrue(self.client.call("is_model_ready", "identity_bool"))

    def test_other_models_are_not_loaded(self):
        self.assert_refused(lambda: self.client.call("load_model", "add", config='{"name": "add"}'), "400", "INVALID_ARGUMENT")

    def test_shared_memory_is_refused(self):
        for name, args in (("get_system_shared_memory_status", ()), ("register_system_shared_memory", ("r", "/r", 64))):
            # gRPC itself answers what a server lacks, without a text
            self.assert_refused(lambda: self.client.call(name, *args), "404", "UNIMPLEMENTED", text=self.client.http)


class BinaryCase:
    """Beside Case, for HTTP: elements as bytes behind the JSON, an extension. add_identities() adds tests."""


def add_identities():
    """A test for each datatype and form of elements."""
    def check(self, datatype, *binary):
        array = values(datatype)
        got = self.infer(f"identity_{datatype.lower()}", {"x": (array, datatype)}, ["y"], binary).as_numpy("y")
        self.assertEqual((got.dtype, got.shape), (array.dtype, array.shape))
        np.testing.assert_array_equal(got, array)

    forms = {"as_bytes": (True, True), "as_bytes_and_json_back": (True, False), "as_json_and_bytes_back": (False, True)}
    for datatype in serving.TYPES:
        only_bytes = datatype in ("FP16", "BF16")  # so the client sends and takes them
        setattr(GrpcCase if only_bytes else Case, f"test_{datatype.lower()}", functools.partialmethod(check, datatype, False, False))
        for form, binary in forms.items():
            if not only_bytes or form == "as_bytes":
                setattr(BinaryCase, f"test_{datatype.lower()}_{form}", functools.partialmethod(check, datatype, *binary))


class GrpcCase:
    """Beside Case, for gRPC."""


# What MLServer 1.7.1 answers otherwise, by client and test, where "Http" and "Grpc" are those for asyncio as well.
DEVIATIONS = {
    ("Http", "test_repository"): "its index demands a body, which the client does not send",
    ("Grpc", "test_repository"): "the states in its index are named State.READY",
    ("Http", "test_missing_input"): "it compares no request with the metadata: the runtime fails, 500",
    ("Grpc", "test_missing_input"): "it compares no request with the metadata: the runtime fails, INTERNAL",
    ("Grpc", "test_unknown_model_is_not_ready"): "UNKNOWN for an unknown model",
    ("Grpc", "test_bf16"): "it has no BF16",
}


def deviation(client, test):
    """The reason why the test is one that MLServer fails; "" if it is none."""
    if client.startswith("Http") and "_as_bytes" in test:
        return "it has no binary tensors over HTTP"
    return DEVIATIONS.get((client.removesuffix("Aio"), test), "")


def deviating(test, reason):
    def run(self):
        try:
            test(self)
        except (AssertionError, InferenceServerException, OSError, ValueError, KeyError) as error:
            print(f"\ndeviates: {self.id().removeprefix('__main__.')}: {reason} ({(str(error).splitlines() or ['no text'])[0][:100]})", end="", file=sys.stderr)
            return
        self.fail(f"MLServer does what it did not do: {reason}; try to delete the line in DEVIATIONS")
    return run


def load_tests(loader, _, __):
    add_identities()
    clients = {"Http": lambda s: Blocking(tritonclient.http, s.http, True), "Grpc": lambda s: Blocking(tritonclient.grpc, s.grpc, False),
               "HttpAio": lambda s: Async(tritonclient.http.aio, s.http, True), "GrpcAio": lambda s: Async(tritonclient.grpc.aio, s.grpc, False)}
    suite = unittest.TestSuite()
    for name, make in clients.items():
        bases = (BinaryCase if name.startswith("Http") else GrpcCase, *([MeteCase] if serving.SERVER.kind == "mete" else []), Case)
        case = type(name, bases, {"make": staticmethod(make)})
        for test in loader.getTestCaseNames(case) if serving.SERVER.kind == "mlserver" else ():
            if reason := deviation(name, test):
                setattr(case, test, deviating(functools.partial(getattr(case, test)), reason))
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    serving.main()
