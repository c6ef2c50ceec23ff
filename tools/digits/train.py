#!/usr/bin/env python3
"""Trains the digit network that the repository ships, and writes everything under models/.

    tools/digits/train.sh              installs fonts and Python packages, then runs this
    python3 tools/digits/train.py      where both are there

One seed decides everything: pictures, starting weights, order. Takes a few minutes on one core.
"""
import argparse
import json
import os
import pathlib
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the sums' order, and with it the last digits, stay the same

import numpy as np
from PIL import Image

import export
import network as net
import render

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BAR = 0.98  # held-out accuracy below which nothing is written
PICTURE = {"digit": 5, "font": "Caladea-Bold.ttf", "side": 256, "seed": 15}
PREPROCESS = """\
# How a picture becomes this network's input, and how to print its answer.
resize = 32
channels = "rgb"
mean = 127.5
std = 63.75
labels = "digits.labels.txt"
top_k = 5
"""


def normalise(images):
    """What PREPROCESS says."""
    return (images.astype(np.float32) / 255 - 0.5) / 0.25


def jitter(images, rng):
    """Fresh noise, contrast and a shift of up to two pixels: each epoch sees other pictures."""
    shift = rng.integers(-2, 3, 2)
    images = np.roll(images, shift, axis=(1, 2))
    gain = rng.uniform(0.7, 1.2, (len(images), 1, 1, 1)).astype(np.float32)
    noise = rng.standard_normal(images.shape, dtype=np.float32) * rng.uniform(0, 0.25, (len(images), 1, 1, 1)).astype(np.float32)
    return images * gain + noise


def train(layers, images, labels, epochs, batch, rng):
    params = [p for layer in layers for p in layer.params]
    adam = net.Adam(params)
    steps = epochs * (len(images) // batch)
    for epoch in range(epochs):
        start, losses, order = time.time(), [], rng.permutation(len(images))
        for i in range(0, len(images) - batch + 1, batch):
            rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * adam.step_number / steps))
            chosen = order[i:i + batch]
            logits = net.forward(layers, jitter(normalise(images[chosen]), rng), training=True)
            loss, grad = net.cross_entropy(logits, labels[chosen])
            net.backward(layers, grad)
            adam.step(rate)
            losses.append(loss)
        print(f"epoch {epoch + 1}/{epochs}: loss {np.mean(losses):.4f}, {time.time() - start:.1f} s", flush=True)


def predict(layers, images):
    return np.concatenate([net.forward(layers, normalise(images[i:i + 256])).argmax(1) for i in range(0, len(images), 256)])


def write_demo_picture(fonts, path):
    """A held-out font, large, on a noisy background; what `make demo` shows."""
    font = next(f for f in fonts if f.endswith(PICTURE["font"]))
    image = render.picture(PICTURE["digit"], font, np.random.default_rng(PICTURE["seed"]), PICTURE["side"])
    Image.fromarray(image).save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--train", type=int, default=24000, help="pictures to train on")
    parser.add_argument("--held-out", type=int, default=5000, help="pictures in held-out fonts")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "models")
    args = parser.parse_args()

    start = time.time()
    fonts, held_out_fonts = render.font_files(render.TRAIN_PACKAGES), render.font_files(render.HELD_OUT_PACKAGES)
    images, labels = render.data_set(args.train, fonts, args.seed)
    held_images, held_labels = render.data_set(args.held_out, held_out_fonts, args.seed + 1)
    print(f"rendered {len(images)} + {len(held_images)} pictures in {len(fonts)} + {len(held_out_fonts)} fonts, {time.time() - start:.1f} s", flush=True)

    rng = np.random.default_rng(args.seed + 2)
    layers = net.digit_network(rng)
    train(layers, images, labels, args.epochs, 64, rng)

    accuracy = float((predict(layers, held_images) == held_labels).mean())
    print(f"held-out accuracy: {accuracy:.4f} over {len(held_images)} pictures in {len(held_out_fonts)} fonts that training never saw")
    if accuracy < BAR:
        raise SystemExit(f"[train.py] held-out accuracy; got {accuracy:.4f}, expected at least {BAR}; try more --epochs or --train")

    args.out.mkdir(parents=True, exist_ok=True)
    export.export(layers, str(args.out / "digits.onnx"), render.SIDE)
    write_demo_picture(held_out_fonts, args.out / "digit.png")
    record = {
        "seed": args.seed, "held_out_accuracy": round(accuracy, 4),
        "train_pictures": len(images), "held_out_pictures": len(held_images),
        "train_fonts": len(fonts), "held_out_fonts": len(held_out_fonts),
        "train_packages": render.TRAIN_PACKAGES, "held_out_packages": render.HELD_OUT_PACKAGES,
        "epochs": args.epochs, "parameters": sum(p.value.size for layer in layers for p in layer.params),
        "picture": PICTURE,
    }
    (args.out / "digits.json").write_text(json.dumps(record, indent=2) + "\n")
    (args.out / "digits.toml").write_text(PREPROCESS)
    (args.out / "digits.labels.txt").write_text("".join(f"{d}\n" for d in range(10)))
    print(f"wrote {args.out / 'digits.onnx'}, {(args.out / 'digits.onnx').stat().st_size} bytes, after {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
