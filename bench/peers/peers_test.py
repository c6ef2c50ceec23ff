"""The parts of the comparison that need no engine and no network: statistics, tables, and the protocol with a fake engine."""
import importlib.util
import json
import math
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

kHere = pathlib.Path(__file__).parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common")]
import beside
import convert
import machine
import measure
import quantized
import report
import spread
import tables
import turns
import worker as peer
from protocol import Worker, WorkerFailed, core_list, last_words

kCores = {max(os.sched_getaffinity(0))}


def fake(**config):
    return [sys.executable, str(kHere / "worker.py"), "fake", json.dumps(config)]


class Script:
    """A worker whose runs take the milliseconds of this list, one after the other, and the last of them for ever. It keeps what it is
    asked."""

    def __init__(self, *ms):
        self.ms, self.asked = list(ms), []

    def ask(self, *, do, runs, warm=0):
        self.asked.append((do, warm, runs))
        times = [1e6 * (self.ms.pop(0) if len(self.ms) > 1 else self.ms[0]) for _ in range(warm + runs)]
        return {"ns": times[warm:]}


def engine(median_ms=10.0, mete_over_it=1.0, agrees=True, **more):
    return {"median_ms": median_ms, "mad_ms": 0.1, "least_ms": 0.9 * median_ms, "mete_over_it": mete_over_it, "agrees": agrees,
            "difference": 1e-6 if agrees else 0.5, "load_ms": 5.0, "first_answer_ms": 7.0, "start_ms": 100.0, "whole_ms": 107.0,
            "very_first_ms": 9.0, "very_first_whole_ms": 109.0, "very_first_peak_kib": 30720,
            "peak_kib": 20480, "ready_kib": 10240, **more}


def result(model="net", failed=None, **engines):
    return {"model": model, "reference": "onnxruntime", "failed": failed or {}, "engines": engines}


class Spread(unittest.TestCase):
    def test_one_interrupt_moves_nothing(self):
        self.assertEqual(spread.spread([1.0, 2.0, 3.0, 2.0, 900.0]), {"median": 2.0, "mad": 1.0, "least": 1.0, "count": 5})

    def test_a_slow_round_hits_both_and_cancels(self):
        ours, theirs = [[2, 2], [20, 20], [2, 2]], [[1, 1], [10, 10], [1, 1]]
        self.assertEqual(spread.paired_ratio(ours, theirs), 2)

    def test_geometric_mean(self):
        self.assertAlmostEqual(spread.geometric_mean([0.5, 2.0, 8.0]), 2.0)

    def test_a_burst_has_a_median_and_an_end(self):
        self.assertEqual([spread.burst_runs(ms, 60) for ms in (1000, 20, 0.001)], [2, 3, 500])


class Quantized(unittest.TestCase):
    def test_a_file_that_is_newer_than_its_network_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.onnx")
            pathlib.Path(path).write_bytes(b"x")
            made = []
            with unittest.mock.patch.object(quantized, "_quantize", lambda path, form, file: (made.append(form), shutil.copy(path, file))):
                file = quantized.quantized_file(path, "qdq", folder)
                self.assertEqual(quantized.quantized_file(path, "qdq", folder), file)
                self.assertEqual(made, ["qdq"])
                os.utime(file, (1, 1))
                quantized.quantized_file(path, "qdq", folder)
                self.assertEqual(made, ["qdq", "qdq"])

    def test_files_of_one_name_in_two_folders_have_files_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(quantized, "_quantize", lambda path, form, file: shutil.copy(path, file)):
            paths = [os.path.join(folder, part, "net.onnx") for part in "ab"]
            for path in paths:
                os.mkdir(os.path.dirname(path))
                pathlib.Path(path).write_bytes(b"x")
            self.assertEqual(len({quantized.quantized_file(path, "qdq", folder) for path in paths}), 2)

    def test_what_the_quantizer_does_not_take_is_told_and_leaves_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.onnx")
            pathlib.Path(path).write_bytes(b"no network")

            def refuse(path, form, file):
                pathlib.Path(file).write_bytes(b"a part")
                raise ValueError("no network")

            with unittest.mock.patch.object(quantized, "_quantize", refuse):
                with self.assertRaisesRegex(quantized.NotQuantized, r"\[net\] ONNX Runtime's quantizer does not take it: no network"):
                    quantized.quantized_file(path, "qdq", folder)
            self.assertEqual(os.listdir(folder), ["net.onnx"])


