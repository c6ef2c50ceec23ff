"""What a stranger meets first: pictures, preprocessing, batches, open dimensions, what is said beside the answers. Standard library only."""
import json
import pathlib
import struct

import cli_testing
from cli_testing import BAD_FILE, OK, USAGE, Cli, mete, npy, png
from onnx_files import channel_means, kInt64, mask, model

ORANGE = (200, 100, 50)


def flat(color):
    return lambda x, y: color


def exif(orientation):
    return b"II*\0" + struct.pack("<IHHHII", 8, 1, 0x0112, 3, 1, orientation) + bytes(4)


class FirstSteps(Cli):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.orange = cls.root / "orange.png"
        cls.orange.write_bytes(png(8, 8, flat(ORANGE)))

    def means(self, *args, dims=("N", 3, 8, 8)):
        """The means of each channel that the model saw, one list a picture."""
        net = self.path("means.onnx", channel_means(list(dims)))
        return [r["outputs"][0]["first"] for r in self.answer("run", net, *args)["results"]]

    def warns(self, text, *args):
        done = mete(*args)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("mete: warning: [", done.stderr)
        self.assertIn(text, done.stderr)
        self.assert_only_json(*args, kind="warning")

    def assert_only_json(self, *args, kind=None):
        done = mete(*args, "--json")
        self.assertEqual(done.returncode, OK, done.stderr)
        json.loads(done.stdout)
        told = [json.loads(line) for line in done.stderr.splitlines()]
        if kind:
            self.assertIn(kind, {k for t in told for k in t})
        return told


