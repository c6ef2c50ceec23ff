"""Small files in the place of those that snippets name and that nobody has: nets, pictures, tensors, labels. Standard library only."""
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from cli_testing import npy, png
from onnx_files import floats, kInt64, message, model, number

CLASSES = 10
SIDE = 224  # of a picture that the nets take
PICTURES = 8  # in a folder of them
FEATURES = ("Conv", ["data", "weights"], ["features"], {"kernel_shape": [3, 3], "strides": [2, 2]})


def net(nodes, output):
    """It takes any number of pictures, and has weights."""
    values = [(i % 7 - 3) / 100 for i in range(CLASSES * 3 * 3 * 3)]
    return model([("data", ["N", 3, SIDE, SIDE])], [FEATURES, *nodes], [output], weights=[("weights", [CLASSES, 3, 3, 3], values)])


def classifier():
    return net([("Relu", ["features"], ["positive"]), ("GlobalAveragePool", ["positive"], ["pooled"]), ("Flatten", ["pooled"], ["scores"])],
               "scores")


def detector():
    return net([("Relu", ["features"], ["boxes"])], "boxes")


def encoder():
    """Of words: numbers and a mask, both of open length."""
    inputs = [(name, ["N", "T"], kInt64) for name in ("ids", "mask")]
    return model(inputs, [("Mul", ["ids", "mask"], ["kept"]), ("Cast", ["kept"], ["states"], {"to": 1})], ["states"])


def decoder():
    """It takes a token and a cache, and returns scores and the cache with one position more."""
    cache = [1, 4, "P", 8]
    nodes = [("Cast", ["tokens"], ["number"], {"to": 1}), ("MatMul", ["number", "words"], ["logits"]), ("Mul", ["number", "key"], ["row"]),
             *((("Concat", [f"past_{x}", "row"], [f"present_{x}"], {"axis": 2})) for x in "kv")]
    weights = [("words", [1, CLASSES], [(i % 7 - 3) / 10 for i in range(CLASSES)]), ("key", [1, 4, 1, 8], [0.1] * 32)]
    return model([("tokens", [1, 1], kInt64), ("past_k", cache), ("past_v", cache)], nodes, ["logits", "present_k", "present_v"],
                 weights=weights)


def language_model():
    """Logits of each of the encoder's tokens."""
    inputs = [(name, ["N", "T"], kInt64) for name in ("ids", "mask")]
    table = ("table", [CLASSES, CLASSES], [float(i % 7) for i in range(CLASSES * CLASSES)])
    return model(inputs, [("Mul", ["ids", "mask"], ["kept"]), ("Gather", ["table", "kept"], ["logits"])], ["logits"], weights=[table])


def prototxt():
    return b"""name: "stand-in"
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 32 dim: 32 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" convolution_param { num_output: 10 kernel_size: 3 } }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { pool: AVE global_pooling: true } }
"""


def caffemodel():
    """The weights and the bias of the layer `conv` above."""
    def blob(*dims):
        count = 1
        for d in dims:
            count *= d
        return message(7, message(7, b"".join(number(1, d) for d in dims)) + message(5, floats([0.01] * count)))
    return message(100, message(1, "conv") + message(2, "Convolution") + blob(CLASSES, 3, 3, 3) + blob(CLASSES))


def picture():
    return png(64, 48)  # whatever the ending of its name says: what is in a file decides


def labels():
    return "".join(f"class {i}\n" for i in range(CLASSES)).encode()


def pixels():
    return npy("<f4", [1, 3, SIDE, SIDE], struct.pack("<f", 0.5) * (3 * SIDE * SIDE))


def words():
    return npy("<i8", [1, 16], struct.pack("<q", 1) * 16)


def tokenizer():
    """llama2.c's form, with a piece for each byte."""
    pieces = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % i for i in range(256))]
    return bytes(4) + b"".join(struct.pack("<fi", 0, len(piece)) + piece for piece in pieces)


def tokenizer_json():
    """Hugging Face's form, with as many words and marks of a chat (chatml) as there are classes."""
    marks = [{"id": CLASSES - 2 + i, "content": f"<|im_{name}|>", "special": True} for i, name in enumerate(("start", "end"))]
    words = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, **{f"word{i}": i for i in range(1, CLASSES - 2)}}}
    return json.dumps({"model": words, "decoder": {"type": "WordPiece"}, "added_tokens": marks}).encode()


BY_NAME = {"bert.onnx": language_model, "decoder.onnx": decoder, "detector.onnx": detector, "encoder.onnx": encoder, "ids.npy": words, "mask.npy": words,
           "tokenizer.bin": tokenizer, "tokenizer.json": tokenizer_json}
BY_ENDING = {".onnx": classifier, ".prototxt": prototxt, ".caffemodel": caffemodel, ".jpg": picture, ".png": picture, ".npy": pixels,
             ".txt": labels}


def make(path):
    """The file, where it is not there and its name says what it is."""
    if path.name == "pictures" and not path.exists():
        path.mkdir()
        for i in range(PICTURES):
            (path / f"{i}.png").write_bytes(picture())
    maker = BY_NAME.get(path.name) or BY_ENDING.get(path.suffix)
    if not maker or path.exists():
        return
    path.write_bytes(maker())
    if path.suffix == ".prototxt":
        make(path.with_suffix(".caffemodel"))


PHONE = {
    "proc/cpuinfo": "Hardware : Toy phone",
    "proc/self/status": "Cpus_allowed_list: 0-7",
    "sys/devices/system/cpu/online": "0-7",
    "sys/class/powercap/intel-rapl:0/name": "package-0",  # no phone has it; the snippets that read a meter name this one
    "sys/class/powercap/intel-rapl:0/energy_uj": "262143",
    **{f"sys/devices/system/cpu/cpu{i}/cpu_capacity": "250" if i < 4 else "1024" for i in range(8)},
}


def make_machine(folder):
    """What one copies of the /proc and /sys of a machine."""
    for name, text in PHONE.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")
