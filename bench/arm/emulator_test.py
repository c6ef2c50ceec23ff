"""That the emulator counts instructions, and that a program sees the processor that is emulated: emulator_test.py --mete FILE --sysroot FOLDER"""
import argparse
import json
import pathlib
import sys
import tempfile
import unittest

kHere = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(kHere))
from emulator import EmulatedFailed, Emulator

kDigits = kHere.parents[1] / "models/digits.onnx"
options = None


class OfEmulator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def emulator(self, cpu):
        return Emulator(cpu, options.sysroot, self.folder)

    def test_each_run_of_a_model_counts_as_much(self):
        emulator = self.emulator("neoverse-n1")
        command = [options.mete, "bench", kDigits, "--on-command", "--threads", 1, "--tune", "never"]

        def executed(runs):
            return emulator.ask(command, [{"do": "time", "runs": runs}], [f"METE_CACHE={self.folder}"])[0]
        few, some, more = map(executed, (1, 61, 121))  # so many that what a busy machine adds by its waits is no 2 % of them
        one, multiply_adds = (some - few) / 60, 1.15e6  # an instruction computes 4 of them, and Winograd's kernels leave out up to 3 in 4
        self.assertGreater(one, multiply_adds / 16)
        self.assertLess(one, multiply_adds * 2)
        self.assertAlmostEqual((more - some) / (some - few), 1, delta=0.02)  # what differs is the text of the answer

    def test_the_program_sees_the_processor(self):
        for cpu, core in (("cortex-a53", "Cortex-A53"), ("neoverse-n1", "Neoverse-N1")):
            with self.subTest(cpu), tempfile.TemporaryDirectory() as folder:
                _, said = Emulator(cpu, options.sysroot, folder).run([options.mete, "machine", "--json"])
                self.assertEqual({cluster["core"] for cluster in json.loads(said)["clusters"]}, {core})

    def test_a_program_that_fails_is_told(self):
        with self.assertRaisesRegex(EmulatedFailed, "ended with 3.*no-such"):
            self.emulator("cortex-a72").run([options.mete, "bench", "no-such.onnx"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mete", type=pathlib.Path, required=True)
    parser.add_argument("--sysroot", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
