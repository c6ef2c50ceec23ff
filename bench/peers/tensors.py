"""The inputs that every engine gets, and how far their outputs lie apart."""
import math
import os

import numpy as np

kSeed = 1
kTypes = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i32": np.int32,
          "i64": np.int64, "bool": np.bool_}
# Integers may be indices: 0 or 1 unless the model is known to look them up in a table of this many rows.
kVocabulary = {"bert6": 30522, "char_rnn": 65, "llama8": 128, "growing_decoder": 1000}  # a Llama's token is also a position, of which the cache leaves 128


def make_inputs(ports, model_name, folder):
    """{name: path of .npy}, seeded. `ports` is what `mete inspect --json` says of the inputs."""
    random = np.random.default_rng(kSeed)
    files = {}
    for i, port in enumerate(ports):
        kind = kTypes[port["type"]]
        if np.issubdtype(kind, np.floating):
            value = random.uniform(-1, 1, port["shape"])
        else:
            value = random.integers(0, kVocabulary.get(model_name, 2), port["shape"])
        files[port["name"]] = os.path.join(folder, f"in{i}.npy")
        np.save(files[port["name"]], value.astype(kind))
    return files


def difference(files, reference_files):
    """The largest |a - b| / largest |b| of all outputs; infinite where they do not fit. Shapes may differ in dimensions of 1."""
    if len(files) != len(reference_files):
        return math.inf
    worst = 0.0
    for file, reference_file in zip(files, reference_files):
        a, b = (np.load(f).astype(np.float64).ravel() for f in (file, reference_file))
        if a.size != b.size or not np.isfinite(a).all():
            return math.inf
        worst = max(worst, float(np.abs(a - b).max(initial=0) / (np.abs(b).max(initial=0) or 1)))
    return worst
