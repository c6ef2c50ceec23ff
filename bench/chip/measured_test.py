"""The figures of two processors of one machine, and the whole program with a Mete and a slowcore that only pretend. No bar on times."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

kHere = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common"), str(kHere.parent / "cores")]
import measured
import shared

# As `mete bench MODEL --processors P --beside ...` and `mete profile MODEL --processors P`: 40 ms and 60 ms alone, 30 ms together.
kFakeMete = f"""#!{sys.executable}
import json, os, sys
if sys.argv[2].endswith("broken.onnx"):
    sys.exit("mete: error: [broken] not a model")
assert os.environ["METE_GPU"] == "cpu" and os.environ["METE_CACHE"], "not in the environment of this measurement"
assert os.listdir(os.environ["METE_CACHE"]) == ["gpu"], "times of an earlier measurement"
for of in [os.environ["POCL_CACHE_DIR"], os.environ["METE_CACHE"] + "/gpu"]:
    os.makedirs(of, exist_ok=True)
    open(of + "/compiled", "a").write("x")
if sys.argv[1] == "profile":
    print(json.dumps([{{"processors": [{{"name": "cpu:0", "us": [95, 3]}}, {{"name": "gpu:0/1", "us": [80, 70]}}]}}]))
else:
    plan = lambda name, ms, same=None: {{"name": name, "same_as": same or name, "median_ms": ms, "predicted_ms": 0.9 * ms,
                                        "shares": [{{"predicted_us": 95, "measured_us": 100}}]}}
    print(json.dumps({{"model": sys.argv[2], "slowed": [1, 1.25],
                       "layers": {{"cpu:0": {{"us": [100, 4], "flops_linear_us": [50, 4]}},
                                  "gpu:0/1": {{"us": [80, 70], "flops_linear_us": [100, 70]}}}},
                       "plans": [plan("chosen", 30), plan("alone cpu:0", 40), plan("alone gpu:0/1", 60)] +
                                [plan(name, 45) for name in sys.argv[sys.argv.index("--beside") + 1].split(",")]}}))
