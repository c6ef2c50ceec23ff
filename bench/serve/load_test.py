"""What the load generator counts, of a server that only pretends; and what load.py prints. Standard library only."""
import argparse
import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

_here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, _here)
import load

PROGRAM = None
BODY = b"0123456789" * 20000  # more than a socket takes at once


def answer(status, elements, *lines):
    body = b'{"outputs":[]}' + elements
    head = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}", "inference-header-content-length: 14", "Server-Timing: queue;dur=1, compute;dur=2.5", *lines]
    return "\r\n".join([*head, "", ""]).encode() + body


class Pretends(socketserver.ThreadingTCPServer):
    """Gives its answers in turns; None closes the connection instead."""
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answers):
        self.answers, self.bodies, self.lock = answers, [], threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            while self._one():
                pass
        except ConnectionError:
            pass

    def _one(self):
        length = None
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if length is None:
            return False
        body = self.rfile.read(length)
        with self.server.lock:
            self.server.bodies.append(body)
            made = self.server.answers[(len(self.server.bodies) - 1) % len(self.server.answers)]
        if made is None:
            return False
        self.wfile.write(made)
        return b"Connection: close" not in made


class Generator(unittest.TestCase):
    def run_with(self, answers, *flags):
        with tempfile.NamedTemporaryFile() as file, Pretends(answers) as server:
            file.write(BODY)
            file.flush()
            done = subprocess.run([PROGRAM, "--port", str(server.server_address[1]), "--path", "/x", "--body", file.name, *flags],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            server.shutdown()
            self.assertTrue(all(body == BODY for body in server.bodies))
            return json.loads(done.stdout), len(server.bodies)

    def test_answers_of_all_kinds_are_counted(self):
        right, other = answer(200, b"AAAA"), answer(200, b"AAAB")
        kinds = [right, other, answer(429, b""), None, answer(503, b"", "Connection: close")]
        result, served = self.run_with(kinds, "--seconds", "0.5")
        self.assertEqual(result["sent"], served)
        self.assertEqual(result["unanswered"], 0)
        turns = served // len(kinds)
        for count in (result["statuses"]["429"], result["statuses"]["503"], result["closed"], result["wrong"]):
            self.assertIn(count, (turns, turns + 1))
        self.assertEqual(result["statuses"]["200"] + result["statuses"]["429"] + result["statuses"]["503"] + result["closed"], served)
        self.assertEqual(result["answered_ms"]["count"], result["statuses"]["200"])
        self.assertEqual(result["refused_ms"]["count"], served - result["statuses"]["200"] - result["closed"])

    def test_arrivals_follow_from_the_seed_alone(self):
        counts = {self.run_with([answer(200, b"")], "--seconds", "0.5", "--rate", "200", "--connections", "4", "--seed", seed)[1] for seed in "77"}
        self.assertEqual(len(counts), 1)
        even, _ = self.run_with([answer(200, b"")], "--seconds", "0.5", "--rate", "200", "--arrivals", "even")
        self.assertEqual(even["sent"], 100)

    def test_flags_that_cannot_be_read(self):
        for words in (["--rate", "x"], ["--body"], ["--path", ""], ["--arrivals", "never"], []):
            done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("[serve_load]", done.stderr)


def step(sent, answered, refused, p99):
    return {"seconds": 2, "sent": sent, "closed": 1, "unanswered": 0, "wrong": 2, "statuses": {"200": answered, "429": refused},
            "answered_ms": {"count": answered, "p50": 5, "p99": p99}, "refused_ms": {"count": refused, "p99": 0.25}, "carried": answered / 2,
            "rss_mib": [50, 70, 60], "server_cores": 1.5, "generator_cores": 0.25, "connections": 4}


class Text(unittest.TestCase):
    def test_tables(self):
        result = {"closed": [step(20, 20, 0, 9)], "below": step(16, 16, 0, 10), "twice": step(40, 15, 25, 18), "after": step(16, 16, 0, 10),
                  "reloaded": step(40, 14, 26, 19), "reloads": [200, 503, 200], "exit_status": 0, "end_s": 0.5}
        text = load.text({"models": {"net": result}}, False)
        self.assertIn("p99 at twice the capacity: 1.80 times that at 0.8 of it", text)
        self.assertIn("15 x 200, 25 x 429", text)
        self.assertIn("62.5 %", text)
        self.assertIn("50 MiB at the start, 70 at most, 60 at the end", text)
        self.assertIn("otherwise than the first time: 12", text)
        self.assertIn("loaded again 3 times, 2 of them with status 200; meanwhile 14 x 200, 26 x 429", text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, metavar="FILE")
    flags, rest = parser.parse_known_args()
    PROGRAM = flags.program
    unittest.main(argv=sys.argv[:1] + rest)
