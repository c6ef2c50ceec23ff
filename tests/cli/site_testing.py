"""What the tests of `mete run --site` share: servers, workers, and files of sites. Standard library only."""
import json
import os
import pathlib
import socket
import subprocess
import threading

import cli_testing
from cli_testing import OK, Cli, mete, png

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
STEPS = ("load_ms", "preprocess_ms", "upload_ms", "compute_ms")


class Pipe:
    """Forwards connections to a port, and calls `broken` when a caller has sent more than `most` bytes on one of them. With
    `answers` the bytes are those of the answers, of which none goes on from there."""

    def __init__(self, port, most, broken, answers=False):
        self.to, self.most, self.broken, self.answers = port, most, broken, answers
        self.sent = 0  # bytes that count
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                caller = self.listener.accept()[0]
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            threading.Thread(target=self.copy, args=(caller, server, not self.answers), daemon=True).start()
            threading.Thread(target=self.copy, args=(server, caller, self.answers), daemon=True).start()

    def copy(self, source, to, counts):
        sent = 0
        try:
            while data := source.recv(4096):
                sent += len(data)
                self.sent += len(data) if counts else 0
                ends = counts and self.most is not None and sent > self.most
                if ends:
                    self.broken()
                if not (ends and self.answers):
                    to.sendall(data)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        source.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # which ends the accept
        self.listener.close()


class SiteCase(Cli):
    """Has `mete serve` with the model digits."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.models = cls.root / "models"
        cls.models.mkdir()
        for name in ("digits.onnx", "digits.toml", "digits.labels.txt"):
            (cls.models / name).write_bytes((MODELS / name).read_bytes())
        cls.model = cls.models / "digits.onnx"
        cls.photo = MODELS / "digit.png"
        # a photo whose file is larger than what is asked before: noise that a PNG does not make smaller
        cls.large = cls.root / "large.png"
        cls.large.write_bytes(png(200, 150, lambda x, y: ((x * 7919 + y * 104729) % 251, (x * x + y * 31) % 253, (x * y) % 255)))
        cls.server, cls.port = cls.serve()

    @classmethod
    def tearDownClass(cls):
        cls.end(cls.server)

    @classmethod
    def serve(cls, *words):
        server, says = cls.listens("serve", cls.models, "--listen", "127.0.0.1:0", "--log", "none", *words)
        return server, int(says["listening"].rsplit(":", 1)[1])

    @staticmethod
    def listens(*words, env=None):
        """A program that says as JSON where it listens."""
        server = subprocess.Popen([cli_testing.METE, *map(str, words), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, env={**os.environ, **(env or {})})
        text = ""
        while not text.endswith("}\n") or text.count("{") > text.count("}"):  # one object over several lines
            line = server.stdout.readline()
            assert line, "the program has ended"
            text += line
        return server, json.loads(text)

    @staticmethod
    def end(server):
        server.kill()
        server.wait()
        server.stdout.close()

    def setUp(self):
        self.cache = {"METE_CACHE": str(self.path("cache"))}

    def site(self, port, more="", late=1000):
        """`late`: of the link, so that a busy machine is waited for."""
        return self.path("site.toml", f'name = "a home"\n[server]\naddress = "127.0.0.1:{port}"\n{more}[link]\nprofile = "lan"\n'
                         f'late_ratio = {{ value = {late}, source = "guess: of a busy machine" }}\n'.encode())

    def runs(self, port, *words, photo=None, late=1000, more=""):
        """The JSON and the notes of a run that must succeed."""
        done = mete("run", self.model, photo or self.photo, "--site", self.site(port, more, late=late), "--json", *words, env=self.cache)
        self.assertEqual(done.returncode, OK, done.stderr)
        answer = json.loads(done.stdout)
        site = answer["site"]
        self.assertAlmostEqual(sum(site["measured"][step] for step in STEPS), site["measured"]["total_ms"], places=6)
        self.assertLessEqual(site["measured"]["total_ms"], site["whole_ms"] + 1e-6)
        notes = " ".join(json.loads(line).get("note", "") for line in done.stderr.splitlines())
        return answer, notes
