"""The programs of python/examples, as a user starts them."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"
SHARED = pathlib.Path(os.environ.get("METE_SHARED", ROOT.parent / "shared"))
DIGITS, DIGIT = ROOT / "models" / "digits.onnx", ROOT / "models" / "digit.png"


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def said(self, example, *words):
        done = subprocess.run([sys.executable, EXAMPLES / example, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def needs(self, *paths):
        for path in paths:
            if not path.exists():
                self.skipTest(f"{path} is missing: the trained models are not in the repository")

    def test_classify(self):
        self.assertRegex(self.said("classify.py", DIGITS, DIGIT).splitlines()[0], r"^ +[0-9.]+  5$")

    def test_detect(self):
        net, photo = SHARED / "models/ultraface_rfb320.onnx", SHARED / "images/samples/grace_hopper.bmp"
        self.needs(net, photo)
        out = self.folder / "faces.png"
        lines = self.said("detect.py", net, photo, out, "mean=127", "std=128", "head=ultraface").splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(out.read_bytes().startswith(b"\x89PNG"))

    def test_tokens(self):
        net = SHARED / "models/stories260k.onnx"
        self.needs(net)
        want = json.loads((SHARED / "models/expected.json").read_text())["stories260k"]
        prompt = want["prompt_tokens"]
        told = self.said("tokens.py", net, 20, *prompt)
        self.assertEqual([int(word) for word in told.split()], want["greedy_tokens"][:len(prompt) + 20])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
    def test_pool(self):
        cores = sorted(os.sched_getaffinity(0))[:2]
        self.assertIn("20 requests", self.said("pool.py", DIGITS, ",".join(f"cpu:{core}" for core in cores)))

    def test_quantize(self):
        net, photos = SHARED / "models/squeezenet_v1.1.onnx", SHARED / "images/samples"
        self.needs(net, photos)
        self.assertRegex(self.said("quantize.py", net, photos, self.folder / "small.onnx", "imagenet-torch"), r"[1-9][0-9]* of [0-9]+ pictures")


if __name__ == "__main__":
    unittest.main()
