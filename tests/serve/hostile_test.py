"""Callers that are broken, slow or hostile, beside others that ask for answers which are known: these get all of their answers, and the
server's memory stays bounded. Standard library only.

--times N does each thing N times as often as the test of every build does.
"""
import argparse
import contextlib
import http.client
import pathlib
import random
import resource
import shutil
import socket
import struct
import sys
import tempfile
import unittest
import zlib

import generator
from generator import Case, Generator
from served import LONG_S, Served, answer_of

METE = None
TIMES = 1
ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = ["--tensor-mib", "4", "--picture-mib", "4", "--megapixels", "4", "--queue", "16", "--connections", "1024", "--tune", "never"]
# More memory than before: a picture of --megapixels as pixels and as floats, bodies of --tensor-mib and the JSON library's own for some
# connections, and what malloc keeps; a guess far below what a request without a bound would take.
MOST_GROWTH_KIB = 256 << 10


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def bomb(width, height):
    """A PNG of a few bytes that says it is large."""
    rows = zlib.compress(bytes(1 << 20), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def head(path, *lines):
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: mete", *lines, "", ""]).encode()


def send(sock, data):
    """False: the other side has closed."""
    try:
        sock.sendall(data)
        return True
    except ConnectionError:
        return False


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        repository = cls.folder / "repository"
        repository.mkdir()
        net = repository / "net.onnx"
        generator.subprocess.run([METE, "zoo", "make", "resnet56", "-o", net], check=True, capture_output=True)
        for name in ("digits.onnx", "digits.toml", "digits.labels.txt"):
            shutil.copy(ROOT / "models" / name, repository)
        cls.cases = [Case(seed) for seed in range(6)]
        for case in cls.cases:
            case.add_right(METE, net, "1", cls.folder)
        cls.server = cls.enterClassContext(Served(METE, repository, *LIMITS, env={"METE_CACHE": str(cls.folder / "cache")}))
        cls.path = "/v2/models/net/infer"
        case = cls.cases[0]
        cls.whole = head(cls.path, f"Content-Length: {len(case.body)}",
                         *(f"{name}: {value}" for name, value in case.headers.items())) + case.body

    @contextlib.contextmanager
    def others(self):
        """Callers that get all of their answers whatever is done meanwhile."""
        self.server.forget_peak()
        before = self.server.rss_kib()
        with Generator(self.server.port, "net", self.cases, threads=2) as asked:
            self.assertTrue(asked.await_answers(10), asked.faults()[:3])
            yield asked
            self.assertTrue(asked.await_answers(10), asked.faults()[:3])
        self.assertEqual(asked.faults(), [])
        self.assertEqual(asked.untold, [])
        self.assertIsNone(self.server.process.poll(), self.server.lines[-3:])
        self.assertLess(self.server.rss_kib("VmHWM") - before, MOST_GROWTH_KIB)

    def test_bodies_that_are_cut(self):
        with self.others():
            for i in range(50 * TIMES):
                with self.server.connect() as sock:
                    sock.sendall(self.whole[: len(self.whole) * (i % 50 + 1) // 51])

    def test_slow_readers(self):
        with self.others(), contextlib.ExitStack() as stack:
            for _ in range(20 * TIMES):
                sock = stack.enter_context(socket.socket())
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                sock.connect(("127.0.0.1", self.server.port))
                sock.sendall(b"GET / HTTP/1.1\r\nHost: mete\r\n\r\n" * 100)  # 100 pages that nobody reads

    def test_idle_connections(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2000
        if limit[0] < wanted + 100:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted + 100, limit[1]), limit[1]))
        with self.others(), contextlib.ExitStack() as stack:
            for _ in range(wanted):
                stack.enter_context(self.server.connect())
            for _ in range(10):  # and there is room for others
                self.assertEqual(self.server.ask("GET", "/v2/health/ready")[0], 200)

    def test_headers_without_end(self):
        with self.others():
            for line in (b"X: " + b"a" * 1000 + b"\r\n", b"a"):
                with self.server.connect() as sock:
                    sock.sendall(b"GET / HTTP/1.1\r\n")
                    for _ in range(100000):
                        if not send(sock, line * (1 if len(line) > 1 else 1000)):
                            break
                    else:
                        self.fail("the server reads a header of 100 MB")
                    self.assertIn(answer_of(sock)[0], (0, 400, 431))

    def test_a_body_byte_by_byte(self):
        with self.others(), self.server.connect() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(len(self.whole)):
                sock.sendall(self.whole[i : i + 1])
            answer = http.client.HTTPResponse(sock, method="POST")
            answer.begin()
            self.assertEqual(answer.status, 200)
            self.assertTrue(self.cases[0].is_right(*generator.scores_of(answer, answer.read())))

    def test_lengths(self):
        with self.others():
            for length, status in ((10**15, 413), (2**63, 413), (10**30, 400), (-1, 400), ("x", 400)):
                for path in (self.path, "/v2/models/digits/classify", "/v2/repository/index", "/nothing"):
                    with self.server.connect() as sock:
                        sock.sendall(head(path, f"Content-Length: {length}") + b"{}")
                        self.assertEqual(answer_of(sock)[0], status, (length, path))
            for json_bytes in (10**15, -1, "x", 2**64 - 1):
                got, _, body = self.server.ask("POST", self.path, b"{}", {"Inference-Header-Content-Length": str(json_bytes)})
                self.assertEqual(got, 400, body)

    def test_chunks_without_end(self):
        with self.others():
            for piece in (b"100000\r\n" + b" " * (1 << 20) + b"\r\n", b"1\r\n \r\n" * 10000, b"0" * (1 << 20)):
                with self.server.connect() as sock:
                    sock.sendall(head(self.path, "Transfer-Encoding: chunked"))
                    for _ in range(10000):
                        if not send(sock, piece):
                            break
                    else:
                        self.fail("the server reads chunks without end")
                    self.assertIn(answer_of(sock)[0], (0, 400, 413))

    def classify(self, picture, type_="image/png"):
        status, _, body = self.server.ask("POST", "/v2/models/digits/classify", picture, {"Content-Type": type_})
        return status, body

    def test_pictures(self):
        digit = (ROOT / "models" / "digit.png").read_bytes()
        choices = random.Random(1)
        with self.others():
            for width, height in ((30000, 30000), (2**31 - 1, 2**31 - 1), (2**32 - 1, 1), (0, 5)):
                status, body = self.classify(bomb(width, height))
                self.assertIn(status, (400, 413), body)
            status, body = self.classify(bomb(1, 1) * 1000)
            self.assertNotEqual(status, 500, body)
            for start in (b"", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", b"\x89PNG\r\n\x1a\n", b"BM"):
                for _ in range(20 * TIMES):
                    status, body = self.classify(start + choices.randbytes(choices.randrange(1, 5000)), "application/octet-stream")
                    self.assertIn(status, (400, 501), body)  # 501: a kind of picture that is not read
            for _ in range(50 * TIMES):
                damaged = bytearray(digit)
                damaged[choices.randrange(len(damaged))] ^= 1 << choices.randrange(8)
                self.assertIn(self.classify(bytes(damaged))[0], (200, 400, 501))
            status, body = self.classify(digit)
            self.assertEqual(status, 200, body)

    def test_tensors_that_are_no_numbers(self):
        case = self.cases[0]
        text = case.body[: -len(case.data)]
        with self.others():
            for value in (float("nan"), float("inf"), -float("inf"), 3e38, 1e-45):
                body = text + struct.pack("<f", value) * generator.ELEMENTS
                status, headers, answer = self.server.ask("POST", self.path, body, case.headers)
                self.assertEqual(status, 200, answer)
                text_bytes = int(headers["Inference-Header-Content-Length"])
                self.assertEqual(len(answer) - text_bytes, 10 * 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mete", required=True, metavar="FILE")
    parser.add_argument("--times", type=int, default=1, metavar="N")
    flags, rest = parser.parse_known_args()
    METE, TIMES = flags.mete, flags.times
    unittest.main(argv=sys.argv[:1] + rest)