class Preprocessing(FirstSteps):
    def test_a_guess_about_pixels_is_told(self):
        net = self.path("net.onnx", channel_means([1, 3, 4, 4]))
        self.warns("nothing says how pictures become input 'image', so the answer may be wrong: pixels go in as RGB from 0 to 255, stretched to 4x4",
                   "run", net, self.orange)
        self.warns("try --preprocess raw, unit, imagenet-torch, mobilenet, caffe-bgr, clip, yolo", "run", net, self.orange)
        for known in (["--preprocess", "raw"], ["--mean", "0"], ["--std", "255"]):
            self.assertNotIn("warning", mete("run", net, self.orange, *known).stderr, known)
        self.warns("pixels go in as BGR from 0 to 255", "run", net, self.orange, "--channels", "bgr")  # says nothing about their values
        net.with_suffix(".toml").write_text("preprocess = 'unit'\n")
        self.assertNotIn("warning", mete("run", net, self.orange).stderr)
        net.with_suffix(".toml").write_text("top_k = 2\n")  # says nothing about pixels
        self.warns("nothing says how pictures become", "run", net, self.orange)

    def test_recipes(self):
        def near(got, want):
            for g, w in zip(got, want):
                self.assertAlmostEqual(g, w, places=4)
        near(self.means(self.orange, "--preprocess", "raw")[0], ORANGE)
        near(self.means(self.orange, "--preprocess", "unit")[0], [v / 255 for v in ORANGE])
        near(self.means(self.orange, "--preprocess", "mobilenet")[0], [(v - 127.5) / 127.5 for v in ORANGE])
        near(self.means(self.orange, "--preprocess", "caffe-bgr")[0], [50 - 104, 100 - 117, 200 - 123])
        near(self.means(self.orange, "--preprocess", "imagenet-torch")[0],
             [(v - m) / s for v, m, s in zip(ORANGE, (123.675, 116.28, 103.53), (58.395, 57.12, 57.375))])
        near(self.means(self.orange, "--preprocess", "unit", "--std", "100")[0], [v / 100 for v in ORANGE])  # a flag over the recipe
        toml = self.path("net.toml", b"std = 10\npreprocess = 'mobilenet'\n")
        near(self.means(self.orange, "--preprocess", toml)[0], [(v - 127.5) / 10 for v in ORANGE])

    def test_letterbox_keeps_the_aspect(self):
        wide = self.path("wide.png", png(8, 4, flat(ORANGE)))
        stretched, = self.means(wide, "--preprocess", "raw")
        boxed, = self.means(wide, "--preprocess", "raw", "--letterbox", "--pad", "0,10,20")
        self.assertEqual(stretched, list(ORANGE))
        self.assertEqual(boxed, [(v + p) / 2 for v, p in zip(ORANGE, (0, 10, 20))])

    def test_crop_fraction_cuts_the_centre(self):
        framed = self.path("framed.png", png(16, 16, lambda x, y: ORANGE if 4 <= x < 12 and 4 <= y < 12 else (0, 0, 0)))
        self.assertEqual(self.means(framed, "--preprocess", "raw", "--crop-fraction", "0.5")[0], list(ORANGE))

    def test_pictures_are_turned_as_their_exif_says_and_that_is_told(self):
        turned = self.path("turned.png", png(8, 8, lambda x, y: (255, 0, 0) if x < 4 else (0, 0, 0), exif(6)))
        net = self.path("net.onnx", mask([1, 3, 8, 8]))
        answer = self.answer("run", net, turned, "--preprocess", "raw")["results"][0]
        self.assertEqual(answer["turned"], "turned by 90 degrees to the right")
        self.assertEqual(answer["outputs"][0]["first"], [255] * 8)  # what was on the left is above now
        self.assertIn("turned by 90 degrees to the right, as its EXIF orientation says", mete("run", net, turned).stdout)

    def test_a_size_that_is_asked_for_counts(self):
        fixed = self.path("fixed.onnx", channel_means([1, 3, 8, 8]))
        self.fails(USAGE, "[--resize] input 'image' f32 1x3x8x8 takes pictures of another size; got 6x6, expected 8x8", "run", fixed, self.orange,
                   "--resize", "6")
        is_open = self.path("open.onnx", mask([1, 3, "H", "W"]))
        def shape(*flags):
            return self.answer("run", is_open, self.orange, "--preprocess", "raw", *flags)["results"][0]["outputs"][0]["shape"]
        self.assertEqual(shape("--resize", "20x10"), [1, 3, 10, 20])
        self.assertEqual(shape("--crop", "6"), [1, 3, 6, 6])
        self.assertEqual(shape(), [1, 3, 224, 224])
        told = mete("run", is_open, self.orange, "--preprocess", "raw").stderr
        self.assertIn("224x224 (assumed: the file leaves the size of 'image' open; --resize says another)", told)

    def test_how_pictures_get_their_size_is_told_as_it_is(self):
        net = self.path("net.onnx", channel_means([1, 3, 8, 8]))
        large = self.path("large.png", png(32, 32, flat(ORANGE)))
        def told(*flags):
            return " ".join(mete("run", net, large, *flags).stderr.split())
        self.assertIn("from 0 to 255, cropped to 8x8 (the size of 'image')", told("--resize-shorter", "16", "--crop", "8"))
        self.assertIn("pictures are cropped to 16x4, then stretched to 8x8", told("--preprocess", "raw", "--crop", "16x4"))
        self.assertEqual(told("--preprocess", "raw", "--crop", "8"), "")
        opened = self.path("open.onnx", mask([1, 3, "H", "W"]))
        self.assertNotIn("assumed", mete("run", opened, large, "--preprocess", "raw", "--resize", "20x10").stderr)

    def test_switches_can_be_switched_off(self):
        wide = self.path("wide.png", png(8, 4, flat(ORANGE)))
        boxed, stretched = (self.means(wide, "--preprocess", "yolo", *flags)[0] for flags in ([], ["--letterbox=false"]))
        self.assertNotEqual(boxed, stretched)
        for got, want in zip(stretched, ORANGE):
            self.assertAlmostEqual(got, want / 255, places=4)

    def test_what_stands_behind_a_flag_is_its_value_alone(self):
        net = self.path("net.onnx", channel_means(["N", 3, 8, 8]))
        for flags in (["--shape", "N=1"], ["--cores", "0"], ["--disable-pass", "layout"]):
            for words in ([net, *flags, self.orange], [*flags, net, self.orange], [net, self.orange, *flags]):
                self.assertEqual(len(self.answer("run", *words)["results"]), 1, words)

    def test_what_pictures_cannot_be_is_told_by_name(self):
        net = self.path("net.onnx", channel_means([1, 3, 8, 8]))
        for name, content in {"WebP": b"RIFF\x24\0\0\0WEBPVP8 ", "HEIC": b"\0\0\0\x18ftypheic", "GIF": b"GIF89a"}.items():
            self.fails(BAD_FILE, f"got {name}, expected JPEG, PNG, BMP, PGM or PPM; try a copy as PNG", "run", net, self.path("p.jpg", content))

    def test_help_has_all_keys_and_recipes(self):
        text = " ".join((mete("help", "preprocess").stdout + mete("help", "heads").stdout).split())
        page = mete("--man").stdout
        run = mete("run", "--help").stdout
        document = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "preprocess.md").read_text()
        keys = [line.split("`")[1] for line in document.splitlines() if line.startswith("| `")]
        self.assertGreater(len(keys), 20)
        for key in keys:
            self.assertIn(f" {key} ", text, key)
            self.assertIn(key.replace("-", "\\-"), page, key)
        for key in document.split("## Recipes")[0].split("| `")[1:]:
            self.assertIn("--" + key.split("`")[0].replace("_", "-"), run)
        for line in document.splitlines():  # the same words everywhere
            if line.startswith("| `"):
                self.assertIn(line.split(" | ")[-1].rstrip(" |").replace("`", ""), text)


