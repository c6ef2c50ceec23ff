"""Standard library only, so that no Ray is needed: serve_process_test.py [--mete FILE]; without the program, the parts that need none."""
import argparse
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python")]
sys.path.remove(str(pathlib.Path(__file__).resolve().parent))  # where ray.py is, which would hide Ray
from mete.serve_process import ChildOptions, ServeProcess, StartFailed, address_in, command_for, files_for, is_passed_on, model_name, threads_of

METE = None
DIGITS = ROOT / "models" / "digits.onnx"
WAIT_S = 60  # until which a process that was told to end has


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        for name in ("a.onnx", "a.toml", "labels.txt", "weights.bin", "b.onnx", "b.toml", "c.caffemodel", "c.prototxt", "versions/1/model.onnx"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).touch()

    def test_a_file_is_served_without_the_other_models_of_its_folder(self):
        self.assertEqual(sorted(files_for(self.folder / "a.onnx")), ["a.onnx", "a.toml", "labels.txt", "weights.bin"])
        self.assertEqual(sorted(files_for(self.folder / "c.caffemodel")), ["c.caffemodel", "c.prototxt", "labels.txt", "weights.bin"])
        self.assertEqual(files_for(self.folder / "a.onnx")["a.onnx"], self.folder / "a.onnx")

    def test_a_folder_of_versions_is_served_as_it_is(self):
        self.assertEqual(files_for(self.folder / "versions"), {"versions": self.folder / "versions"})

    def test_other_paths_are_refused(self):
        for path in ("nothing.onnx", "labels.txt"):
            with self.assertRaisesRegex(StartFailed, path):
                files_for(self.folder / path)

    def test_names(self):
        self.assertEqual([model_name(path) for path in ("m/a.onnx", "m/net.v1.onnx", "m/net", "m/net.v1")], ["a", "net.v1", "net", "net.v1"])


class Words(unittest.TestCase):
    def test_a_thread_for_each_whole_core_and_at_least_one(self):
        self.assertEqual([threads_of(cpus) for cpus in (0.1, 0.5, 1, 1.5, 2, 4.9)], [1, 1, 1, 1, 2, 4])

    def flag(self, words, flag):
        return words[words.index(flag) + 1]

    def test_a_child_has_room_for_all_requests_that_its_replica_lets_in(self):
        for threads, most in ((1, 16), (3, 16), (2, 1), (4, 1000)):
            words = command_for(ChildOptions(threads=threads, most_requests=most), "folder")
            self.assertGreaterEqual(int(self.flag(words, "--queue")) * int(self.flag(words, "--slots")), most)
            self.assertEqual(self.flag(words, "--threads"), str(threads))

    def test_a_token_is_demanded_where_there_is_one(self):
        self.assertNotIn("--token", command_for(ChildOptions(), "folder"))
        self.assertEqual(self.flag(command_for(ChildOptions(token_file="secret"), "folder"), "--token"), "secret")

    def test_the_address_is_read_when_the_text_is_whole(self):
        text = json.dumps({"listening": "http://127.0.0.1:81", "models": []}, indent=2)
        self.assertEqual(address_in(text), "http://127.0.0.1:81")
        self.assertIsNone(address_in(text[:-1]))


class PassedOn(unittest.TestCase):
    def test_what_all_replicas_answer_alike(self):
        for method, path in (("GET", "/v2"), ("GET", "/v2/"), ("GET", "/v2/health/live"), ("GET", "/v2/health/ready/"), ("GET", "/v2/models/a"),
                             ("GET", "/v2/models/a/ready"), ("GET", "/v2/models/a/versions/1/ready"), ("POST", "/v2/models/a/infer"),
                             ("POST", "/v2/models/a/versions/2/infer/"), ("POST", "/v2/models/net.v1%20x/classify")):
            self.assertTrue(is_passed_on(method, path), (method, path))

    def test_nothing_else(self):
        for method, path in (("POST", "/v2/repository/models/a/load"), ("POST", "/v2/repository/index"), ("GET", "/metrics"), ("GET", "/"), ("GET", ""),
                             ("GET", "/v2/models/stats"), ("GET", "/v2/models/a/stats"), ("GET", "/v2/models/a/infer"), ("POST", "/v2/models/a"),
                             ("DELETE", "/v2/models/a"), ("POST", "/v2/models/a/x/infer"), ("POST", "/v2/models/a/infer\n"), ("GET", "/v2/models/")):
            self.assertFalse(is_passed_on(method, path), (method, path))