class Report(unittest.TestCase):
    def test_numbers_have_three_digits(self):
        self.assertEqual([tables.number(x) for x in (0.0123, 0.5, 1.234, 12.34, 123.4, 1234.5)],
                         ["0.012", "0.500", "1.23", "12.3", "123", "1234"])

    def test_mete_is_compared_with_the_fastest_peer(self):
        r = result(mete=engine(12), onnxruntime=engine(20, 0.6), openvino=engine(10, 1.19))
        self.assertEqual(report.ratio_to_best(r), (1.19, "openvino"))

    def test_a_peer_with_another_answer_does_not_count_and_is_named(self):
        r = result(mete=engine(12), onnxruntime=engine(20, 0.6), ncnn=engine(1, 12, agrees=False))
        self.assertEqual(report.ratio_to_best(r), (0.6, "onnxruntime"))
        self.assertIn("!", report.time_rows([r], ["mete", "onnxruntime", "ncnn"])[1][3])
        self.assertEqual(report.notes([r]), ["net: ncnn: its outputs differ by 5.0e-01 of the largest from onnxruntime's; not counted"])

    def test_a_peer_that_left_its_cores_does_not_count(self):
        r = result(failed={"openvino": "left"}, mete=engine(12), onnxruntime=engine(20, 0.6), openvino=engine(1, 12))
        self.assertEqual(report.ratio_to_best(r), (0.6, "onnxruntime"))

    def test_without_a_sound_mete_there_is_no_ratio(self):
        self.assertIsNone(report.ratio_to_best(result(mete=engine(agrees=False), onnxruntime=engine())))
        self.assertIsNone(report.ratio_to_best(result(mete=engine())))
        self.assertIsNone(report.ratio_to_best(result(failed={"all": "mete: x"})))

    def test_memory_and_load_have_their_own_best_peer(self):
        r = result(mete=engine(load_ms=6.0), onnxruntime=engine(5, 2.0, load_ms=12.0), openvino=engine(50, 0.2, load_ms=2.0))
        self.assertEqual(report.ratio_to_best(r, "load_ms"), (3.0, "openvino"))

    def test_the_summary_names_the_worst(self):
        rs = [result("a", mete=engine(), ncnn=engine(5, 2.0)), result("b", mete=engine(), ncnn=engine(20, 0.5)), result("c", mete=engine())]
        time = report.summary(rs)[0]
        self.assertAlmostEqual(time["geometric_mean"], 1.0)
        self.assertEqual((time["worst_model"], time["models"], time["no_slower"]), ("a", 2, 1))

    def test_columns_line_up_in_both_forms(self):
        rows = [["model", "ms"], ["a", "1.00"], ["long name", "-"]]
        self.assertEqual(tables.aligned(rows, markdown=False), "model        ms\na          1.00\nlong name     -")
        self.assertEqual(tables.aligned(rows, markdown=True).splitlines()[1], "| --------- | ---: |")

    def test_a_whole_document_with_a_missing_peer_and_a_failed_model(self):
        results = [result(failed={"ncnn": "not converted: x"}, mete=engine(), onnxruntime=engine()),
                   result("bad", failed={"all": "mete: y"})]
        document = {"threads": 2, "cores": [1, 0], "date": "2000-01-01", "engines": ["mete", "onnxruntime", "ncnn"],
                    "machine": {"cpu": "Z80"}, "versions": {"mete": "1"}, "results": results}
        for markdown in (False, True):
            self.assertNotIn("peak MiB", report.report(document, markdown, short=True))
            text = report.report(document, markdown)
            self.assertIn("peak MiB", text)
            for words in ("2 threads on Z80", "net: ncnn: not converted: x", "bad: all: mete: y"):
                self.assertIn(words, text)


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.net = os.path.join(folder.name, "net.onnx")

    def test_without_a_table_mete_runs_the_file_once(self):
        alone = beside.Beside(self.net)
        self.assertEqual((alone.mete_files, alone.is_chain(), alone.words(), alone.chain(), alone.tolerance), ([self.net], False, [], {}, None))

    def test_a_chain_is_told_to_mete_and_to_workers(self):
        beside.write(self.net, feed={"past": "present", "token": "next"}, steps=3, tolerance=1e-5)
        chain = beside.Beside(self.net)
        self.assertEqual(chain.words(), ["--feed", "past=present", "--feed", "token=next", "--steps", "3"])
        self.assertEqual((chain.chain(), chain.tolerance), ({"feed": {"past": "present", "token": "next"}, "steps": 3}, 1e-5))

    def test_mete_may_read_other_files(self):
        beside.write(self.net, mete=["net.prototxt", "net.caffemodel"])
        folder = os.path.dirname(self.net)
        self.assertEqual(beside.Beside(self.net).mete_files, [os.path.join(folder, "net.prototxt"), os.path.join(folder, "net.caffemodel")])

    def test_a_key_that_is_none_is_an_error(self):
        beside.write(self.net, feeds={})
        with self.assertRaisesRegex(beside.BadTable, "not a table beside a model; got"):
            beside.Beside(self.net)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_a_peer_that_runs_no_chains_has_a_reason(self):
        import engines
        beside.write(self.net, feed={"past": "present"}, steps=3)
        with unittest.mock.patch.object(engines.networks, "mete", lambda *words: {"inputs": []}):
            prepared = engines.prepare("mete", "net", self.net, ["onnxruntime", "ncnn"], os.path.dirname(self.net))
        self.assertEqual(prepared.reasons, {"ncnn": "its worker runs no chains"})
        self.assertEqual(json.loads(prepared.command("onnxruntime", 1)[-1])["steps"], 3)


