"""The document of simulated pools, and the whole program with a Mete that only pretends. No bar on what the document in the repository says,
but for the command that makes it."""
import pathlib
import sys
import tempfile
import unittest

kHere = pathlib.Path(__file__).resolve().parent
kRoot = kHere.parent.parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common")]
import document
import page_testing
import pools

# As `mete simulate --processors`: legion is as fast as the number of boards, ours half as fast again, but slow.onnx harms.
kFakeMete = f"""#!{sys.executable}
import json, sys
if sys.argv[2].endswith("broken.onnx"):
    sys.exit("mete: error: [broken] not a model")
text = open(sys.argv[sys.argv.index("--processors") + 1]).read()
boards = sum(int(line.split("=")[1]) for line in text.splitlines() if line.startswith("count"))
speed = 0.5 if "slow" in sys.argv[2] else float(boards)
names = ["alone", "layerwise", "uniform", "neurosurgeon", "legion", "fss", "dynamic"]
print(json.dumps({{"estimates": "all of them", "planners": [{{"planner": n, "speed_up": speed * (1.5 if n == "dynamic" else 1)}} for n in names]}}))
"""


def speed_ups(legion, dynamic):
    return {**dict.fromkeys(document.kPlanners, 1.0), "legion": legion, "fss": legion, "dynamic": dynamic}


class Documents(unittest.TestCase):
    def test_published_figures_stand_beside_their_pools(self):
        self.assertEqual(document.published("yolov2", "rk3399 x2"), 0.75)
        for model, pool in (("yolov2", "rk3399 x1"), ("yolov2", "xu4 x2"), ("resnet50", "rk3399 x2"), ("vgg16", "rk3399 x2 + xu4 x2")):
            self.assertIsNone(document.published(model, pool))
        text = document.table("vgg16", {"rk3399 x2": speed_ups(1.2, 1.3), "xu4 x2": speed_ups(1.2, 1.3)})
        self.assertIn("1.42x", text)

    def test_summary_names_what_does_not_hold(self):
        good = document.summary({"m": {"rk3399 x2": speed_ups(0.8, 1.0)}})
        self.assertIn("never slower than the best single board on 1 of 1", good)
        self.assertIn("`legion` is slower than one board on 1 points", good)
        bad = document.summary({"m": {"rk3399 x2": speed_ups(1.2, 1.1), "rk3399 x3": speed_ups(0.5, 0.9)}})
        self.assertIn("slower: m on rk3399 x3 (0.900)", bad)
        self.assertIn("never slower than `legion` on 1 of 2 points; slower: m on rk3399 x2 (0.917)", bad)

    def test_pools_are_devices_files(self):
        link = pools.link_figures((kRoot / "boards" / pools.kLinkFile).read_text())
        self.assertEqual([line.split()[0] for line in link.splitlines()], pools.kLinkKeys)
        text = pools.devices_file(pools.Pool("two", {"rk3399": 2, "xu4": 1}), "/boards", link)
        self.assertEqual(text.count("[[device]]"), 2)
        self.assertEqual(text.count("latency_us"), 2)
        self.assertIn('machine = "/boards/exynos-5422.toml"', text)
        for board in pools.kBoards.values():
            self.assertTrue((kRoot / "boards" / board).is_file())

    def test_the_document_in_the_repository_is_of_this_command(self):
        self.assertIn(document.kCommand, (kRoot / "docs" / "results" / "network.md").read_text())
        self.assertIn(document.kCommand.split()[1] + ":", (kRoot / "Makefile").read_text())


class Program(unittest.TestCase):
    def run_it(self, folder, *models):
        return page_testing.run(kHere / "reproduce.py", kFakeMete, folder, *models)

    def test_writes_the_document(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_it(folder, "net.onnx").returncode, 0)
            text = pathlib.Path(folder, "out", "network.md").read_text()
            self.assertIn("never slower than the best single board on 12 of 12 points.", text)
            self.assertIn("| rk3399 x6 ", text)

    def test_says_where_a_board_harms(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_it(folder, "slow.onnx").returncode, 0)
            self.assertIn("on 0 of 12 points; slower: slow on", pathlib.Path(folder, "out", "network.md").read_text())

    def test_a_model_that_cannot_be_loaded_leaves_no_document(self):
        with tempfile.TemporaryDirectory() as folder:
            page_testing.check_that_a_bad_model_leaves_no_page(self, kHere / "reproduce.py", kFakeMete, folder)


if __name__ == "__main__":
    unittest.main()
