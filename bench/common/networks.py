"""Models for measurements, and how to ask Mete about them."""
import glob
import json
import os
import subprocess

kModels = ("squeezenet1.0 squeezenet1.1 mobilenet_v1 mobilenet_v2 mobilenet_v3_large shufflenet_v2 efficientnet_b0 resnet18 resnet50 "
           "googlenet inception_v3 alexnet vgg16 posenet_mobilenet vit_ti16 bert6").split()
# Beside the peers also detectors, networks for each pixel, and the kinds of networks that came later.
kCompared = kModels + ("resnet56 densenet121 inception_v2 shufflenet_v1 mobilenet_v4_small mobilenet_ssd yolov5n yolox_nano nanodet deeplab_v3 "
                       "unet convnext_tiny mobilevit_s conformer4 llama8").split()


class BadModel(RuntimeError):
    pass


def mete(program, *words):
    done = subprocess.run([program, *words, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise BadModel(f"[{words[1] if len(words) > 1 else words[0]}] mete {words[0]}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def chosen(words):
    """Names of the zoo and files as they are, and a folder's files in its place."""
    models = []
    for word in words:
        inside = sorted(glob.glob(os.path.join(glob.escape(word), "*.onnx"))) if os.path.isdir(word) else [word]
        if not inside:
            raise BadModel(f"[{word}] no models in this folder; got none that ends in .onnx, expected at least one")
        if word.endswith(".onnx") and not os.path.isfile(word):
            raise BadModel(f"[{word}] no such file")
        models += inside
    return models


def model_file(program, model, folder):
    """(name, path): a file as it is, a network of the zoo made anew in `folder` where the program is newer."""
    if model.endswith(".onnx"):
        return os.path.basename(model)[:-len(".onnx")], model
    path = os.path.join(folder, f"{model}.onnx")
    if not os.path.isfile(path) or os.path.getmtime(path) < os.path.getmtime(program):
        os.makedirs(folder, exist_ok=True)
        mete(program, "zoo", "make", model, "-o", path)
    return model, path


def on_command(program, path, cache, *words):
    """Mete as a worker (protocol.py); it keeps what it measures of its kernels in the folder `cache`."""
    return ["env", f"METE_CACHE={cache}", program, "bench", path, "--on-command", *words]
