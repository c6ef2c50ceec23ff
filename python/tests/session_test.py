"""Models, sessions, traces, plans, pools and pictures from Python."""
import json
import os
import pathlib
import tempfile
import threading
import unittest
import unittest.mock

import mete
import numpy as np
from networks import add, chain

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "models" / "digits.onnx"
PICTURE = ROOT / "models" / "digit.png"


def digits_input(model):
    steps = mete.Preprocess.for_model(DIGITS, model.inputs[0])
    return mete.make_input(mete.load_image(PICTURE), steps, model.inputs[0])


class Models(unittest.TestCase):
    def test_a_model_tells_its_ports_and_its_file(self):
        model = mete.Model.load(DIGITS)
        self.assertEqual(len(model.inputs), 1)
        self.assertEqual(model.inputs[0].type, "f32")
        self.assertEqual(model.inputs[0].shape, [1, 3, 32, 32])
        self.assertEqual(model.file["format"], "ONNX")
        self.assertGreater(model.stats["parameters"], 0)

    def test_open_dimensions_have_names_and_no_size(self):
        port = mete.Model.load_bytes(add()).inputs[0]
        self.assertEqual(port.declared, [None, 3])
        self.assertEqual(port.dims, ["N", ""])

    def test_errors_have_the_classes_of_their_codes(self):
        with self.assertRaises(mete.NotFound) as caught:
            mete.Model.load("/there/is/no.onnx")
        self.assertIsInstance(caught.exception, FileNotFoundError)
        self.assertEqual(caught.exception.code, "NOT_FOUND")
        with self.assertRaises(mete.Error):
            mete.Model.load_bytes(b"\x08\x07 no model")
        with self.assertRaises(mete.InvalidArgument):
            mete.Model.load(DIGITS, disabled_passes=["no such pass"])
        with self.assertRaises(TypeError):
            mete.Model.load(DIGITS, no_such_option=1)


