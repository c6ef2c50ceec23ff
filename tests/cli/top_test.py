"""mete top as lines and as JSON: a session, a pool, a server and a worker, those that go away, and what is no source. Standard library only."""
import contextlib
import http.server
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import unittest

import cli_testing
from cli_testing import BAD_FILE, CANCELLED, FAILURE, OK, USAGE, Cli, mete
from worker_test import DIVIDED, OWN, Worker

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
sys.path.insert(0, str(ROOT / "tests" / "serve"))
from served import Served  # noqa: E402

QUICK = ["--interval", "0.1"]


class Top:
    """A `mete top --json` that goes on; each line is a view."""

    def __init__(self, *args):
        self.process = subprocess.Popen([cli_testing.METE, "top", *map(str, args), *QUICK, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def until(self, holds):
        """The first view for which this holds. A command that never gets there ends, so that its test fails."""
        late = threading.Timer(cli_testing.LONG_S, self.process.kill)
        late.start()
        try:
            for line in self.process.stdout:
                view = json.loads(line)
                if holds(view):
                    return view
        finally:
            late.cancel()
        raise AssertionError(f"no such view; it said: {self.process.stderr.read()}")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=cli_testing.LONG_S)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def computes(view):
    return any((row["requests_per_s"] or 0) > 0 for row in view["models"])


class Metrics(http.server.BaseHTTPRequestHandler):
    """Answers /metrics with `text` of the server."""

    def do_GET(self):
        body = self.server.text
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # the caller has read enough
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def telling(text):
    """The address of a server whose metrics are this text."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metrics) as server:
        server.text = text if isinstance(text, bytes) else text.encode()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server, f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


class Sessions(Cli):
    def checked(self, view):
        for row in view["processors"]:
            if row["busy"] is not None:
                self.assertGreaterEqual(row["busy"], 0)
                self.assertLessEqual(row["busy"], 1)
        self.assertGreater(view["memory"]["resident_bytes"], 1 << 20)
        return view

    def test_a_model_on_this_machine(self):
        with Top(self.net, "--threads", 2) as top:
            view = self.checked(top.until(computes))
            self.assertEqual(top.end(), OK, "without --count an interrupt is the end")
        self.assertEqual([m["name"] for m in view["models"]], ["net"])
        self.assertEqual(len(view["processors"]), 2)
        self.assertTrue(view["processors"][0]["name"].startswith("thread 0"))
        self.assertGreater(view["models"][0]["p99_ms"], 0)
        self.assertLessEqual(view["models"][0]["median_ms"], view["models"][0]["p99_ms"])
        self.assertGreater(view["memory"]["activations_bytes"], 0)
        self.assertGreater(view["memory"]["packed_weights_bytes"], 0)

    def test_a_model_on_several_processors(self):
        with Top(MODELS / "digits.onnx", "--processors", "cpu:0,cpu:0", "--planner", "layerwise") as top:
            self.assertEqual(top.process.wait(cli_testing.LONG_S), USAGE, "a core twice")
        with Top(MODELS / "digits.onnx", "--processors", "cpu") as top:
            view = self.checked(top.until(lambda v: computes(v) and v["models"][0]["measured_ms"]))
            self.assertEqual(top.end(), OK)
        self.assertGreater(view["models"][0]["predicted_ms"], 0)
        self.assertGreaterEqual(view["models"][0]["plans"], 1)
        self.assertEqual(view["models"][0]["processors_lost"], 0)
        self.assertTrue(view["plan"])
        self.assertTrue(all(row["busy"] is not None for row in view["processors"]))

    def test_lines_for_people(self):
        done = mete("top", self.net, "--count", 2, *QUICK)
        self.assertEqual(done.returncode, OK, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertRegex(line, r"^session of net.onnx: net .* requests/s, median .*, p99 .*; thread 0.* busy; memory [\d.]+ MiB$")

    def test_with_a_count_an_interrupt_is_none_of_its_ends(self):
        with Top(self.net, "--count", 1000000) as top:
            top.until(lambda view: True)
            self.assertEqual(top.end(), CANCELLED)

    def test_hostile_names_stay_text(self):
        net = self.path("\x1b[31mred.onnx", pathlib.Path(self.net).read_bytes())
        done = mete("top", net, "--count", 1, *QUICK)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertNotIn("\x1b", done.stdout)
        done = mete("top", net, "--count", 1, *QUICK, "--json")
        self.assertNotIn("\x1b", done.stdout)

    def test_mistakes(self):
        self.fails(USAGE, "expected a model, the address of a server, or --worker", "top")
        self.fails(USAGE, "got a model or server and --worker", "top", self.net, "--worker", "127.0.0.1:7077")
        self.fails(USAGE, "expected 0.05 to 3600", "top", self.net, "--interval", "0")
        self.fails(USAGE, "expected 1 to", "top", self.net, "--count", "0")
        self.fails(USAGE, "[--token] is for servers and workers", "top", self.net, "--token", self.net)
        self.fails(USAGE, "[--threads] is of a model", "top", "127.0.0.1:9", "--threads", "2")
        self.fails(USAGE, "[--seed] is of a model", "top", "--worker", "127.0.0.1:9", "--seed", "2")
        self.fails(USAGE, "expected HOST:PORT", "top", "http://somewhere")
        self.fails(USAGE, "try --keys FOLDER", "top", "https://127.0.0.1:9")
        self.fails(USAGE, "[--worker] is not an address", "top", "--worker", "somewhere")
        self.fails(BAD_FILE, "missing.onnx", "top", self.root / "missing.onnx")
        self.fails(FAILURE, "[127.0.0.1:9] cannot connect", "top", "127.0.0.1:9")
        self.fails(FAILURE, "cannot be reached", "top", "--worker", "127.0.0.1:9")


class Servers(Cli):
    def setUp(self):
        self.repository = self.path("models")
        self.repository.mkdir()
        for name in ("digits.onnx", "digits.toml", "digits.labels.txt"):
            shutil.copy(MODELS / name, self.repository)
        self.ended = threading.Event()

    def serve(self, *flags, port=0):
        return Served(cli_testing.METE, self.repository, "--slots", "1", "--threads", "1", "--tune", "never", *flags, port=port, log="none")

    def ask(self, server):
        """Asks until the test has ended."""
        picture = (MODELS / "digit.png").read_bytes()
        while not self.ended.is_set():
            server.ask("POST", "/v2/models/digits/classify", picture)
            server.ask("POST", "/v2/models/missing/classify", picture)

    def test_a_server_that_answers_requests(self):
        with self.serve() as server, Top(f"http://127.0.0.1:{server.port}") as top:
            asking = threading.Thread(target=self.ask, args=[server])
            asking.start()
            try:
                view = top.until(lambda v: computes(v) and any(p["busy"] for p in v["processors"]))
                failed = top.until(lambda v: any((m["failed_per_s"] or 0) > 0 for m in v["models"]))
            finally:
                self.ended.set()
                asking.join()
            self.assertEqual(top.end(), OK)
        digits = next(m for m in view["models"] if m["name"] == "digits 1")
        self.assertGreater(digits["requests_per_s"], 0)
        self.assertGreater(digits["p99_ms"], 0)
        self.assertEqual(digits["failed"], 0)
        self.assertIsNotNone(digits["waiting"])
        self.assertIsNotNone(digits["queue_ms"])
        self.assertEqual([p["name"] for p in view["processors"]], ["slot 0, cpu"])
        self.assertGreater(view["uptime_s"], 0)
        self.assertGreater(view["memory"]["peak_bytes"], 1 << 20)
        self.assertIsNotNone(view["predicted_wait_ms"])
        self.assertEqual("(no such model)", failed["models"][-1]["name"])

    def test_a_server_that_goes_away_and_comes_back(self):
        with self.serve() as server, Top(f"127.0.0.1:{server.port}") as top:
            top.until(lambda v: v["silent_s"] is None)
            server.end()
            silent = top.until(lambda v: v["silent_s"] is not None)
            self.assertIn("cannot connect", silent["problem"])
            self.assertEqual([m["name"] for m in silent["models"]], ["digits 1"], "what it said last")
            with self.serve(port=server.port):
                top.until(lambda v: v["silent_s"] is None)
            self.assertEqual(top.end(), OK)

    def test_the_last_interval_without_an_answer_is_a_failure(self):
        with self.serve() as server, Top(f"127.0.0.1:{server.port}", "--count", 1000000) as top:
            top.until(lambda v: True)
            server.end()
            top.until(lambda v: v["silent_s"] is not None)
            self.assertEqual(top.end(), CANCELLED)

    def test_a_server_with_a_token(self):
        token = self.path("token", b"sixteen-letters!\n")
        token.chmod(0o600)
        with self.serve("--token", token) as server:
            self.fails(USAGE, "answers 401", "top", f"127.0.0.1:{server.port}", "--count", 1)
            self.answer("top", f"127.0.0.1:{server.port}", "--token", token, "--count", 1, *QUICK)

    def test_a_server_on_several_processors(self):
        with self.serve("--processors", "cpu") as server, Top(f"127.0.0.1:{server.port}") as top:
            view = top.until(lambda v: v["models"] and v["models"][0]["predicted_ms"])
            self.assertEqual(view["models"][0]["processors_lost"], 0)
            self.assertIn("cpu", [p["name"] for p in view["processors"]])

    def test_what_tells_no_metrics_of_mete(self):
        for text, told in (("<html>", "line 1 of its metrics is no sample"), ("go_goroutines 7\n", "tells no figures of mete serve"),
                           (b"mete_build_info 1\nnet{a=\"\x1b[31m\n", "line 2"), (b"#" * (17 << 20), "")):
            with telling(text) as (_, address):
                message = self.fails(BAD_FILE, told, "top", address, "--count", 1)
                self.assertNotIn("\x1b", message)

    def test_figures_that_are_none_give_no_rates(self):
        head = 'mete_build_info{version="0"} 1\n'
        with telling(head + 'mete_requests_total{model="net",version="1",outcome="OK"} 1000\nprocess_cpu_seconds_total 50\n') as (server, address):
            with Top(address) as top:
                top.until(lambda v: v["models"][0]["requests_per_s"] == 0)
                server.text = (head + 'mete_requests_total{model="net",version="1",outcome="OK"} 3\nprocess_cpu_seconds_total NaN\n'
                               'mete_requests_waiting -1\n').encode()
                view = top.until(lambda v: v["models"][0]["requests_per_s"] is None)
                self.assertIsNone(view["cpu_cores"])
                self.assertIsNone(view["waiting"])
                top.until(lambda v: v["models"][0]["requests_per_s"] == 0)


class Workers(Cli):
    def test_a_worker_that_computes_for_a_caller(self):
        with Worker() as worker:
            idle = self.answer("top", "--worker", worker.address, "--count", 1, *QUICK)
            self.assertEqual(idle["models"][0]["requests_per_s"], 0)
            self.assertEqual(idle["deployments"], 0)
            self.assertEqual(idle["memory"]["resident_bytes"] > 0, True)
            text = f'name = "home"\ninsecure = true\n{OWN}[[device]]\nname = "other"\naddress = "{worker.address}"\n'
            file = self.path("home.toml", text.encode())
            self.assertEqual(mete("profile", MODELS / "digits.onnx", "--processors", file).returncode, OK)
            with Top("--worker", worker.address) as top:
                caller = subprocess.Popen([cli_testing.METE, "bench", MODELS / "digits.onnx", "--processors", file, *DIVIDED, "--seconds", "600"],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    view = top.until(computes)
                finally:
                    caller.kill()
                    caller.wait()
                self.assertEqual(top.end(), OK)
        self.assertEqual(view["deployments"], 1)
        self.assertGreater(view["models"][0]["median_ms"], 0)
        self.assertGreater(view["memory"]["for_shares_bytes"], 0)

    def test_a_worker_with_a_token(self):
        token = self.path("token", b"sixteen-letters!\n")
        token.chmod(0o600)
        with Worker("--token", token) as worker:
            self.fails(USAGE, "the token is missing or wrong", "top", "--worker", worker.address, "--count", 1)
            self.answer("top", "--worker", worker.address, "--token", token, "--count", 1, *QUICK)

    def test_a_worker_with_keys(self):
        keys = self.path("keys")
        self.assertEqual(mete("keys", "make", keys, "laptop", "pi-1").returncode, OK)
        with Worker("--keys", keys / "pi-1") as worker:
            self.answer("top", "--worker", worker.address, "--keys", keys / "laptop", "--name", "pi-1", "--count", 1, *QUICK)
            self.fails(FAILURE, "try", "top", "--worker", worker.address, "--count", 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *cli_testing.read_arguments()])
