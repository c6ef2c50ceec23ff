"""Quantizes small networks with the command line. Standard library only."""
import math
import random

import cli_testing
from cli_testing import BAD_FILE, FAILURE, OK, USAGE, Cli, mete, png
from onnx_files import model

SIDE = 16
CLASSES = 5
RAW = ("--preprocess", "unit")  # pixels from 0 to 1


def weights(name, *dims, scale=1.0):
    numbers = random.Random(name)
    return name, list(dims), [numbers.gauss(0, 1) * scale for _ in range(math.prod(dims))]


def network(scale=1.0, last=None):
    """Two convolutions with a Relu between them, and scores of classes for any number of pictures."""
    nodes = [("Conv", ["data", "w1"], ["hidden"], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}), ("Relu", ["hidden"], ["positive"]),
             ("Conv", ["positive", "w2"], ["maps"], {"kernel_shape": [1, 1]}), ("GlobalAveragePool", ["maps"], ["pooled"]),
             ("Flatten", ["pooled"], ["scores"])]
    return model([("data", ["N", 3, SIDE, SIDE])], nodes, ["scores"],
                 weights=[weights("w1", 8, 3, 3, 3, scale=scale), last or weights("w2", CLASSES, 8, 1, 1)])


class Quantize(Cli):
    def setUp(self):
        self.net = self.path("net.onnx", network())
        self.out = self.path("out.onnx")
        self.pictures = self.path("pictures")
        self.pictures.mkdir()
        for i in range(8):
            numbers = random.Random(i)
            tint = [numbers.randrange(256) for _ in range(3)]
            (self.pictures / f"{i}.png").write_bytes(png(SIDE, SIDE, lambda x, y: tuple((t + numbers.randrange(64)) % 256 for t in tint)))

    def quantized(self, *flags, net=None):
        return self.answer("quantize", net or self.net, "--calibrate", self.pictures, "-o", self.out, *RAW, *flags)

    def refused(self, code, text, *args, flags=RAW):
        """The message, in a command that leaves no file."""
        message = self.fails(code, text, "quantize", *args, "-o", self.out, *flags)
        self.assertEqual([path for path in self.root.iterdir() if path.name.startswith(self.out.name)], [])
        return message

    def classes(self, net):
        results = self.answer("run", net, *sorted(self.pictures.glob("*.png")), *RAW)["results"]
        return [answer["top"][0]["class"] for answer in results]

    def operators(self):
        return self.answer("inspect", self.out, "--no-optimize")["operators"]

    def test_the_file_is_qdq_and_gives_the_same_classes(self):
        report = self.quantized()
        self.assertEqual((report["pictures"], report["unreadable"], report["activations"]), (8, 0, "u8"))
        self.assertEqual([layer["op"] for layer in report["layers"]], ["Conv", "Conv", "GlobalAveragePool"])
        self.assertGreater(report["answers_db"], 20)
        self.assertEqual(report["bytes"], self.out.stat().st_size)
        self.assertEqual(self.classes(self.out), self.classes(self.net))
        operators = self.answer("inspect", self.out, "--text")["text"]
        self.assertEqual(operators.count("= QLinearConv("), 2)
        self.assertEqual(operators.count("= Relu("), 0)  # saturation does it

    def test_the_batch_stays_open(self):
        self.quantized()
        pictures = sorted(self.pictures.glob("*.png"))[:2]
        self.assertEqual(self.answer("run", self.out, *pictures, "--batch", 2, *RAW)["results"][1]["batch"], 2)

    def test_each_method_and_type_writes_a_file(self):
        for method in ("auto", "minmax", "percentile", "entropy", "mse"):
            report = self.quantized("--method", method, "--activations", "i8")
            self.assertGreater(report["answers_db"], 10, method)
            if method != "auto":
                self.assertEqual(report["method"], method)
        self.assertEqual(report["activations"], "i8")

    def test_text_lists_the_worst_layers(self):
        done = mete("quantize", self.net, "--calibrate", self.pictures, "-o", self.out, *RAW)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("of 8 pictures", done.stdout)
        self.assertIn("Conv_hidden", done.stdout)

    def test_kept_nodes_stay_in_floats(self):
        report = self.quantized("--keep", "Conv_maps", "--no-equalization", "--no-bias-correction")
        self.assertEqual(report["kept"], ["Conv_maps"])
        self.assertFalse(report["biases_corrected"])
        self.assertIn("= Conv(", self.answer("inspect", self.out, "--text")["text"])
        self.out.unlink()
        self.refused(USAGE, "no node has this name; got 'Conv_map', expected", self.net, "--calibrate", self.pictures, "--keep", "Conv_map")

    def test_a_budget_counts_pictures_that_calibration_does_not_see(self):
        report = self.quantized("--drop", 100)
        self.assertEqual(report["holdout"]["pictures"], 2)
        self.assertEqual(report["kept"], [])
        self.out.unlink()
        for path in list(self.pictures.iterdir())[3:]:
            path.unlink()
        self.refused(USAGE, "got 3 pictures, expected at least 4", self.net, "--calibrate", self.pictures, "--drop", 1)

    def test_a_budget_that_cannot_be_met_tells_the_best(self):
        _, dims, values = weights("w2", 1, 8, 1, 1)
        hairs = random.Random(1)
        step = [value + hairs.gauss(0, 1e-5) for _ in range(CLASSES) for value in values]  # scores that no 8 bits tell apart
        same = self.path("same.onnx", network(last=("w2", [CLASSES, *dims[1:]], step)))
        message = self.refused(USAGE, "--drop", same, "--calibrate", self.pictures, "--drop", 0)
        self.assertRegex(message, r"cannot be met; got \d+ points \(\d of 2 pictures change their class\) with \d of 3 layers in floats")

    def test_dynamic_products_need_no_pictures(self):
        net = self.path("products.onnx", model([("x", ["N", 8])], [("MatMul", ["x", "w"], ["y"])], ["y"], weights=[weights("w", 8, 4)]))
        report = self.answer("quantize", net, "-o", self.out, "--activations", "dynamic")
        self.assertEqual(report["activations"], "dynamic")
        self.assertEqual(self.operators()["MatMulInteger"], 1)
        self.out.unlink()
        self.refused(USAGE, "try --calibrate", net, flags=())
        self.refused(BAD_FILE, "no product can have dynamic activations", self.net, "--activations", "dynamic", flags=())

    def test_pictures_that_cannot_be_read_are_counted(self):
        (self.pictures / "bad.png").write_bytes(png(SIDE, SIDE)[:60])
        (self.pictures / "notes.txt").write_text("no picture")
        done = mete("quantize", self.net, "--calibrate", self.pictures, "-o", self.out, *RAW)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("1 of 9 pictures cannot be read", done.stderr)
        self.assertIn("bad.png", done.stderr)
        for path in self.pictures.glob("?.png"):
            path.unlink()
        self.out.unlink()
        self.refused(BAD_FILE, "too few pictures can be read; got 0 of 1", self.net, "--calibrate", self.pictures)

    def test_folders_that_do_not_serve(self):
        empty = self.path("empty")
        empty.mkdir()
        self.refused(BAD_FILE, "no picture is there", self.net, "--calibrate", empty)
        self.refused(BAD_FILE, "none", self.net, "--calibrate", self.root / "none")
        self.fails(FAILURE, "cannot write", "quantize", self.net, "--calibrate", self.pictures, "-o", self.root / "no" / "out.onnx", *RAW)

    def test_links_to_themselves_are_no_pictures(self):
        (self.pictures / "loop.png").symlink_to("loop.png")
        report = self.quantized()
        self.assertEqual((report["pictures"], report["unreadable"]), (8, 0))

    def test_the_model_is_not_replaced(self):
        before = self.net.read_bytes()
        self.fails(USAGE, "would replace the model", "quantize", self.net, "--calibrate", self.pictures, "-o", self.net, *RAW)
        self.assertEqual(self.net.read_bytes(), before)

    def test_flags_without_effect_are_named(self):
        net = self.path("products.onnx", model([("x", ["N", 8])], [("MatMul", ["x", "w"], ["y"])], ["y"], weights=[weights("w", 8, 4)]))
        flags = ("--activations", "dynamic", "--method", "mse", "--no-bias-correction", "--calibrate", self.pictures)
        done = mete("quantize", net, "-o", self.out, *flags)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("these flags have no effect: --calibrate, --method, --no-bias-correction", done.stderr)

    def test_answers_that_are_no_floats_are_not_compared(self):
        nodes = [("Conv", ["data", "w1"], ["maps"], {"kernel_shape": [3, 3]}), ("GlobalAveragePool", ["maps"], ["pooled"]),
                 ("ArgMax", ["pooled"], ["place"])]
        net = self.path("place.onnx", model([("data", [1, 3, SIDE, SIDE])], nodes, ["place"], weights=[weights("w1", 8, 3, 3, 3)]))
        self.assertNotIn("answers_db", self.quantized(net=net))
        done = mete("quantize", net, "--calibrate", self.pictures, "-o", self.out, *RAW)
        self.assertIn("no answers in f32 to compare", done.stdout)
        self.out.unlink()
        self.refused(BAD_FILE, "no output has scores of classes", net, "--calibrate", self.pictures, "--drop", 1)

    def test_a_product_with_a_sum_behind_it_loads(self):
        nodes = [("Conv", ["data", "w1"], ["maps"], {"kernel_shape": [3, 3]}), ("GlobalAveragePool", ["maps"], ["pooled"]), ("Flatten", ["pooled"], ["flat"]),
                 ("MatMul", ["flat", "w2"], ["product"]), ("Add", ["product", "b"], ["scores"])]
        net = self.path("dense.onnx", model([("data", [1, 3, SIDE, SIDE])], nodes, ["scores"],
                                            weights=[weights("w1", 8, 3, 3, 3), weights("w2", 8, CLASSES), weights("b", CLASSES)]))
        self.quantized("--keep", "MatMul_product", net=net)
        self.assertEqual(self.classes(self.out), self.classes(net))
        self.assertEqual(self.operators()["Add"], 1)

    def test_models_that_do_not_serve(self):
        self.quantized()
        quantized = self.path("quantized.onnx", self.out.read_bytes())
        self.out.unlink()
        self.refused(BAD_FILE, "quantized already", quantized, "--calibrate", self.pictures)
        self.refused(USAGE, "nothing says how pictures become input 'data'", self.net, "--calibrate", self.pictures, flags=())
        zero = self.path("zero.onnx", network(scale=0))
        self.refused(BAD_FILE, "[Relu_positive and 1 other] all of its values are 0", zero, "--calibrate", self.pictures)
        infinite = self.path("infinite.onnx", network(scale=3e37))
        self.refused(BAD_FILE, "infinite or not numbers", infinite, "--calibrate", self.pictures)
        plain = self.path("plain.onnx", model([("data", [1, 3, SIDE, SIDE])], [("Relu", ["data"], ["mask"])], ["mask"]))
        self.refused(BAD_FILE, "nothing can be quantized", plain, "--calibrate", self.pictures)
        two = self.path("two.onnx", model([("a", [1, 8]), ("b", [1, 8])], [("Add", ["a", "b"], ["c"]), ("MatMul", ["c", "w"], ["y"])], ["y"],
                                          weights=[weights("w", 8, 4)]))
        self.refused(USAGE, "pictures fill one input; got a model with 2", two, "--calibrate", self.pictures)

    def test_the_same_pictures_give_the_same_file(self):
        self.quantized()
        first = self.out.read_bytes()
        self.quantized("--threads", 1)
        self.assertEqual(self.out.read_bytes(), first)


if __name__ == "__main__":
    cli_testing.main()
