"""While callers ask for answers that are known, models are loaded again, exchanged and unloaded, and the server is ended or killed: no request
that it accepted is lost, and none is answered wrongly. Standard library only.

--times N does each thing N times as often as the test of every build does.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import generator
from generator import Case, Generator
from served import LONG_S, Served, answer_of

METE = None
TIMES = 1
NET = "resnet56"  # for 32x32 pixels; takes some milliseconds, so that requests wait for each other
SERVE = ["--tune", "never", "--queue", "16"]


def busy_of(server):
    """{processor of a pool: seconds that it has computed}, by /metrics."""
    text = server.ask("GET", "/metrics")[2].decode()
    return {name: float(value) for name, value in sorted(re.findall(r'^mete_processor_busy_seconds_total\{processor="(.*)"\} (.*)$', text, re.M))}


class Lost(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.cases = [Case(seed) for seed in range(6)]
        cls.files = []
        for seed, version in ((1, "1"), (2, "2"), (3, "1")):  # the third takes the first one's place
            path = cls.folder / f"seed{seed}.onnx"
            generator.subprocess.run([METE, "zoo", "make", NET, "-o", path, "--seed", str(seed)], check=True, capture_output=True)
            for case in cls.cases:
                case.add_right(METE, path, version, cls.folder)
            cls.files.append(path)
        for case in cls.cases:  # or a wrong answer would not be seen
            for other in cls.cases:
                for scores in other.right["1"] + other.right["2"]:
                    same = [r for r in case.right["1"] + case.right["2"] if generator.is_close(scores, r)]
                    assert len(same) == (other is case), "answers are too close to each other"

    def setUp(self):
        self.repository = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.put("1", self.files[0])

    def put(self, version, file):
        """The model file of a version is there, whole, or that before it."""
        folder = self.repository / "net" / version
        folder.mkdir(parents=True, exist_ok=True)
        part = self.repository / ".part"  # a name that the server does not look at
        shutil.copyfile(file, part)
        os.replace(part, folder / "model.onnx")

    def serve(self, *flags, port=0):
        return self.enterContext(Served(METE, self.repository, *SERVE, *flags, port=port, env={"METE_CACHE": str(self.folder / "cache")}))

    def expect_none(self, asked, untold=False):
        self.assertEqual(asked.wrong, [])
        self.assertEqual(asked.lost, [])
        self.assertEqual(asked.others, [])
        if not untold:
            self.assertEqual(asked.untold, [])
        self.assertGreater(asked.right, 0)

    def load(self, server):
        status, _, body = server.load("net")
        self.assertEqual(status, 200, body)

    def test_loads_and_versions(self):
        server = self.serve()
        self.load(server)
        with Generator(server.port, "net", self.cases) as asked:
            def change_nothing():
                pass
            def second_version():
                self.put("2", self.files[1])
            def without_it():
                os.rename(self.repository / "net" / "2", self.repository / ".away")
                shutil.rmtree(self.repository / ".away")
            def another_file():
                self.put("1", self.files[2])
            def first_file():
                self.put("1", self.files[0])
            most = []
            for _ in range(2 * TIMES):
                for change in (change_nothing, second_version, change_nothing, without_it, another_file, first_file):
                    change()
                    self.load(server)
                    self.assertTrue(asked.await_answers(30), asked.faults()[:3])
                most.append(server.rss_kib())
        self.expect_none(asked)
        self.assertEqual(asked.refused, 0)  # a load refuses nothing
        self.assertGreater(asked.versions["1"], 0)
        self.assertGreater(asked.versions["2"], 0)
        # what is loaded lies in memory twice at most
        self.assertLess(max(most), 2 * most[0] + (128 << 10))
        self.assertEqual(server.end(), 0, server.lines[-3:])

    def test_unload(self):
        server = self.serve()
        with Generator(server.port, "net", self.cases) as asked:
            for _ in range(4 * TIMES):
                self.assertTrue(asked.await_answers(20), asked.faults()[:3])
                self.assertEqual(server.ask("POST", "/v2/repository/models/net/unload")[0], 200)
                self.assertEqual(server.ask("GET", "/v2/models/net/ready")[0], 503)
                self.load(server)
        self.expect_none(asked)
        self.assertGreater(asked.refused, 0)  # while it was not loaded: 503

    def test_a_file_that_was_cut_leaves_the_version_in_use(self):
        server = self.serve()
        half = self.folder / "half.onnx"
        half.write_bytes(self.files[0].read_bytes()[: self.files[0].stat().st_size // 2])
        with Generator(server.port, "net", self.cases) as asked:
            for _ in range(3 * TIMES):
                self.put("1", half)
                status, _, body = server.load("net")
                self.assertEqual(status, 400, body)
                self.assertTrue(asked.await_answers(20), asked.faults()[:3])
            self.put("1", self.files[0])
            self.load(server)
            self.assertTrue(asked.await_answers(20), asked.faults()[:3])
        self.expect_none(asked)
        self.assertEqual(asked.refused, 0)

    def test_sigterm(self):
        for turn in range(3 * TIMES):
            with Served(METE, self.repository, *SERVE, env={"METE_CACHE": str(self.folder / "cache")}) as server:
                with Generator(server.port, "net", self.cases, seed=turn) as asked:
                    self.assertTrue(asked.await_answers(30), asked.faults()[:3])
                    asked_to_end = time.monotonic()
                    status = server.end()
                self.assertEqual(status, 0, server.lines[-3:])
            self.expect_none(asked, untold=True)
            # what was sent before the signal has an answer; later connections may be refused or closed
            self.assertEqual([i for i, sent in asked.untold if sent and sent < asked_to_end], [])
            # each answer that the server wrote has come, and each that came was written by it
            self.assertEqual(sum(line.get("status") == 200 for line in server.lines), asked.right)

    def test_processors(self):
        """One caller's requests are computed by a pool, several callers' by the slots; both are right."""
        server = self.serve("--processors", "cpu:0,cpu:1")
        for threads in (1, 4):
            with Generator(server.port, "net", self.cases, threads=threads) as asked:
                self.assertTrue(asked.await_answers(20), asked.faults()[:3])
            self.expect_none(asked)
            self.assertEqual(list(busy_of(server)), ["cpu:0", "cpu:1"])
        self.assertGreater(sum(busy_of(server).values()), 0)
        self.assertEqual(server.end(), 0, server.lines[-3:])

    def test_a_gpu_tells_how_busy_it_is(self):
        """A model's wide runs are computed by the GPU, those before the model is ready among them. Any OpenCL device is one here."""
        env = {**os.environ, "METE_CACHE": str(self.folder / "cache"), "METE_GPU": "cpu", "POCL_AFFINITY": "1"}
        machine = subprocess.run([METE, "machine", "--json"], env=env, capture_output=True, check=True, text=True)
        if not json.loads(machine.stdout).get("gpus"):
            self.skipTest("there is no OpenCL device")
        with tempfile.TemporaryDirectory() as repository:
            shutil.copyfile(pathlib.Path(__file__).parents[2] / "models/digits.onnx", f"{repository}/digits.onnx")
            with Served(METE, repository, *SERVE, "--processors", "gpu", env=env) as server:
                busy = busy_of(server)
                self.assertEqual(server.end(), 0, server.lines[-3:])
        self.assertEqual(list(busy), ["gpu"])
        self.assertGreater(busy["gpu"], 0)

    def test_sigterm_again(self):
        """Where the parent has blocked both signals."""
        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
        with Served(METE, self.repository, *SERVE, env={"METE_CACHE": str(self.folder / "cache")}, before=block) as server:
            with server.connect() as begun:
                begun.sendall(b"POST /v2/repository/index HTTP/1.1\r\nHost: mete\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
                self.assertIn(b" 100 ", begun.recv(1 << 10))  # the server has begun with it
                server.process.send_signal(signal.SIGTERM)
                with self.assertRaises(OSError):  # until it takes no more connections
                    while True:
                        server.connect().close()
                server.process.send_signal(signal.SIGTERM)
                begun.sendall(b"{}")
                self.assertEqual(answer_of(begun)[0], 200)
            server.process.wait(LONG_S)
            self.assertEqual(server.process.returncode, 0, server.lines[-3:])

    def test_sigterm_while_it_starts(self):
        """It is not waited for the models that are left to load."""
        for i in range(50):
            shutil.copyfile(self.files[0], self.repository / f"other{i}.onnx")
        words = [METE, "serve", self.repository, "--listen", "127.0.0.1:0", "--json", *SERVE]
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "METE_CACHE": str(self.folder / "cache")}) as server:
            lines = [server.stderr.readline()]
            server.send_signal(signal.SIGTERM)
            out, rest = server.communicate(timeout=LONG_S)
        lines += rest.splitlines()
        self.assertIn("is ready", lines[0])
        self.assertEqual(server.returncode, 0, lines[-3:])
        self.assertEqual(out, "")
        self.assertLess(len(lines), 50)

    def test_sigkill(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = self.serve(port=port)
        with Generator(port, "net", self.cases, again=True) as asked:
            for _ in range(3 * TIMES):
                self.assertTrue(asked.await_answers(30), asked.faults()[:3])
                server.end(signal.SIGKILL)
                server = self.serve(port=port)
            self.assertTrue(asked.await_answers(30), asked.faults()[:3])
        # each request was answered rightly at last. A server that was killed cannot tell which ones it had accepted; here all had been.
        self.expect_none(asked)
        self.assertGreater(asked.resent, 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mete", required=True, metavar="FILE")
    parser.add_argument("--times", type=int, default=1, metavar="N")
    flags, rest = parser.parse_known_args()
    METE, TIMES = flags.mete, flags.times
    unittest.main(argv=sys.argv[:1] + rest)
