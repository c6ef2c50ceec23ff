"""What the tests of the command line share: the program, files for it, and answers. Standard library only."""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

METE = None  # its path; main() sets it
BOARDS = pathlib.Path(__file__).resolve().parents[2] / "boards"
NET = "squeezenet1.1"  # small and quick; data 1x3x224x224
LONG_S = int(os.environ.get("METE_TEST_COMMAND_S", 300))  # of one command; builds with a sanitizer or an emulator set more
OK, FAILURE, USAGE, BAD_FILE, UNSUPPORTED, CANCELLED = range(6)


def mete(*args, env=None, stdin=None):
    return subprocess.run([METE, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=LONG_S, env={**os.environ, **(env or {})})


def npy(dtype, shape, data):
    dims = "".join(f"{d}," for d in shape)
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({dims}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def png(width, height, pixel=None, exif=None):
    """8 bits RGB: pixel(x, y), or a gradient. `exif`: the content of an eXIf chunk."""
    pixel = pixel or (lambda x, y: (x * 255 // width, y * 255 // height, 128))
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + (chunk(b"eXIf", exif) if exif else b"") + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.net = cls.root / "net.onnx"
        made = mete("zoo", "make", NET, "-o", cls.net)
        assert made.returncode == OK, made.stderr
        summary = json.loads(mete("inspect", cls.net, "--json").stdout)
        cls.input, cls.output = summary["inputs"][0], summary["outputs"][0]
        cls.picture = cls.root / "picture.png"
        cls.picture.write_bytes(png(64, 48))
        cls.tensor = cls.root / "data.npy"
        cls.tensor.write_bytes(npy("<f4", cls.input["shape"], struct.pack("<f", 0.5) * cls.elements()))

    @classmethod
    def elements(cls):
        count = 1
        for d in cls.input["shape"]:
            count *= d
        return count

    def path(self, name, data=None):
        path = self.root / f"{self._testMethodName}_{name}"
        if data is not None:
            path.write_bytes(data)
        return path

    def answer(self, *args, env=None):
        """The JSON on stdout of a command that must succeed."""
        done = mete(*args, "--json", env=env)
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads(done.stdout)

    def fails(self, code, text, *args, env=None):
        """The error reaches stderr alone, in both forms, and the exit code tells its kind. Its text without "mete: error:"."""
        plain = mete(*args, env=env)
        self.assertEqual(plain.returncode, code, plain.stdout + plain.stderr)
        self.assertIn("mete: error: [", plain.stderr)
        self.assertIn(text, plain.stderr)
        machine = mete(*args, "--json", env=env)
        self.assertEqual(machine.returncode, code, machine.stderr)
        self.assertEqual(machine.stdout, "")
        told = [json.loads(line) for line in machine.stderr.splitlines()]  # notes, too, are JSON
        error = told[-1]["error"]
        self.assertIn(text, error["message"])
        self.assertTrue(error["code"].isupper())
        return error["message"]


def read_arguments():
    """Sets METE; what is left of the command line."""
    global METE
    parser = argparse.ArgumentParser()
    parser.add_argument("--mete", required=True)
    options, rest = parser.parse_known_args()
    METE = os.path.abspath(options.mete)
    return rest


def main():
    unittest.main(argv=[sys.argv[0], *read_arguments()])
