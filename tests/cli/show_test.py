"""Runs `mete run --show`, `--head`, `--chat` and `--prompt` as their users do. Standard library only."""
import json
import os
import pathlib
import struct
import subprocess
import unittest
import zlib

import cli_testing
from cli_testing import BAD_FILE, FAILURE, OK, USAGE, mete, npy, png
from onnx_files import kInt64, model

SHARED = pathlib.Path(os.environ.get("METE_SHARED", "../shared")).resolve()


def pixels(file):
    """Width, height and the rows of an RGB PNG whose rows have any filter but the Paeth's. libpng's choice is free."""
    data, at, body = file.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", data[at + 8:at + 16])
        if kind == b"IDAT":
            body += data[at + 8:at + 8 + size]
        at += 12 + size
    raw, rows, above = zlib.decompress(body), [], bytes(width * 3)
    for y in range(height):
        begin = y * (width * 3 + 1)
        row = bytearray(raw[begin + 1:begin + 1 + width * 3])
        for i in range(len(row)):
            left, up, corner = (row[i - 3] if i > 2 else 0), above[i], (above[i - 3] if i > 2 else 0)
            nearest = min((abs(left + up - corner - v), n) for n, v in enumerate((left, up, corner)))[1]
            row[i] = (row[i] + (0, left, up, (left + up) // 2, (left, up, corner)[nearest])[raw[begin]]) % 256
        above = bytes(row)
        rows.append(above)
    return width, height, rows


def detector():
    """Two boxes in the form of ssd-rows, whatever the picture is: its mean times zero is added."""
    rows = [0, 1, 0.9, 0.25, 0.25, 0.75, 0.5, 0, 2, 0.3, 0, 0, 1, 1]
    nodes = [("GlobalAveragePool", ["image"], ["mean"]), ("Mul", ["mean", "zero"], ["nothing"]), ("Add", ["nothing", "rows"], ["found"])]
    return model([("image", [1, 1, 16, 16])], nodes, ["found"], weights=[("zero", [1, 1, 1, 1], [0.0]), ("rows", [1, 1, 2, 7], rows)])


def faces():
    """RetinaFace's outputs for 16x16 pixels, which have 2x2, 1x1 and 1x1 cells with two prior boxes each: the second cell has a face of 16 pixels."""
    count, face = 12, 2
    outputs = {"loc": [0.0] * (count * 4), "conf": [0.0] * (count * 2), "landms": [0.0] * (count * 10)}
    outputs["conf"][face * 2 + 1] = 0.75
    outputs["landms"][face * 10:face * 10 + 10] = [-2.5, -2.5, 2.5, -2.5, 0, 0, -2.5, 2.5, 2.5, 2.5]  # tenths of the prior box
    nodes = [("ReduceMean", ["image"], ["mean"], {"axes": [1, 2], "keepdims": 0}), ("ReduceMean", ["mean"], ["number"], {"axes": [1], "keepdims": 0}),
             ("Mul", ["number", "zero"], ["nothing"])]
    nodes += [("Add", ["nothing", f"{name}_values"], [name]) for name in outputs]
    weights = [("zero", [1], [0.0])] + [(f"{name}_values", [1, count, len(values) // count], values) for name, values in outputs.items()]
    return model([("image", [1, 3, 16, 16])], nodes, list(outputs), weights=weights)


def same_picture():
    return model([("image", [1, 3, 16, 16])], [("Relu", ["image"], ["again"])], ["again"])


def counter(pieces):
    """A decoder whose next token is the number of all tokens that it has seen, by its cache: of logits 2vs - v^2 the s-th is the highest."""
    nodes = [("Gather", ["ones", "tokens"], ["new"]), ("Concat", ["past.0", "new"], ["present.0"], {"axis": 1}),
             ("ReduceSum", ["present.0"], ["seen"], {"keepdims": 1}), ("Mul", ["seen", "double"], ["rising"]), ("Sub", ["rising", "square"], ["logits"])]
    weights = [("ones", [pieces, 1], [1.0] * pieces), ("double", [1, 1, pieces], [2.0 * v for v in range(pieces)]),
               ("square", [1, 1, pieces], [float(v * v) for v in range(pieces)])]
    return model([("tokens", [1, "T"], kInt64), ("past.0", [1, "P", 1])], nodes, ["logits", "present.0"], weights=weights)


def tokenizer(*texts):
    pieces = ["<unk>", "\n<s>\n", "\n</s>\n", *texts]
    return bytes(4) + b"".join(struct.pack("<fi", 0, len(p.encode())) + p.encode() for p in pieces)


def tokenizer_json(*texts):
    """The same in Hugging Face's form, without merges."""
    added = [{"id": i, "content": text, "normalized": False, "special": True} for i, text in enumerate(("<unk>", "<s>", "</s>"))]
    vocabulary = {text.replace(" ", "\u2581"): i for i, text in enumerate(["<unk>", "<s>", "</s>", *texts])}
    return {"added_tokens": added, "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False},
            "post_processor": {"type": "BertProcessing", "cls": ["<s>", 1], "sep": ["</s>", 2]},
            "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first"}}


class Show(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.root / "boxes.onnx").write_bytes(detector())
        (cls.root / "boxes.toml").write_text('head = "ssd-rows"\nstd = 255\nlabels = "names.txt"\n')
        (cls.root / "names.txt").write_text("nothing\nring\nframe\n")
        (cls.root / "same.onnx").write_bytes(same_picture())
        (cls.root / "picture.png").write_bytes(png(64, 32))

    fails = cli_testing.Cli.fails
    answer = cli_testing.Cli.answer

    def test_boxes_are_values_and_a_picture(self):
        out = self.root / "drawn.png"
        result = self.answer("run", self.root / "boxes.onnx", self.root / "picture.png", "--show", "boxes", "--out", out)["results"][0]
        self.assertEqual(len(result["boxes"]), 1)
        box = result["boxes"][0]
        self.assertEqual((box["box"], box["class"], box["label"]), ([16, 8, 48, 16], 1, "ring"))
        self.assertEqual(result["shown"], str(out))
        width, height, rows = pixels(out)
        self.assertEqual((width, height), (64, 32))
        before = pixels(self.root / "picture.png")[2]
        self.assertEqual(rows[31], before[31])
        self.assertNotEqual(rows[15][16 * 3:48 * 3], before[15][16 * 3:48 * 3])

    def test_faces_have_points(self):
        net, picture, out = self.root / "faces.onnx", self.root / "picture.png", self.root / "faces.png"
        net.write_bytes(faces())
        words = ("run", net, picture, "--std", 255, "--head", "retinaface")
        box, = self.answer(*words, "--show", "boxes", "--out", out)["results"][0]["boxes"]
        # The cell's centre, (12, 4) of 16x16 pixels, is (48, 8) of 64x32; points are 4 pixels of the input from it.
        self.assertEqual((box["box"], box["score"]), ([16, 0, 64, 24], 0.75))
        self.assertEqual(box["points"], [[32, 0], [64, 0], [48, 8], [32, 16], [64, 16]])
        self.assertNotEqual(pixels(out)[2][8][48 * 3:49 * 3], pixels(picture)[2][8][48 * 3:49 * 3])
        self.assertIn("32.0,0.0 64.0,0.0 48.0,8.0 32.0,16.0 64.0,16.0", mete(*words).stdout)

    def test_boxes_without_a_picture(self):
        done = mete("run", self.root / "boxes.onnx", self.root / "picture.png", "--least-score", 0.2)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("ring", done.stdout)
        self.assertIn("frame", done.stdout)
        self.assertNotIn("shown in", done.stdout)

    def test_persons_have_joints(self):
        # One column of YOLO's poses: a box of 8x4 of 16x16 pixels, and three joints, of which the last one is not seen.
        net, picture, out = self.root / "person.onnx", self.root / "picture.png", self.root / "person.png"
        column = [8, 8, 8, 4, 0.75, 4, 8, 0.9, 12, 8, 0.5, 8, 10, 0.25]
        nodes = [("ReduceMean", ["image"], ["mean"], {"axes": [1, 2], "keepdims": 0}), ("ReduceMean", ["mean"], ["number"], {"axes": [1], "keepdims": 0}),
                 ("Mul", ["number", "zero"], ["nothing"]), ("Add", ["nothing", "column"], ["output0"])]
        net.write_bytes(model([("image", [1, 3, 16, 16])], nodes, ["output0"], weights=[("zero", [1], [0.0]), ("column", [1, 14, 1], column)]))
        words = ("run", net, picture, "--std", 255, "--head", "yolo-pose")
        person, = self.answer(*words, "--show", "boxes", "--out", out)["results"][0]["boxes"]
        self.assertEqual((person["box"], person["score"]), ([16, 12, 48, 20], 0.75))
        self.assertEqual((person["points"], [round(s, 2) for s in person["point_scores"]]), ([[16, 16], [48, 16], [32, 20]], [0.9, 0.5, 0.25]))
        self.assertIn("16.0,16.0 48.0,16.0 -\n", mete(*words).stdout)
        self.fails(BAD_FILE, "there is no class 1", *words, "--classes", "1,2")  # all are persons
        self.fails(BAD_FILE, "[head yolo-v8] the scores are of 10 classes, but 3 have names", "run", net, picture, "--std", 255, "--head", "yolo-v8",
                   "--labels", self.root / "names.txt")

    def test_channels_may_come_last(self):
        net, out, small = self.root / "last.onnx", self.root / "last.png", self.root / "last_small.png"
        small.write_bytes(png(16, 16))
        net.write_bytes(model([("image", [1, 16, 16, 3])], [("Relu", ["image"], ["again"])], ["again"]))
        words = ("run", net, small, "--preprocess", "unit", "--head", "picture", "--show", "picture", "--out", out)
        self.answer(*words, "--output-layout", "nhwc")
        self.assertEqual(pixels(out), pixels(small))
        self.fails(BAD_FILE, "the output is no picture; got 'again' 1x16x16x3, expected 1x1xHxW or 1x3xHxW", *words)
        self.fails(BAD_FILE, "[head ssd-rows] no outputs of it are planes", "run", self.root / "boxes.onnx", self.root / "picture.png",
                   "--output-layout", "nhwc")

    def test_a_picture_that_is_the_input(self):
        out = self.root / "same.png"
        small = self.root / "small.png"
        small.write_bytes(png(16, 16))
        self.answer("run", self.root / "same.onnx", small, "--preprocess", "unit", "--head", "picture", "--show", "picture", "--out", out)
        self.assertEqual(pixels(out), pixels(small))

    def test_a_default_name_in_this_folder(self):
        folder = self.root / "here"
        folder.mkdir()
        command = [cli_testing.METE, "run", self.root / "boxes.onnx", self.root / "picture.png", "--show", "boxes"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=cli_testing.LONG_S)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual([f.name for f in folder.iterdir()], ["picture.boxes.png"])

    def test_mistakes(self):
        boxes, same, picture = (self.root / name for name in ("boxes.onnx", "same.onnx", "picture.png"))
        self.fails(USAGE, "try --head", "run", same, picture, "--show", "boxes")
        self.fails(USAGE, "try --show boxes", "run", boxes, picture, "--show", "mask")
        self.fails(USAGE, "try ultraface", "run", same, picture, "--head", "ultrafaces")
        self.fails(BAD_FILE, "no output can be the boxes; got 'again' 1x3x16x16", "run", same, picture, "--preprocess", "unit", "--head", "corners")
        self.fails(USAGE, "--show", "run", boxes, picture, "--out", "x.png")
        self.fails(USAGE, "one file", "run", boxes, picture, picture, "--show", "boxes", "--out", "x.png")
        self.fails(USAGE, "twice", "run", boxes, picture, picture, "--show", "boxes")
        self.fails(USAGE, "got none", "run", boxes, "--show", "boxes")
        self.fails(FAILURE, "cannot write", "run", boxes, picture, "--show", "boxes", "--out", self.root / "no" / "x.png")
        self.fails(USAGE, "from 0 to 1", "run", boxes, picture, "--least-score", "2")

    def test_help_has_all_heads(self):
        text = mete("help", "heads").stdout
        for head in ("ultraface", "fastestdet", "yolo-v8", "yolo-end-to-end", "tf-ssd", "yolo-v3", "yolo-v4", "yolo-pose", "movenet", "posenet", "nanodet", "rt-detr", "detr", "classes", "picture", "heat-maps"):
            self.assertIn(head, text)

    def test_scores_of_bytes_are_numbers(self):
        net = SHARED / "models/mobilenet_v1_0.25_128_quant.tflite"
        if not net.exists():
            self.skipTest(f"{net} is missing: the trained models are not in the repository")
        folder = self.root / "bytes"
        top = self.answer("run", net, self.root / "picture.png", "--top-k", 2, "--output", folder)["results"][0]["top"]
        file = next(folder.iterdir())
        values = file.read_bytes()[-1001:]  # of u8, whose scale in this file is 1/256
        for found in top:
            self.assertEqual(round(found["score"] * 256, 3), values[found["class"]])
        self.assertLessEqual(top[1]["score"], top[0]["score"])

    def test_faces_and_cats_of_real_models(self):
        if not (SHARED / "models").exists():
            self.skipTest(f"{SHARED}/models is missing: the trained models are not in the repository")
        models, samples = SHARED / "models", SHARED / "images/samples"
        for form in ("onnx", "prototxt"):
            faces = self.answer("run", models / f"ultraface_rfb320.{form}", samples / "grace_hopper.bmp", "--mean", 127, "--std", 128, "--head", "ultraface")
            found = faces["results"][0]["boxes"]
            self.assertEqual(len(found), 1, found)
            self.assertGreater(found[0]["score"], 0.9)
        code = self.answer("run", models / "ssd/wechat_qr_detect.prototxt", samples / "qr_640x480.png", "--std", 255, "--head", "ssd-rows")
        self.assertEqual([round(box["score"], 2) for box in code["results"][0]["boxes"]], [1])
        cat = self.answer("run", models / "fastestdet.onnx", samples / "cat.bmp", "--std", 255, "--channels", "bgr", "--head", "fastestdet",
                          "--least-score", 0.65)  # its author's
        self.assertEqual([box["class"] for box in cat["results"][0]["boxes"]], [15])  # COCO's cat
        for side, want in zip(cat["results"][0]["boxes"][0]["box"], (47, 46, 379, 341)):  # by eye, the cat
            self.assertAlmostEqual(side, want, delta=5)


class Text(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        letters = [" ", *"abcdefghij", "\x1b", "\x9b", "<0xC2>", "<0x9B>"]  # the last two are U+009B, byte by byte
        cls.pieces = 3 + len(letters)
        (cls.root / "net.onnx").write_bytes(counter(cls.pieces))
        (cls.root / "words.bin").write_bytes(tokenizer(*letters))
        (cls.root / "words.json").write_text(json.dumps(tokenizer_json(*letters)))

    fails = cli_testing.Cli.fails
    answer = cli_testing.Cli.answer

    def run_text(self, *args, stdin=None):
        done = mete("run", self.root / "net.onnx", "--tokenizer", self.root / "words.bin", *args, stdin=stdin)
        self.assertEqual(done.returncode, OK, done.stderr)
        return done.stdout

    def test_a_prompt_goes_on(self):
        # <s>, the space and "ab" are 4 tokens, so the next ones are 4, 5, 6, ...: "a", "b", "c"
        told = json.loads(self.run_text("--prompt", "ab", "--most-tokens", 3, "--json"))
        self.assertEqual((told["text"], told["tokens"]), ("abc", [4, 5, 6]))
        self.assertGreater(told["tokens_per_s"], 0)
        text = self.run_text("--prompt", "ab", "--most-tokens", 3)
        self.assertTrue(text.startswith("ababc\n3 tokens, "), text)
        self.assertIn("the first after", text)

    def test_a_tokenizer_of_hugging_face(self):
        # <s>, the space, "ab" and </s> are 5 tokens
        told = self.answer("run", self.root / "net.onnx", "--prompt", "ab", "--tokenizer", self.root / "words.json", "--most-tokens", 3)
        self.assertEqual((told["text"], told["tokens"]), ("bcd", [5, 6, 7]))
        other = self.root / "other.json"
        other.write_text(json.dumps({**tokenizer_json("a"), "normalizer": {"type": "NFX"}, "decoder": {"type": "CTC"}}))
        error = mete("run", self.root / "net.onnx", "--prompt", "a", "--tokenizer", other)
        self.assertEqual(error.returncode, BAD_FILE, error.stderr)
        for part in ("normalizer] a part of a kind that is not understood; got 'NFX'", "decoder] a part of a kind that is not understood; got 'CTC'"):
            self.assertIn(part, error.stderr)

    def test_choices_of_tokens_need_a_text(self):
        for flag in ("--temperature", "--top-p", "--seed", "--most-tokens", "--end"):
            error = mete("run", self.root / "net.onnx", flag, 1)
            self.assertEqual(error.returncode, USAGE, error.stderr)
            self.assertIn(f"[{flag}] there is no text to continue; got neither --chat nor --prompt", error.stderr)

    def test_outputs_are_text(self):
        # Logits of two positions: the likeliest are 4 and 5, "a" and "b".
        pieces, ids, net = self.pieces, self.root / "ids.npy", self.root / "logits.onnx"
        rows = [float(v == 4) * 9 for v in range(pieces)] + [{5: 2.0, 6: 1.0}.get(v, -50.0) for v in range(pieces)]
        nodes = [("Gather", ["table", "ids"], ["logits"])]
        net.write_bytes(model([("ids", [1, "T"], kInt64)], nodes, ["logits"], weights=[("table", [2, pieces], rows)]))
        ids.write_bytes(npy("<i8", [1, 2], struct.pack("<2q", 0, 1)))
        words = ("run", net, "--input", f"ids={ids}", "--show", "tokens", "--tokenizer")
        for name in ("words.bin", "words.json"):
            said = self.answer(*words, self.root / name, "--top-k", 2)["results"][0]
            self.assertEqual((said["tokens"], said["text"]), ([4, 5], "ab"))
            self.assertEqual([(t["token"], t["text"], round(t["probability"], 3)) for t in said["last"]], [(5, "b", 0.731), (6, "c", 0.269)])
        text = mete(*words, self.root / "words.json").stdout
        self.assertIn("2 tokens: ab\n", text)
        self.assertIn('"b"', text)
        (self.root / "logits.toml").write_text('tokenizer = "words.json"\n')  # beside the model
        self.assertEqual(self.answer(*words[:-1])["results"][0]["text"], "ab")
        # Tokens themselves.
        same = self.root / "same.onnx"
        same.write_bytes(model([("ids", [1, "T"], kInt64)], [("Identity", ["ids"], ["out"])], ["out"]))
        ids.write_bytes(npy("<i8", [1, 4], struct.pack("<4q", 1, 4, 5, 99)))
        said = self.answer("run", same, *words[2:], self.root / "words.json")["results"][0]
        self.assertEqual((said["tokens"], said["text"]), ([1, 4, 5, 99], "ab"))
        self.assertNotIn("last", said)
        self.fails(USAGE, "got none, expected a file", "run", same, *words[2:-1])
        self.fails(USAGE, "which prints", "run", same, *words[2:], self.root / "words.bin", "--out", "x.png")
        self.fails(BAD_FILE, "not a tokenizer", "run", same, *words[2:], ids)
        scores = self.root / "scores.onnx"
        scores.write_bytes(model([("ids", [1, 2])], [("Relu", ["ids"], ["out"])], ["out"]))
        ids.write_bytes(npy("<f4", [1, 2], struct.pack("<2f", 0, 1)))
        self.fails(BAD_FILE, "no output can be the tokens; got 'out' 1x2", "run", scores, *words[2:], self.root / "words.bin")

    def test_an_empty_prompt_begins_a_text(self):
        self.assertEqual(json.loads(self.run_text("--prompt", "", "--most-tokens", 3, "--json"))["tokens"], [])  # 1 ends a text

    def test_control_characters_do_not_reach_a_terminal(self):
        text = self.run_text("--prompt", "a" * 8, "--most-tokens", 8)
        self.assertIn("hij???", text)
        for control in "\x1b\x9b":
            self.assertNotIn(control, text)
        told = self.run_text("--prompt", "a" * 8, "--most-tokens", 8, "--json")
        self.assertIn("hij\\u001b\\u009b\\u009b", told)

    def test_lines_of_a_chat_see_each_other(self):
        told = self.run_text("--chat", "--most-tokens", 2, "--json", stdin="a\nb\n")
        decoder, at, answers = json.JSONDecoder(), 0, []
        while at < len(told.rstrip()):
            value, at = decoder.raw_decode(told, at)
            answers.append(value)
            while at < len(told) and told[at].isspace():
                at += 1
        self.assertEqual([a["tokens"] for a in answers], [[3, 4], [6, 7]])

    def test_a_chat_has_the_form_of_its_model(self):
        # Each of these pieces is one token; the model's n-th token is the piece with the number n.
        pieces = ["<unk>", "<|im_start|>", "\n", *"abcdeimnrstuy", *"GHIJKL", "<|im_end|>", *(chr(0x100 + i) for i in range(60))]

        def write_tokenizer():
            special = [{"id": i, "content": text, "special": True} for i, text in enumerate(pieces) if text.startswith("<")]
            vocabulary = {text: i for i, text in enumerate(pieces)}
            (self.root / "chat.json").write_text(json.dumps({"added_tokens": special, "model": {"type": "BPE", "vocab": vocabulary, "merges": []}, "decoder": {"type": "Fuse"}}))

        write_tokenizer()
        (self.root / "chat.onnx").write_bytes(counter(len(pieces)))
        chat = ("run", self.root / "chat.onnx", "--tokenizer", self.root / "chat.json", "--json")

        def answers(*args, stdin):
            done = mete(*chat, "--chat", *args, stdin=stdin)
            self.assertEqual(done.returncode, OK, done.stderr)
            return [json.loads(part)["tokens"] for part in done.stdout.replace("}\n{", "}\0{").split("\0")]

        # "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n" are 20 tokens; 20 and 21 are "J" and "K", behind which 22 ("L") and the end follow.
        end = pieces.index("<|im_end|>")
        self.assertEqual(end, 22)
        # The next turn has 22 more, the end of the answer before it among them.
        self.assertEqual(answers("--template", "chatml", "--most-tokens", 4, stdin="a\nb\n"), [[20, 21], [44, 45, 46, 47]])
        # An answer of one token has not ended: the next turn begins with that token and an end.
        self.assertEqual(answers("--template", "chatml", "--most-tokens", 1, stdin="a\nb\n"), [[20], [20 + 23]])
        # The system's turn, "<|im_start|>system\nabc<|im_end|>\n", has 13 tokens.
        self.assertEqual(answers("--template", "chatml", "--system", "abc", "--most-tokens", 1, stdin="a\n"), [[33]])
        # Another special token ends an answer, too, but not the turn, whose end follows.
        pieces[22], pieces[40] = "<|stop|>", "<|im_end|>"
        write_tokenizer()
        self.assertEqual(answers("--template", "chatml", "--most-tokens", 3, stdin="a\nb\n"), [[20, 21], [45, 46, 47]])
        self.assertEqual(answers("--most-tokens", 3, stdin="a\n"), [[]])  # the first token is "<|im_start|>"
        self.assertIn("try --template chatml", mete(*chat[:-1], "--prompt", "a").stderr)
        self.assertNotIn("try --template", mete(*chat[:-1], "--prompt", "a", "--template", "chatml").stderr)
        self.fails(BAD_FILE, "none of a chat model of this form; got no token '<end_of_turn>'", *chat[:-1], "--prompt", "a", "--template", "gemma")
        self.fails(USAGE, "got 'other'", *chat[:-1], "--prompt", "a", "--template", "other")
        self.fails(USAGE, "--template", *chat[:-1], "--prompt", "a", "--system", "abc")

    def test_a_text_ends_an_answer(self):
        for ends, text in ((["d"], "abc"), (["cd", "bcde"], "ab"), (["x"], "abcdef"), (["fg"], "abcdef")):
            flags = [word for end in ends for word in ("--end", end)]
            self.assertEqual(json.loads(self.run_text("--prompt", "ab", "--most-tokens", 6, "--json", *flags))["text"], text)

    def test_random_tokens_follow_from_the_seed(self):
        hot = ["--prompt", "a", "--temperature", 50, "--most-tokens", 8, "--json"]
        first, again, other = (json.loads(self.run_text(*hot, "--seed", seed))["tokens"] for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        cold = json.loads(self.run_text(*hot, "--top-p", 0))["tokens"]
        self.assertEqual(cold[:3], [3, 4, 5])

    def test_mistakes(self):
        net, words = self.root / "net.onnx", self.root / "words.bin"
        self.fails(USAGE, "--tokenizer", "run", net, "--prompt", "a")
        self.fails(USAGE, "expected --chat, --prompt or --show tokens", "run", net, "--tokenizer", words)
        self.fails(BAD_FILE, "none.bin", "run", net, "--prompt", "a", "--tokenizer", self.root / "none.bin")
        self.fails(BAD_FILE, "not a tokenizer", "run", net, "--prompt", "a", "--tokenizer", net)
        self.fails(BAD_FILE, "no piece for a byte", "run", net, "--prompt", "z", "--tokenizer", words)
        self.fails(USAGE, "got pictures or tensors", "run", net, "cat.png", "--prompt", "a", "--tokenizer", words)
        self.fails(USAGE, "--temperature", "run", net, "--prompt", "a", "--tokenizer", words, "--temperature", "-1")
        other = self.root / "other.onnx"
        other.write_bytes(model([("image", [1, 3, 4, 4])], [("Relu", ["image"], ["out"])], ["out"]))
        self.fails(BAD_FILE, "none of a decoder network", "run", other, "--prompt", "a", "--tokenizer", words)

    def test_a_story(self):
        net, words = SHARED / "models/stories260k.onnx", SHARED / "models/stories260k_tok512.bin"
        if not net.exists():
            self.skipTest(f"{net} is missing: the trained models are not in the repository")
        want = json.loads((SHARED / "models/expected.json").read_text())["stories260k"]
        prompt = len(want["prompt_tokens"])
        told = self.answer("run", net, "--prompt", want["prompt"], "--tokenizer", words, "--most-tokens", 30)
        self.assertEqual(told["tokens"], want["greedy_tokens"][prompt:prompt + 30])
        self.assertTrue(told["text"].startswith(", there was a little girl named Lily."), told["text"])


if __name__ == "__main__":
    cli_testing.main()