class Child(unittest.TestCase):
    def setUp(self):
        if not METE:
            self.skipTest("no --mete")

    def start(self, on_death=None, model=DIGITS, **options):
        child = ServeProcess(model, ChildOptions(mete=METE, **options), on_death)
        self.addCleanup(child.close)
        return child

    def test_serves_the_model_and_ends(self):
        child = self.start()
        status, body = child.get("/v2/models/digits")
        self.assertEqual((status, json.loads(body)["name"]), (200, "digits"))
        folder = child._folder.name
        child.close()
        self.assertFalse(child.alive())
        self.assertFalse(os.path.exists(folder))
        child.close()

    def test_serves_a_folder_of_versions(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "net"
        (folder / "3").mkdir(parents=True)
        (folder / "3" / "model.onnx").write_bytes(DIGITS.read_bytes())
        self.assertEqual(json.loads(self.start(model=folder).get("/v2/models/net")[1])["versions"], ["3"])

    def test_ends_by_a_signal_that_the_starting_thread_blocks(self):
        old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        self.addCleanup(signal.pthread_sigmask, signal.SIG_SETMASK, old)
        child = self.start(drain_s=WAIT_S)
        child.close()
        self.assertEqual(child._child.returncode, 0)  # it was not killed

    def test_callers_need_the_token_and_this_process_has_it(self):
        file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "token"
        subprocess.run([METE, "keys", "token", file], check=True, capture_output=True)
        child = self.start(token_file=str(file))
        self.assertEqual(child.get("/v2/models/digits")[0], 200)
        child.token = "another"
        self.assertEqual(child.get("/v2/models/digits")[0], 401)

    def test_a_death_is_told_and_an_end_that_was_asked_for_is_not(self):
        died = threading.Event()
        child = self.start(on_death=died.set)
        os.kill(child.pid, signal.SIGKILL)
        self.assertTrue(died.wait(WAIT_S))
        self.assertFalse(child.alive())
        self.assertFalse(os.path.exists(child._folder.name))
        died.clear()
        ended = self.start(on_death=died.set)
        ended.close()
        ended._owner.join(WAIT_S)
        self.assertFalse(died.is_set())

    def test_a_model_that_cannot_be_served_is_an_error_and_leaves_no_process(self):
        file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "bad.onnx"
        file.write_bytes(b"no model")
        with self.assertRaisesRegex(StartFailed, "bad"):
            self.start(model=file)

    def test_a_program_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(StartFailed, "no such program"):
            ServeProcess(DIGITS, ChildOptions(mete="/nowhere/mete"))

    def test_ends_with_its_parent(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())  # a killed process leaves its links behind
        code = ("import sys; from mete.serve_process import *\n"
                f"child = ServeProcess({str(DIGITS)!r}, ChildOptions(mete={METE!r}))\nprint(child.pid, flush=True)\nsys.stdin.read()")
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "TMPDIR": folder}) as parent:
            child = os.pidfd_open(int(parent.stdout.readline()))
            self.addCleanup(os.close, child)
            parent.kill()
        self.assertTrue(select.select([child], [], [], WAIT_S)[0], "the server outlives its parent")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mete", metavar="FILE")
    flags, rest = parser.parse_known_args()
    METE = flags.mete
    unittest.main(argv=[sys.argv[0], *rest])