"""
kFakeSlowCore = f"""#!{sys.executable}
import json, subprocess, sys
at = sys.argv.index("--")
code = subprocess.run(sys.argv[at + 1:]).returncode
sys.stderr.write(json.dumps({{"exit_code": code}}, indent=2) + "\\n")
"""
kFakeLinePass = f"""#!{sys.executable}
print('{{"ns": 34.6}}')
"""


def plan(name, ms, same_as=None, **of):
    return {"name": name, "same_as": same_as or name, "median_ms": ms, "predicted_ms": ms, "shares": [], **of}


def result(chosen, first, second, same_as=None, **of):
    return {"plans": [plan("chosen", chosen), plan("alone a", first, same_as), plan("alone b", second), plan("codl", 2 * chosen),
                      plan("dynamic", chosen)],
            "layers": {}, "slowed": [1, 1], "line_ns": 35, **of}


class Figures(unittest.TestCase):
    def test_the_ideal_adds_up_both_speeds(self):
        self.assertAlmostEqual(shared.ideal_ms(result(30, 40, 60)), 24)
        self.assertAlmostEqual(shared.efficiency(result(30, 40, 60)), 0.8)
        self.assertAlmostEqual(shared.over_best(result(30, 40, 60)), 0.75)

    def test_large_is_what_takes_long_on_the_faster_one(self):
        self.assertTrue(shared.is_large(result(15, 21, 30)))
        self.assertFalse(shared.is_large(result(15, 19, 30)))

    def test_layers_are_compared_with_the_second_measurement(self):
        layers = {"a": {"us": [100, 5, 30], "flops_linear_us": [80, 5, 31]}}
        of = result(30, 40, 60, layers=layers, again={"a": [109, 5, 30]})
        self.assertEqual(shared.layers_near(of, "us"), [True, True])
        self.assertEqual(shared.layers_near(of, "flops_linear_us"), [False, True])

    def test_summary_names_what_does_not_hold(self):
        lines = shared.summary({"good": result(12.5, 25, 25), "bad": result(26, 25, 400), "small": result(1, 1, 1, "chosen")}, ["codl"])
        self.assertIn("geometric mean of the 2 networks that take more than 20 ms", lines[0])
        self.assertIn(": bad (1.040)", lines[1])
        self.assertIn("codl takes 2.00 times as long", lines[2])
        self.assertIn("by more than 2 %: none", shared.summary({"good": result(10, 10, 25)}, [])[1])

    def test_a_processor_that_cannot_compute_a_network_has_no_figure(self):
        alone = {"plans": [plan("chosen", 10), plan("alone a", 10, "chosen"), plan("codl", 10), plan("dynamic", 10)], "layers": {},
                 "slowed": [1], "line_ns": 35}
        self.assertEqual(shared.row("net", alone, ["codl"])[:6], ["net", "10.0", "-", "10.0", "-", "1.000 (the same)"])
        self.assertIn("networks that take more than 20 ms on the faster processor alone: -", shared.summary({"net": alone}, ["codl"])[0])


class Settings(unittest.TestCase):
    def test_the_faster_one_is_slowed_to_the_other(self):
        self.assertIsNone(measured.slowed_core("as-is", [0, 1], None))
        self.assertEqual(measured.slowed_core("equal", [0, 1], result(30, 40, 60)), (0, 0.67))
        self.assertEqual(measured.slowed_core("equal", [0, 1], result(30, 60, 40)), (1, 0.67))
        self.assertEqual(measured.slowed_core("equal", [0, 1], result(1, 1, 1000)), (0, measured.kLeastSpeed))
        self.assertEqual(measured.slowed_core("half", [2, 3], None), (3, 0.5))


class Program(unittest.TestCase):
    def run_on(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            fakes = {"mete": kFakeMete, "slowcore": kFakeSlowCore, "line_pass": kFakeLinePass}
            for name, script in fakes.items():
                pathlib.Path(folder, name).write_text(script)
                pathlib.Path(folder, name).chmod(0o755)
            for model in ("net.onnx", "broken.onnx"):
                pathlib.Path(folder, model).write_text("")
            core = str(min(os.sched_getaffinity(0)))
            return subprocess.run([sys.executable, kHere / "measured.py", "--mete", f"{folder}/mete", "--slowcore", f"{folder}/slowcore",
                                   "--line-pass", f"{folder}/line_pass",
                                   "--cores", f"{core},{int(core) + 1}", *(word.format(folder) for word in words)],
                                  capture_output=True, text=True)

    def test_every_setting_has_a_table(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two cores that follow each other")
        done = self.run_on("--models", "{}/net.onnx", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual([s["name"] for s in document["settings"]], list(measured.kSettings))
        slow = [s["results"]["net"]["slowcore"] for s in document["settings"]]
        self.assertIsNone(slow[0])
        self.assertEqual([s["speed"] for s in slow[1:]], [0.67, 0.5])
        text = shared.text(document, markdown=True)
        self.assertIn("| net | 40.0 ", " ".join(text.split()))
        self.assertIn("0.80", text)
        self.assertIn(" 35 |", text)
        self.assertIn("100 % of 3 within 10 %; as a line over operations: 33 % of 3", text)
        self.assertNotIn("onnx", text)

    def test_a_network_that_fails_does_not_end_the_others(self):
        done = self.run_on("--models", "{}/broken.onnx", "{}/net.onnx", "--settings", "as-is")
        self.assertEqual(done.returncode, 3)
        self.assertIn("not measured: broken: ", done.stdout)
        self.assertIn("net ", done.stdout)

    def test_kernels_and_no_times_are_kept(self):
        with tempfile.TemporaryDirectory() as kernels:
            for uses in (2, 4):  # bench and profile, each in two calls
                done = self.run_on("--models", "{}/net.onnx", "--settings", "as-is", "--kernels", kernels)
                self.assertEqual(done.returncode, 0, done.stderr)
                for of in ("gpu", "pocl"):
                    self.assertEqual(pathlib.Path(kernels, of, "compiled").read_text(), "x" * uses)

    def test_problems_are_told(self):
        done = self.run_on("--models", "{}/broken.onnx", "--settings", "as-is")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("not a model", done.stderr)
        self.assertEqual(self.run_on("--settings", "equal").returncode, 2)
        self.assertEqual(self.run_on("--cores", "0,0").returncode, 2)


if __name__ == "__main__":
    unittest.main()