class Runs(unittest.TestCase):
    def setUp(self):
        self.session = mete.Session(mete.Model.load_bytes(add()), threads=1)
        self.one = np.ones((2, 3), np.float32)

    def test_inputs_by_place_and_by_name(self):
        np.testing.assert_array_equal(self.session.run([self.one, 2 * self.one])[0], 3 * self.one)
        np.testing.assert_array_equal(self.session.run({"b": self.one, "a": 2 * self.one}, ["c"])[0], 3 * self.one)

    def test_wrong_names_are_all_named_at_once(self):
        with self.assertRaisesRegex(mete.InvalidArgument, r"(?s)\[a\].*\[b\].*\[z\]"):
            self.session.run({"z": self.one})
        with self.assertRaisesRegex(mete.InvalidArgument, r"\[d\] the model has no output"):
            self.session.run([self.one, self.one], ["d"])
        for wrong in ([3], [None]):
            with self.assertRaisesRegex(mete.InvalidArgument, "a name is no text"):
                self.session.run([self.one, self.one], wrong)

    def test_one_array_is_no_list_of_them(self):
        with self.assertRaisesRegex(mete.InvalidArgument, "got one array, expected a list"):
            self.session.run(self.one)
        with self.assertRaises(TypeError):
            self.session.run(3)

    def test_deadlines_that_are_no_times_are_refused(self):
        for wrong in (-1.0, float("nan")):
            with self.assertRaisesRegex(mete.InvalidArgument, "deadline_s"):
                self.session.run([self.one, self.one], deadline_s=wrong)
        self.session.run([self.one, self.one], deadline_s=float("inf"))

    def test_types_and_shapes_that_do_not_fit_are_refused(self):
        for wrong in (self.one.astype(np.float64), np.ones((2, 4), np.float32), np.ones(3, np.float32)):
            with self.assertRaises(mete.Error):
                self.session.run([wrong, wrong])

    def test_a_trace_has_the_nodes(self):
        trace = mete.Trace()
        self.session.run([self.one, self.one], trace=trace)
        self.assertEqual([event.op for event in trace.events], ["mete.Elementwise"])
        self.assertGreater(trace.total_ms, 0)
        self.assertIn("Elementwise", trace.table())
        self.session.count_activations(trace)
        counts = [event for event in json.loads(trace.chrome_json())["traceEvents"] if event["name"] == "activations in use"]
        self.assertEqual(len(counts), 2, "one for the node, and the end")

    def test_a_cancelled_run_raises(self):
        cancel = mete.CancelToken()
        cancel.cancel()
        with self.assertRaises(mete.Cancelled):
            self.session.run([self.one, self.one], cancel=cancel)

    def test_a_deadline_that_has_passed_raises(self):
        with self.assertRaises(mete.DeadlineExceeded) as caught:
            self.session.run([self.one, self.one], deadline_s=0)
        self.assertIsInstance(caught.exception, TimeoutError)

    def test_the_gil_is_free_while_a_run_computes(self):
        # Another thread counts while the run computes, and then cancels it: with the lock held, the run would end before it is cancelled.
        session = mete.Session(mete.Model.load_bytes(chain(2000, 512)), threads=1, tune="never")
        cancel = mete.CancelToken()
        inputs = [np.ones((512, 512), np.float32)] * 2
        begins = threading.Event()

        def count_and_cancel():
            begins.wait()
            for _ in range(1000000):
                pass
            cancel.cancel()

        thread = threading.Thread(target=count_and_cancel)
        thread.start()
        begins.set()
        with self.assertRaises(mete.Cancelled):
            session.run(inputs, cancel=cancel)
        thread.join()

    def test_events_outlive_another_run_with_the_same_trace(self):
        trace = mete.Trace()
        self.session.run([self.one, self.one], trace=trace)
        events = trace.events
        for _ in range(3):
            self.session.run([self.one, self.one], trace=trace)
        del trace
        self.assertEqual(events[0].op, "mete.Elementwise")

    def test_threads_share_a_session(self):
        wrong = []

        def work(number):
            value = np.full((2, 3), number, np.float32)
            for _ in range(50):
                if not (self.session.run([value, value])[0] == 2 * number).all():
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Plans(unittest.TestCase):
    def test_a_plan_is_used_again(self):
        model = mete.Model.load(DIGITS)
        session = mete.Session(model, threads=1)
        again = mete.Session(model, plan=session.plan)
        self.assertEqual(again.plan.text, session.plan.text)
        self.assertIn("groups", json.loads(session.plan.json))
        np.testing.assert_array_equal(again.run([digits_input(model)])[0].argmax(), session.run([digits_input(model)])[0].argmax())

    def test_steps_name_kernels(self):
        session = mete.Session(mete.Model.load(DIGITS), threads=1)
        self.assertTrue(all(step["kernel"] for step in session.steps()))
        self.assertIn(session.steps()[0]["node"], session.explain())

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
    def test_a_pool_of_two_cores_answers_as_one_does(self):
        first, second = sorted(os.sched_getaffinity(0))[:2]
        pool = mete.Pool.from_list(f"cpu:{first},cpu:{second}")
        self.assertEqual([p["cores"] for p in pool.processors], [[first], [second]])
        model = mete.Model.load(DIGITS)
        lines = []
        session = mete.Session(model, pool, note=lines.append)
        want = mete.Session(model, threads=1).run([digits_input(model)])[0]
        np.testing.assert_allclose(session.run([digits_input(model)])[0], want, rtol=1e-4, atol=1e-5)
        self.assertEqual(session.pool_stats["requests"], 1)
        self.assertIn("cpu", pool.plan(model).text)

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
    def test_what_a_note_raises_ends_nothing(self):
        first, second = sorted(os.sched_getaffinity(0))[:2]

        def note(line):
            raise ValueError(line)

        model = mete.Model.load(DIGITS)
        with unittest.mock.patch("sys.unraisablehook"):
            session = mete.Session(model, mete.Pool.from_list(f"cpu:{first},cpu:{second}"), note=note)
            self.assertEqual(len(session.run([digits_input(model)])), 1)
            del session

    def test_paths_are_of_any_kind(self):
        self.assertEqual(mete.Model.load(str(DIGITS)).name, mete.Model.load(os.fsencode(DIGITS)).name)
        with self.assertRaises(mete.NotFound):
            mete.Model.load(os.fsdecode(b"/no/\xff.onnx"))
        with tempfile.TemporaryDirectory() as folder:
            mete.Session(mete.Model.load(DIGITS), tuning_cache=pathlib.Path(folder), packed_cache=pathlib.Path(folder))

    def test_a_board_that_is_not_here_can_plan_and_not_run(self):
        board = next(path for path in sorted((ROOT / "boards").glob("*.toml")) if "[[cluster" in path.read_text())
        pool = mete.Pool.from_machine(board, "cpu")
        self.assertFalse(pool.is_here)
        model = mete.Model.load(DIGITS)
        self.assertGreater(pool.plan(model).predicted_us, 0)
        with self.assertRaises(mete.Error):
            mete.Session(model, pool)


class Pictures(unittest.TestCase):
    def test_a_picture_is_classified(self):
        model = mete.Model.load(DIGITS)
        scores = mete.Session(model).run([digits_input(model)])[0]
        self.assertEqual(int(scores.argmax()), 5)

    def test_pictures_from_bytes_and_files_are_equal(self):
        from_file = mete.load_image(PICTURE)
        self.assertEqual((from_file.dtype, from_file.shape[2]), (np.uint8, 3))
        np.testing.assert_array_equal(mete.load_image(PICTURE.read_bytes()), from_file)
        np.testing.assert_array_equal(mete.load_image(mete.png(from_file)), from_file)

    def test_what_is_no_picture_is_refused(self):
        with self.assertRaises(mete.InvalidArgument):
            mete.load_image(b"no picture")
        with self.assertRaises(mete.ResourceExhausted):
            mete.load_image(PICTURE, max_pixels=10)
        model = mete.Model.load(DIGITS)
        for wrong in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32), np.zeros((0, 4, 3), np.uint8)):
            with self.assertRaisesRegex(mete.InvalidArgument, r"\[picture\]"):
                mete.make_input(wrong, mete.Preprocess(), model.inputs[0])

    def test_settings_are_read_and_refused(self):
        steps = mete.Preprocess.from_toml('preprocess = "imagenet-torch"')
        self.assertTrue(steps.values_known)
        with self.assertRaises(mete.InvalidArgument):
            steps.set("no_such_key", "1")


if __name__ == "__main__":
    unittest.main()
