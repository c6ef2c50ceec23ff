"""The document of simulated chips, and the whole program with a Mete that only pretends. No bar on what the document in the repository says,
but for the command that makes it, and that no network there is slower than on the best single processor."""
import pathlib
import re
import sys
import tempfile
import unittest

kHere = pathlib.Path(__file__).resolve().parent
kRoot = kHere.parent.parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common")]
import chips
import document
import page_testing

# As `mete simulate` and `mete plan`: 30 ms on the CPU, 20 ms on the GPU, of halves 10 ms; ours takes half of the least, but slow.onnx harms.
kFakeMete = f"""#!{sys.executable}
import json, sys
model, processors = sys.argv[2], sys.argv[sys.argv.index("--processors") + 1]
if model.endswith("broken.onnx"):
    sys.exit("mete: error: [broken] not a model")
alone = [30000.0, 10000.0 if "f16" in processors else 20000.0]
us = {{"alone": alone[1], "layer-to-processor": alone[1], "mulayer": 2 * alone[1], "codl": 0.75 * alone[1],
       "dynamic": (1.5 if "slow" in model else 0.5) * alone[1]}}
if sys.argv[1] == "plan":
    print(json.dumps({{"alone_us": alone}}))
else:
    print(json.dumps({{"estimates": "all of them", "planners": [{{"planner": n, "simulated_us": us[n], "predicted_us": us[n]}} for n in us]}}))
"""


def point(cpu, gpu, ours, others):
    ms = {"layer-to-processor": others, "mulayer": others, "codl": others, "dynamic": ours}
    return {"alone": [cpu, gpu], "ms": ms, "predicted": ms}


class Documents(unittest.TestCase):
    def test_boards_have_machine_files_with_a_gpu(self):
        for board in chips.kBoards:
            self.assertIn("[[gpu]]", (kRoot / "boards" / f"{board}.toml").read_text())
        for path in (kRoot / "boards").glob("*.toml"):
            self.assertEqual("[[gpu]]" in path.read_text(), path.stem in chips.kBoards, path)
        for boards in (chips.kSnapdragon, chips.kMali, chips.kMulayerSaves, *chips.kCodlMs.values()):
            self.assertLessEqual(set(boards), set(chips.kBoards))

    def test_published_figures_stand_beside_ours(self):
        results = {"f32": {"vgg16": {"exynos-7420": point(28, 20, 10, 16), "snapdragon-855": point(28, 20, 10, 40)}}}
        self.assertEqual(document.mulayer_rows(results)[1], ["Exynos 7420", "f32", "64.3 %", "50.0 %", "37.5 %", "59.9 %", "1.40x", "GPU 1.40x"])
        self.assertEqual(document.codl_rows(results)[1:], [["vgg16", "Snapdragon 855", "f32", "137", "40.0", "10.0"]])
        self.assertEqual(document.over_mulayer_rows(results)[1:], [["Snapdragon", "3.43x", "1.00x", "4.00x"], ["Mali", "1.49x", "1.00x", "1.60x"]])

    def test_summary_names_what_does_not_hold(self):
        good = document.summary({"f32": {"m": {"kirin-970": point(20, 30, 20, 25)}}})
        self.assertIn("never slower than the best single processor on 1 of 1 points.", good)
        self.assertIn("`mulayer` is slower than the best single processor on 1 points", good)
        bad = document.summary({"f32": {"m": {"kirin-970": point(20, 30, 22, 25), "kirin-990": point(20, 30, 19, 10)}}})
        self.assertIn("processor on 1 of 2 points; slower (times as long): m on Kirin 970 in f32 (1.100)", bad)
        self.assertIn("`codl` on 1 of 2 points; slower (times as long): m on Kirin 990 in f32 (1.900)", bad)

    def test_the_document_in_the_repository_is_of_this_command(self):
        text = (kRoot / "docs" / "results" / "chip.md").read_text()
        self.assertTrue(text.startswith(document.kHead))
        self.assertIn(document.kCommand.split()[1] + ":", (kRoot / "Makefile").read_text())
        held, points = re.search(r"never slower than the best single processor on (\d+) of (\d+) points", text).groups()
        self.assertEqual(held, points)


class Program(unittest.TestCase):
    def run_it(self, folder, *models):
        return page_testing.run(kHere / "reproduce.py", kFakeMete, folder, *models)

    def test_writes_the_document(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_it(folder, "vgg16.onnx").returncode, 0)
            text = pathlib.Path(folder, "out", "chip.md").read_text()
            self.assertIn("never slower than the best single processor on 16 of 16 points.", text)
            self.assertIn("### vgg16, GPU in f16", text)
            self.assertIn("| Kirin 990 ", text)
            self.assertIn("CoDL, published ms", text)

    def test_says_where_dividing_harms(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_it(folder, "slow.onnx").returncode, 0)
            self.assertIn("on 0 of 16 points; slower (times as long): slow on", pathlib.Path(folder, "out", "chip.md").read_text())

    def test_a_model_that_cannot_be_loaded_leaves_no_document(self):
        with tempfile.TemporaryDirectory() as folder:
            page_testing.check_that_a_bad_model_leaves_no_page(self, kHere / "reproduce.py", kFakeMete, folder)


if __name__ == "__main__":
    unittest.main()