class Protocol(unittest.TestCase):
    def setUp(self):
        self.workers = []

    def tearDown(self):
        for worker in self.workers:
            worker.close()

    def start(self, **config):
        self.workers.append(Worker(fake(**config), kCores))
        return self.workers[-1]

    def test_greets_after_its_first_answer(self):
        worker = self.start(label="x")
        times = worker.start_times()
        self.assertEqual(sorted(times), ["first_run_ms", "load_ms", "start_ms"])
        self.assertTrue(all(ms >= 0 for ms in times.values()), times)
        self.assertEqual(worker.greeting["settings"], {"label": "x", "runs": 1})  # and not what the engine printed

    def test_times_each_run(self):
        ns = self.start().ask(do="time", warm=1, runs=3)["ns"]
        self.assertEqual(len(ns), 3)
        self.assertGreaterEqual(min(ns), 0)

    def test_a_time_is_that_of_one_run_and_none_of_those_before(self):
        class Slower:
            runs, now_ns = 0, 1000

            def run(self):
                self.runs += 1
                self.now_ns += self.runs
        engine = Slower()
        self.assertEqual(peer.timed(engine, 2, 3, lambda: engine.now_ns), [3, 4, 5])

    def test_runs_on_the_given_cores_alone(self):
        worker = self.start()
        self.assertEqual(worker.allowed_cores(), kCores)
        self.assertGreater(worker.peak_kib(), 1000)
        self.assertGreaterEqual(worker.cpu_s(), 0)

    def test_saves(self):
        with tempfile.TemporaryDirectory() as folder:
            files = self.start().ask(do="save", folder=folder)["files"]
            self.assertEqual([os.path.basename(f) for f in files], ["0.npy"])
            self.assertTrue(os.path.isfile(files[0]))

    def test_says_why_an_engine_cannot_start(self):
        with self.assertRaisesRegex(WorkerFailed, "^ImportError: no module named fake$"):
            Worker(fake(missing=True), kCores)

    def test_says_why_a_worker_ended(self):
        with self.assertRaisesRegex(WorkerFailed, "unknown command"):
            self.start().ask(do="dance")
        worker = self.start()
        worker.process.kill()
        with self.assertRaisesRegex(WorkerFailed, "signal 9"):
            worker.ask(do="time", runs=1)

    def test_last_words(self):
        self.assertEqual(last_words("\n"), "no message")
        self.assertEqual(last_words("a\n\x1b[31mb\x1b[0m\n"), "b")
        text = "layer X not registered\nTraceback (most recent call last):\n  File\nError: load\n"
        self.assertEqual(last_words(text), "Error: load (layer X not registered)")

    def test_core_list(self):
        self.assertEqual(core_list("0-2,5"), {0, 1, 2, 5})


class Measure(unittest.TestCase):
    def test_in_turn_finds_the_ratio(self):
        workers = {"mete": Script(45), "quick": Script(15)}
        times = turns.in_turn(workers, rounds=3, burst_ms=90, settle_s=0)
        self.assertEqual({name: [len(burst) for burst in bursts] for name, bursts in times.items()}, {"mete": [2] * 3, "quick": [6] * 3})
        self.assertAlmostEqual(spread.paired_ratio(times["mete"], times["quick"]), 3)
        self.assertEqual(workers["quick"].asked, [("time", 1, 2), ("time", 0, 20), *[("time", 1, 6)] * 3])

    def test_the_first_run_of_a_burst_does_not_count(self):
        times = turns.bursts({"mete": Script(9, 2, 2, 9, 4, 4)}, {"mete": 2}, rounds=2, settle_s=0)
        self.assertEqual(times, {"mete": [[2, 2], [4, 4]]})

    def test_a_peer_that_cannot_start_has_a_reason_and_the_others_numbers(self):
        commands = {"mete": fake(), "onnxruntime": fake(), "ncnn": fake(missing=True)}
        with tempfile.TemporaryDirectory() as folder:
            r = measure.measure(commands, kCores, folder, lambda a, b: math.inf if "mete" in a[0] else 0.0, rounds=1, starts=1, tolerance=0,
                                settle_s=0)
        self.assertEqual(sorted(r["engines"]), ["mete", "onnxruntime"])
        self.assertIn("no module", r["failed"]["ncnn"])
        self.assertEqual((r["reference"], r["engines"]["mete"]["agrees"], r["engines"]["mete"]["difference"]), ("onnxruntime", False, None))
        json.dumps(r, allow_nan=False)

    def test_a_mete_that_cannot_start_is_an_error(self):
        with self.assertRaisesRegex(WorkerFailed, "^mete: ImportError"):
            measure.measure({"mete": fake(missing=True)}, kCores, "", None, rounds=1, starts=1, tolerance=0)


