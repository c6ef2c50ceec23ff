"""The command line that a wheel has beside this file, and what Python asks of it."""
import json
import os
import pathlib
import subprocess

from mete.errors import Error, NotFound


def path():
    """The program's path. The environment variable METE_PROGRAM names another one."""
    named = os.environ.get("METE_PROGRAM")
    program = pathlib.Path(named) if named else pathlib.Path(__file__).parent / "bin" / "mete"
    if not program.is_file():
        raise NotFound(f"[mete] this installation has no command line; got no {program}, expected the program; try pip install of the wheel that "
                       "make wheel builds")
    return program


def answer(*words):
    """What `mete WORDS... --json` prints, as a value. Its error becomes a mete.Error."""
    done = subprocess.run([path(), *map(str, words), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Error(done.stderr.strip() or f"[mete] {words[0]} failed; got exit status {done.returncode}, expected 0")
    return json.loads(done.stdout)


def quantize(model, output, pictures=None, *, method="auto", activations="auto", drop=None, keep=(), preprocess=None):
    """Make an 8-bit network of one in floats, and return a report of its layers as a dict.

    model: the path of an ONNX, TensorFlow Lite or Caffe model
    output: the ONNX file to write
    pictures: a folder or a list of files, by which the ranges of activations are measured; None: each run has its own, in matrix products alone
    method: "auto", "minmax", "percentile", "entropy", "mse": how ranges follow
    activations: "u8", "i8", "dynamic" or "auto"
    drop: keep as many layers in floats as needed so that at most so many percent of the pictures change their class
    keep: names of nodes that stay in floats
    preprocess: a recipe's name, if no .toml file is beside the model
    """
    if pictures is None and activations == "auto":
        activations = "dynamic"
    words = ["quantize", model, "-o", output, "--method", method, "--activations", activations]
    if pictures is not None:
        for picture in [pictures] if isinstance(pictures, (str, os.PathLike)) else pictures:
            words += ["--calibrate", picture]
    if drop is not None:
        words += ["--drop", drop]
    for node in keep:
        words += ["--keep", node]
    if preprocess is not None:
        words += ["--preprocess", preprocess]
    return answer(*words)
