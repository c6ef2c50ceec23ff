"""Renders pictures of one digit: fonts, sizes, turns, slants, colours, backgrounds and noise, all from one seed.

The fonts are Debian packages by name. Whole packages are held out, and with them their near relatives
(Carlito is drawn after Lato, Hack after DejaVu Sans Mono), so that the held-out digits are truly new shapes.
"""
import functools
import pathlib
import re
import subprocess

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

TRAIN_PACKAGES = [
    "fonts-dejavu-core", "fonts-dejavu-extra", "fonts-liberation", "fonts-freefont-ttf", "fonts-open-sans",
    "fonts-cantarell", "fonts-firacode", "fonts-inconsolata", "fonts-hack", "fonts-linuxlibertine",
    "fonts-comfortaa", "fonts-quicksand", "fonts-oldstandard", "fonts-ebgaramond", "fonts-tlwg-garuda-ttf",
    "fonts-anonymous-pro", "fonts-mononoki", "fonts-jura", "fonts-urw-base35", "fonts-roboto-unhinted",
]
HELD_OUT_PACKAGES = [
    "fonts-lato", "fonts-crosextra-carlito", "fonts-crosextra-caladea", "fonts-cabin", "fonts-sil-gentium",
    "fonts-play", "fonts-jetbrains-mono",
]
# Symbols, key caps, outlines and initials have no digits; hairlines vanish at this size.
NO_DIGITS = re.compile(r"D050000L|StandardSymbols|Z003|_K\.|_DR\.|_I\.|Hairline|Thin|ExtraLight", re.I)

SIDE = 32    # pixels of a picture's side
ABOVE = 4    # drawn this many times larger, then averaged down


def font_files(packages):
    files = []
    for package in packages:
        listing = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=True).stdout
        names = [f for f in listing.split("\n") if re.search(r"\.(ttf|otf)$", f) and not NO_DIGITS.search(f)]
        if not names:
            raise SystemExit(f"[{package}] no font files; try: apt-get install {package}")
        files += sorted(names, key=lambda f: pathlib.Path(f).name)
    return files


@functools.lru_cache(maxsize=None)
def load_font(path, size):
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


def digit_mask(digit, font, side, height, rng):
    """`digit` as grey coverage on a side x side canvas, `height` pixels tall, turned, slanted and moved."""
    face = load_font(font, 96)
    box = face.getbbox(str(digit))
    glyph = Image.new("L", (box[2] - box[0] + 8, box[3] - box[1] + 8))
    ImageDraw.Draw(glyph).text((4 - box[0], 4 - box[1]), str(digit), fill=255, font=face)

    angle = np.deg2rad(rng.uniform(-18, 18))
    slant = rng.uniform(-0.2, 0.2)
    widen = rng.uniform(0.85, 1.2)
    scale = height / (box[3] - box[1])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    forward = turn @ np.array([[scale * widen, slant * scale], [0, scale]])
    slack = max(0.0, (side - height) / 2)
    centre = side / 2 + rng.uniform(-0.7, 0.7, 2) * slack
    inverse = np.linalg.inv(forward)
    origin = np.array(glyph.size) / 2 - inverse @ centre
    matrix = (inverse[0, 0], inverse[0, 1], origin[0], inverse[1, 0], inverse[1, 1], origin[1])
    return glyph.transform((side, side), Image.Transform.AFFINE, matrix, resample=Image.Resampling.BILINEAR)


def background(side, colour, rng):
    """A flat colour, with a linear shade across it."""
    direction = rng.uniform(0, 2 * np.pi)
    y, x = np.mgrid[0:side, 0:side] / (side - 1) - 0.5
    shade = rng.uniform(0, 50) * (np.cos(direction) * x + np.sin(direction) * y)
    return colour[None, None, :] + shade[:, :, None]


def two_colours(rng):
    """Ink and paper, apart by at least 70 of 255 in brightness, either of them the darker one."""
    luma = np.array([0.299, 0.587, 0.114])
    while True:
        ink, paper = rng.uniform(0, 255, (2, 3))
        if abs(luma @ (ink - paper)) >= 70:
            return ink, paper


def picture(digit, font, rng, side=SIDE):
    """A side x side x 3 u8 picture of `digit`."""
    above = ABOVE * SIDE // side if side < ABOVE * SIDE else 1
    canvas = side * above
    mask = digit_mask(digit, font, canvas, canvas * rng.uniform(0.45, 0.85), rng)
    mask = mask.resize((side, side), Image.Resampling.BOX)
    if rng.random() < 0.3:
        mask = mask.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.9) * side / SIDE))
    cover = np.asarray(mask, np.float64)[:, :, None] / 255
    ink, paper = two_colours(rng)
    image = background(side, paper, rng) * (1 - cover) + ink * cover
    image += rng.normal(0, rng.uniform(0, 22), image.shape)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def data_set(count, fonts, seed):
    """(count x SIDE x SIDE x 3 u8, count labels): each digit equally often, each picture from its own font."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 10
    images = np.stack([picture(int(d), fonts[rng.integers(len(fonts))], rng) for d in labels])
    return images, labels