class Batches(FirstSteps):
    def test_as_many_as_are_asked_for(self):
        colors = [(v, 0, 0) for v in (10, 20, 30, 40, 50)]
        pictures = [self.path(f"{i}.png", png(8, 8, flat(c))) for i, c in enumerate(colors)]
        for flags in ([], ["--batch", "2"], ["--batch", "5"], ["--batch", "9"]):  # the last batch may be smaller
            self.assertEqual([m[0] for m in self.means(*pictures, "--preprocess", "raw", *flags)], [10, 20, 30, 40, 50], flags)

    def test_as_many_as_the_model_takes(self):
        pair = self.path("pair.png", png(8, 8, flat((9, 9, 9))))
        got = self.means(self.orange, pair, self.orange, pair, "--preprocess", "raw", dims=(2, 3, 8, 8))
        self.assertEqual(got, [list(ORANGE), [9, 9, 9]] * 2)
        net = self.path("two.onnx", channel_means([2, 3, 8, 8]))
        self.fails(USAGE, "input 'image' f32 2x3x8x8 takes 2 pictures at once; got 3, expected a multiple of 2", "run", net, *[self.orange] * 3)
        self.fails(USAGE, "[--batch] input 'image' f32 2x3x8x8 has another batch; got 4, expected 2", "run", net, *[self.orange] * 4, "--batch", "4")

    def test_each_picture_has_its_outputs_on_disk(self):
        net, folder = self.path("net.onnx", channel_means(["N", 3, 8, 8])), self.path("out")
        self.answer("run", net, self.orange, self.picture, "--batch", 2, "--preprocess", "raw", "--output", folder)
        self.assertEqual(sorted(f.name for f in folder.iterdir()), ["orange.scores.npy", "picture.scores.npy"])


