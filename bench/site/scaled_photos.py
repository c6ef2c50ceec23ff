"""Photos at three sizes: within 3840x2160, and at half and a quarter of that, as JPEGs. Needs Pillow, so it runs in an environment of its own
(tools/venv.sh); prints a JSON list of {"photo", "size", "path", "width", "height", "bytes"}.

    scaled_photos.py FOLDER COUNT OUT SIZE...
"""
import json
import os
import sys

from PIL import Image, ImageOps

kWidth, kHeight = 3840, 2160  # of Guo's photos
kFractions = {"full": 1, "half": 2, "quarter": 4}
kQuality = 90  # guess: as phones save photos


def scaled(image, fraction):
    """No picture is made larger."""
    ratio = min(1, kWidth / image.width, kHeight / image.height) / fraction
    return image.resize((max(1, round(image.width * ratio)), max(1, round(image.height * ratio))), Image.Resampling.LANCZOS)


def main(folder, count, out, *sizes):
    names = sorted(name for name in os.listdir(folder) if name.endswith(".jpg"))[:int(count)]
    made = []
    for name in names:
        with Image.open(os.path.join(folder, name)) as file:
            image = ImageOps.exif_transpose(file).convert("RGB")
        for size in sizes:
            photo = name[:-len(".jpg")]
            path = os.path.join(out, f"{photo}-{size}.jpg")
            small = scaled(image, kFractions[size])
            if not os.path.exists(path):
                small.save(path + ".part", "JPEG", quality=kQuality)
                os.replace(path + ".part", path)
            made.append({"photo": photo, "size": size, "path": path, "width": small.width, "height": small.height, "bytes": os.path.getsize(path)})
    print(json.dumps(made))


if __name__ == "__main__":
    main(*sys.argv[1:])
