"""Scripts for ONNX Runtime with `import mete as ort`."""
import json
import os
import pathlib
import tempfile
import threading
import unittest
import warnings

import mete as ort
import numpy as np
from networks import add, named

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = str(ROOT / "models" / "digits.onnx")


class Session(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(add())
        self.one = np.ones((2, 3), np.float32)

    def test_ports_have_names_types_and_shapes(self):
        self.assertEqual([(i.name, i.type, i.shape) for i in self.session.get_inputs()],
                         [("a", "tensor(float)", ["N", 3]), ("b", "tensor(float)", ["N", 3])])
        self.assertEqual([(o.name, o.type) for o in self.session.get_outputs()], [("c", "tensor(float)")])

    def test_a_run_as_in_tutorials(self):
        name = self.session.get_inputs()[0].name
        outputs = self.session.run([self.session.get_outputs()[0].name], {name: self.one, "b": self.one})
        np.testing.assert_array_equal(outputs[0], 2 * self.one)
        np.testing.assert_array_equal(self.session.run(None, {"a": self.one, "b": self.one})[0], 2 * self.one)
        np.testing.assert_array_equal(self.session.run([], {"a": self.one, "b": self.one})[0], 2 * self.one)

    def test_lists_of_numbers_become_arrays_of_the_inputs_type(self):
        got = self.session.run(None, {"a": [[1, 2, 3]], "b": np.ones((1, 3), np.float32)})[0]
        np.testing.assert_array_equal(got, np.array([[2, 3, 4]], np.float32))

    def test_what_a_pool_has_of_its_own_is_refused_beside_it(self):
        options = ort.SessionOptions()
        options.pool = ort.Pool.from_list("cpu")
        options.intra_op_num_threads = 2
        with self.assertRaisesRegex(ort.InvalidArgument, "intra_op_num_threads"):
            ort.InferenceSession(DIGITS, options)

    def test_missing_inputs_are_value_errors(self):
        with self.assertRaises(ValueError):
            self.session.run(None, {"a": self.one})

    def test_unknown_providers_are_warned_of(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            session = ort.InferenceSession(DIGITS, providers=["CUDAExecutionProvider", ("CPUExecutionProvider", {})])
        self.assertEqual(len(caught), 1)
        self.assertIn("CUDAExecutionProvider", str(caught[0].message))
        self.assertEqual(session.get_providers(), ["CPUExecutionProvider"])

    def test_options_are_kept_and_unknown_ones_refused(self):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.x", "1")
        session = ort.InferenceSession(DIGITS, options, providers=["CPUExecutionProvider"])
        self.assertEqual(session.session.stats["threads"], 1)
        with self.assertRaises(AttributeError):
            options.no_such_option = 1
        with self.assertRaises(TypeError):
            ort.InferenceSession(DIGITS, no_such_argument=1)
        with self.assertRaises(TypeError):
            ort.InferenceSession(3)

    def test_an_open_dimension_gets_a_size(self):
        options = ort.SessionOptions()
        options.add_free_dimension_override_by_name("N", 2)
        session = ort.InferenceSession(add(), options)
        self.assertEqual(session.session.model.inputs[0].shape, [2, 3])

    def test_a_run_that_is_ended(self):
        options = ort.RunOptions()
        options.terminate = True
        with self.assertRaises(ort.Cancelled):
            self.session.run(None, {"a": self.one, "b": self.one}, options)
        options.terminate = False
        self.session.run(None, {"a": self.one, "b": self.one}, options)

    def test_a_run_that_is_answered_later(self):
        done, got = threading.Event(), []

        def callback(outputs, user_data, error):
            got.append((outputs, user_data, error))
            done.set()

        self.session.run_async(None, {"a": self.one, "b": self.one}, callback, "mine")
        self.assertTrue(done.wait(60))
        np.testing.assert_array_equal(got[0][0][0], 2 * self.one)
        self.assertEqual(got[0][1:], ("mine", ""))
        done.clear()
        self.session.run_async(None, {}, callback, None)
        self.assertTrue(done.wait(60))
        self.assertIn("[a]", got[1][2])

    def test_metadata(self):
        meta = ort.InferenceSession(DIGITS).get_modelmeta()
        self.assertIsInstance(meta.custom_metadata_map, dict)
        self.assertIsInstance(meta.producer_name, str)
        own = ort.InferenceSession(named()).get_modelmeta()
        self.assertEqual((own.domain, own.version, own.graph_name, own.description, own.graph_description),
                         ("org.example", 7, "net", "what it is", "one addition"))

    def test_profiles_have_all_runs(self):
        options = ort.SessionOptions()
        options.enable_profiling = True
        with tempfile.TemporaryDirectory() as folder:
            options.profile_file_prefix = os.path.join(folder, "p_")
            options.intra_op_num_threads = 1
            session = ort.InferenceSession(add(), options)
            for _ in range(2):
                session.run(None, {"a": self.one, "b": self.one})
            binding = session.io_binding()
            binding.bind_cpu_input("a", self.one)
            binding.bind_cpu_input("b", self.one)
            binding.bind_ortvalue_output("c", ort.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32))
            session.run_with_iobinding(binding)
            with open(session.end_profiling(), encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
        begins = [event["ts"] for event in events if event.get("args", {}).get("op") == "mete.Elementwise"]
        self.assertEqual(len(begins), 3, events)
        self.assertEqual(begins, sorted(set(begins)))
        with self.assertRaises(ort.InvalidArgument):
            self.session.end_profiling()


class Bindings(unittest.TestCase):
    def setUp(self):
        self.session = ort.InferenceSession(add())
        self.one = np.ones((2, 3), np.float32)

    def test_outputs_that_the_session_makes(self):
        binding = self.session.io_binding()
        binding.bind_cpu_input("a", self.one)
        binding.bind_ortvalue_input("b", ort.OrtValue.ortvalue_from_numpy(self.one))
        binding.bind_output("c")
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], 2 * self.one)

    def test_outputs_in_the_callers_memory(self):
        place = np.zeros((2, 3), np.float32)
        binding = self.session.io_binding()
        binding.bind_input("a", "cpu", 0, np.float32, self.one.shape, self.one.ctypes.data)
        binding.bind_cpu_input("b", self.one)
        binding.bind_output("c", "cpu", 0, np.float32, place.shape, place.ctypes.data)
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(place, 2 * self.one)
        value = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
        binding.bind_ortvalue_output("c", value)
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(value.numpy(), 2 * self.one)
        self.assertEqual((value.shape(), value.data_type(), value.device_name()), ([2, 3], "tensor(float)", "cpu"))

    def test_copies_stay_when_another_run_writes_the_memory(self):
        binding = self.session.io_binding()
        binding.bind_cpu_input("a", self.one)
        binding.bind_cpu_input("b", self.one)
        value = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], np.float32)
        binding.bind_ortvalue_output("c", value)
        self.session.run_with_iobinding(binding)
        first, also = binding.copy_outputs_to_cpu()[0], value.numpy()
        binding.bind_cpu_input("b", 5 * self.one)
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(first, 2 * self.one)
        np.testing.assert_array_equal(also, 2 * self.one)
        np.testing.assert_array_equal(value.numpy(), 6 * self.one)

    def test_what_does_not_fit_is_refused(self):
        binding = self.session.io_binding()
        for bind in (lambda: binding.bind_cpu_input("no", self.one), lambda: binding.bind_output("no"),
                     lambda: binding.bind_output("c", "cpu", 0, None, [2, 3], self.one.ctypes.data),
                     lambda: binding.bind_output("c", "cpu", 0, 99, [2, 3], self.one.ctypes.data),
                     lambda: ort.OrtValue.ortvalue_from_numpy(self.one.copy()).update_inplace(np.float32(3))):
            with self.assertRaises(ort.InvalidArgument):
                bind()
        self.assertEqual(ort.OrtValue.ortvalue_from_shape_and_type([2], 16).data_type(), "tensor(bfloat16)")

    def test_what_is_not_bound_or_elsewhere_is_an_error(self):
        binding = self.session.io_binding()
        with self.assertRaises(ort.FailedPrecondition):
            self.session.run_with_iobinding(binding)
        binding.bind_output("c")
        with self.assertRaises(ort.FailedPrecondition):
            binding.copy_outputs_to_cpu()
        with self.assertRaises(ort.InvalidArgument):
            binding.bind_output("c", "cuda")
        with self.assertRaises(ort.InvalidArgument):
            ort.OrtValue.ortvalue_from_numpy(self.one, "cuda", 0)

    def test_runs_with_values(self):
        value = ort.OrtValue.ortvalue_from_numpy(self.one)
        got = self.session.run_with_ort_values(["c"], {"a": value, "b": value})
        np.testing.assert_array_equal(got[0].numpy(), 2 * self.one)


if __name__ == "__main__":
    unittest.main()