class Answers(FirstSteps):
    def test_only_scores_are_ranked(self):
        net = self.path("mask.onnx", mask([1, 3, 8, 8]))
        answer = self.answer("run", net, self.orange, "--preprocess", "raw")["results"][0]
        self.assertNotIn("top", answer)
        output = answer["outputs"][0]
        self.assertEqual((output["least"], output["most"]), (50, 200))
        self.assertAlmostEqual(output["mean"], sum(ORANGE) / 3)
        text = mete("run", net, self.orange, "--preprocess", "raw").stdout
        self.assertRegex(text, r"output +type +shape +least +most +mean\nmask +f32 +1x3x8x8 +50 +200 +116\.667")
        self.assertNotIn("class", text)
        self.fails(USAGE, "[--classify] output 'mask' cannot be scores of classes; got 1x3x8x8, expected 1xN or 1xNx1x1", "run", net, self.orange,
                   "--classify", "mask")
        pooled = self.path("pooled.onnx", model([("image", [1, 3, 8, 8])], [("GlobalAveragePool", ["image"], ["scores"])], ["scores"]))
        self.assertEqual(self.answer("run", pooled, self.orange)["results"][0]["top"][0]["class"], 0)  # 1x3x1x1

    def test_rows_of_tensors_are_ranked_one_by_one_where_that_is_asked_for(self):
        net = self.path("net.onnx", channel_means(["N", 3, 8, 8]))
        rows = b"".join(struct.pack("<f", v) * 64 for v in (1, 9, 2, 8, 1, 1, 0, 0, 5))  # of 3 inputs the means of 3 channels
        array, labels = self.path("rows.npy", npy("<f4", (3, 3, 8, 8), rows)), self.path("labels.txt", b"a\nb\nc\n")
        def best(*flags):
            return [r.get("top", [{}])[0].get("label") for r in self.answer("run", net, "--input", array, *flags)["results"]]
        self.assertEqual(best("--labels", labels), ["b", "a", "c"])
        self.assertEqual(best("--top-k", "1", "--labels", labels), ["b", "a", "c"])
        self.assertEqual(best(), [None])
        self.assertRegex(mete("run", net, "--input", array, "--softmax").stdout, r"row 2 of 3\nclass +score\n +2 ")
        folder = self.path("out")
        self.answer("run", net, "--input", array, "--classify", "scores", "--output", folder)
        self.assertEqual([f.name for f in folder.iterdir()], ["scores.npy"])
        self.assertIn("so nothing is ranked", mete("run", self.path("mask.onnx", mask([1, 3, 8, 8])), self.orange, "--labels", labels).stderr)

    def test_random_weights_are_told_whenever_they_answer(self):
        self.warns("its weights are random, as 'mete zoo' made them", "run", self.net, self.picture, "--preprocess", "unit")
        self.warns("its weights are random", "run", self.net, "--input", self.tensor)
        self.assertNotIn("random", mete("inspect", self.net).stderr)
        for command in ([], ["run"], ["bench"], ["inspect"]):
            example = mete(*command, "--help").stdout.split("Examples:")[1]
            self.assertNotRegex(example, r"zoo make.*\n.*mete run")

    def test_labels_that_do_not_fit_are_told(self):
        net = self.path("net.onnx", channel_means([1, 3, 8, 8]))
        for count, told in ((2, "2 names for 3 classes of output 'scores', so classes beyond them have no name"),
                            (4, "4 names for 3 classes of output 'scores', so names may belong to other classes")):
            labels = self.path("labels.txt", b"name\n" * count)
            self.warns(f"[{labels}] {told}", "run", net, self.orange, "--labels", labels, "--preprocess", "raw")
        labels = self.path("labels.txt", b"name\n" * 3)
        self.assertEqual(mete("run", net, self.orange, "--labels", labels, "--preprocess", "raw").stderr, "")

    def test_json_leaves_only_json(self):
        net = self.path("net.onnx", channel_means(["N", 3, "H", "W"]))
        self.assert_only_json("bench", net, "--runs", 1, "--warmup", 0, kind="note")
        self.assert_only_json("plan", net, kind="note")
        self.assert_only_json("inspect", net, "--explain", kind="note")
        self.assert_only_json("run", net, self.orange, kind="warning")