class Others(unittest.TestCase):
    def test_what_the_converter_is_told_and_tells(self):
        ports = [{"shape": [1, 3, 4], "type": "f32"}, {"shape": [2], "type": "i64"}]
        self.assertEqual(convert.input_shapes(ports), "[1,3,4]f32,[2]i64")
        script = 'ex.input("in0", ncnn.Mat(in0.numpy(), batch_index=0).clone())\nex.input("in1", ncnn.Mat(in1.numpy()).clone())'
        self.assertEqual(convert.input_mats(script), [("in0", 0), ("in1", None)])

    def test_busy_is_all_but_idle_of_the_cores_asked_for(self):
        tick = os.sysconf("SC_CLK_TCK")
        stat = f"cpu 9 9 9 9 9 9 9 9 0 0\ncpu0 {tick} 0 {tick} 700 70 0 0 {tick} 0 0\ncpu1 7 7 7 7 7 7 7 7 0 0\nintr 1"
        self.assertEqual(machine.busy_s({0}, stat), 3)

    def test_used_is_of_all_processes_their_ended_children_and_the_host(self):
        tick = os.sysconf("SC_CLK_TCK")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("1", f"1 (a) b) S 2 3 4 5 6 7 8 9 10 11 {tick} {tick} {3 * tick} {4 * tick} 20 0"),
                               ("22", f"22 (c) R 2 3 4 5 6 7 8 9 10 11 {5 * tick} 0 0 0 20 0"), ("self", "none")):
                os.mkdir(os.path.join(folder, name))
                pathlib.Path(folder, name, "stat").write_text(text)
            stolen = f"cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 {10 * tick} 0 0\ncpu1 1 2 3 4 5 6 7 {20 * tick} 0 0\n"
            pathlib.Path(folder, "stat").write_text(stolen)
            self.assertEqual(machine.used_s({1}, folder), 1 + 1 + 3 + 4 + 5 + 20)

    def test_the_machine_has_a_name_fit_for_a_file(self):
        self.assertEqual(machine.slug("Intel(R) Xeon(R) CPU E5 v3 @ 2.80GHz"), "intel-xeon-e5-v3-2.80ghz")
        self.assertTrue(machine.describe()["cpu"])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_errors_of_functions_are_in_units_of_the_last_place(self):
        import functions
        import numpy as np
        got = np.array([1, 1 + 3 * 2**-23, 2**-100], np.float32)
        self.assertEqual(functions.ulps(got, np.array([1, 1, 2**-100], np.float64)), 3)
        self.assertEqual(functions.ulps(got, np.array([1, 1 + 2.5 * 2**-23, 2**-100 + 2**-124], np.float64)), 0.5)
        for name, (nodes, function) in functions.FUNCTIONS.items():
            self.assertAlmostEqual(float(function(np.zeros(1))[0]), {"Sigmoid": 0.5, "Exp": 1}.get(name, 0))
            self.assertEqual(nodes[-1][2], ["y"])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_differences_are_relative_to_the_largest_and_know_nan(self):
        import numpy as np
        import tensors
        with tempfile.TemporaryDirectory() as folder:
            def file(name, values):
                np.save(os.path.join(folder, name), np.array(values, np.float32))
                return os.path.join(folder, name + ".npy")
            a, b, c = file("a", [[1.0, -4.0]]), file("b", [1.0, -4.4]), file("c", [1.0, math.nan])
            self.assertAlmostEqual(tensors.difference([b], [a]), 0.1, places=6)
            self.assertEqual(tensors.difference([c], [a]), math.inf)
            self.assertEqual(tensors.difference([a, a], [a]), math.inf)


if __name__ == "__main__":
    unittest.main()