class OpenDimensions(FirstSteps):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.open = cls.root / "open.onnx"
        cls.open.write_bytes(model([("tokens", ["N", "T"]), ("mask", ["N", "T"])], [("Add", ["tokens", "mask"], ["sum"])], ["sum"]))
        cls.one = cls.root / "one.onnx"
        cls.one.write_bytes(model([("tokens", ["N", "T"], kInt64)], [("Cast", ["tokens"], ["out"], {"to": 1})], ["out"]))

    def array(self, *shape, kind="<f4"):
        count = 1
        for d in shape:
            count *= d
        return self.path(f"{'x'.join(map(str, shape))}.npy", npy(kind, shape, bytes(count * int(kind[-1]))))

    def shape_of(self, *args):
        return self.answer("run", *args)["results"][0]["outputs"][0]["shape"]

    def test_they_follow_from_the_inputs(self):
        self.assertEqual(self.shape_of(self.one, "--input", f"tokens={self.array(1, 5, kind='<i8')}"), [1, 5])
        self.assertEqual(self.shape_of(self.one, "--input", self.array(2, 7, kind="<i8")), [2, 7])
        both = [w for name in ("tokens", "mask") for w in ("--input", f"{name}={self.array(1, 5)}")]
        self.assertEqual(self.shape_of(self.open, *both), [1, 5])
        answer = self.answer("bench", self.open, "--input", f"tokens={self.array(3, 5)}", "--runs", 1, "--warmup", 0)
        self.assertEqual(answer["batch"], 3)
        self.assertEqual(answer["notes"], [])

    def test_they_are_given_by_name(self):
        def declared(*flags):
            return [i["shape"] for i in self.answer("inspect", self.open, *flags)["inputs"]]
        self.assertEqual(declared("--shape", "T=5"), [[1, 5], [1, 5]])
        self.assertEqual(declared("--shape", "T=5", "--shape", "N=2"), [[2, 5], [2, 5]])
        self.assertEqual(declared("--shape", "tokens=4x6"), [[4, 6], [4, 6]])
        self.assertEqual(self.answer("inspect", self.one, "--shape", "3x9")["inputs"][0]["shape"], [3, 9])

    def test_inspect_names_them(self):
        ids = self.answer("inspect", self.one)["inputs"][0]
        self.assertEqual((ids["declared"], ids["dims"]), ([-1, -1], ["N", "T"]))
        self.assertIn("in the file NxT", mete("inspect", self.one).stdout)

    def test_the_advice_names_the_flag_where_it_helps(self):
        self.assertIn("input 'tokens' is NxT in the file: 1x16 is assumed; try --shape N=..., --shape T=..., or --shape tokens=...",
                      mete("inspect", self.one).stderr)
        fixed = self.path("fixed.onnx", mask([1, 3, 8, 8]))
        message = self.fails(BAD_FILE, "wrong input shape for 'image'; got 1x3x9x9, expected 1x3x8x8", "run", fixed, "--input", self.array(1, 3, 9, 9))
        self.assertNotIn("--shape", message)
        message = self.fails(BAD_FILE, "as --shape or another input's tensor has it", "run", self.open, "--input", f"tokens={self.array(1, 5)}",
                             "--input", f"mask={self.array(1, 6)}")


class Throughput(FirstSteps):
    def test_streams_and_batches(self):
        net = self.path("net.onnx", channel_means(["N", 3, 8, 8]))
        def bench(*flags):
            return self.answer("bench", net, "--runs", 12, "--warmup", 1, *flags)
        plain = bench()
        self.assertEqual((plain["streams"], plain["batch"], plain["runs"]), (1, 1, 12))
        self.assertAlmostEqual(plain["items_per_s"], plain["runs_per_s"])
        batch = bench("--batch", 4)
        self.assertAlmostEqual(batch["items_per_s"], 4 * batch["runs_per_s"])
        streams = bench("--streams", 3)
        self.assertEqual((streams["streams"], streams["threads"], streams["runs"]), (3, 1, 12))
        self.assertGreater(streams["runs_per_s"], 0)
        text = mete("bench", net, "--runs", 4, "--warmup", 0, "--streams", 2, "--batch", 2).stdout
        self.assertRegex(text, r"throughput +[\d.e+]+ a second, 2 in each run, 2 runs at a time on 1 thread each")
        self.fails(USAGE, "[--batch] the file fixes the first dimension of every input; got 4", "bench", self.net, "--batch", 4)
        self.fails(USAGE, "[--streams] needs a core for each stream", "bench", net, "--streams", 2, "--cores", "0")

    def test_slow_reference_kernels_are_told(self):
        slow = self.path("slow.onnx", model([("x", [64, 4096])], [("Hardmax", ["x"], ["y"])], ["y"]))
        answer = self.answer("bench", slow, "--runs", 2, "--warmup", 0)
        self.assertGreater(answer["reference_share"], 0.1)
        told = mete("bench", slow, "--runs", 2, "--warmup", 0).stderr
        self.assertRegex(told, r"reference kernels, which are slow, take \d+ % of a run: Hardmax \d+ %; --explain says why")
        self.assertNotIn("reference kernels", mete("bench", self.net, "--runs", 2, "--warmup", 0).stderr)


class Caches(FirstSteps):
    def test_a_cache_that_cannot_be_written_is_told(self):
        file = self.path("file", b"")
        done = mete("bench", self.net, "--runs", 1, "--warmup", 0, env={"METE_CACHE": str(file / "cache")})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("cannot be written, so the next start measures the kernels again; try another folder in METE_CACHE", done.stderr)


if __name__ == "__main__":
    cli_testing.main()
