"""Runs `mete run --site --way cut` with `mete serve` and `mete worker` on this host, and with workers that fail. Standard library only."""
import json
import os
import signal
import socket
import subprocess
import threading

import cli_testing
from cli_testing import OK, BAD_FILE, mete
from site_testing import Pipe, SiteCase


class SiteCuts(SiteCase):
    def setUp(self):
        super().setUp()
        self.worker, self.worker_port = self.works()

    def tearDown(self):
        self.end(self.worker)

    def works(self, *words):
        """A worker that keeps its weights in this test's folder."""
        worker, says = self.listens("worker", "--listen", "127.0.0.1:0", *words, env={"METE_CACHE": str(self.path("there"))})
        return worker, int(says["listening"].rsplit(":", 1)[1])

    def cuts(self, port=None, *words, way="cut", late=1000):
        """The JSON and the notes of a run with this port of the worker."""
        worker = f'worker = "127.0.0.1:{port or self.worker_port}"\n'
        return self.runs(self.port, "--way", way, *words, late=late, more=worker)

    def measure(self):
        """Lets the memory of the site know what a cut takes."""
        site = self.cuts()[0]["site"]
        self.assertEqual(site["way"], "cut", site)
        return site

    def cut_twice(self, port, between, give_up_ms=0):
        """Both answers of a process that cuts two photos, with a call between them, and its notes. The second one may be given up."""
        site = self.site(self.port, f'worker = "127.0.0.1:{port}"\n')
        words = ["run", self.model, self.photo, "--site", site, "--way", "cut", "--on-command", "--json"]
        process = subprocess.Popen([cli_testing.METE, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, **self.cache})
        first = json.loads(process.stdout.readline())
        self.assertEqual(first["site"]["way"], "cut")
        between()
        ask = json.dumps({"do": "photo", "photo": str(self.photo), "way": "cut", "give_up_ms": give_up_ms}) + "\n"
        rest, notes = process.communicate(ask, timeout=cli_testing.LONG_S)
        self.assertEqual(process.returncode, OK, notes)
        return first, json.loads(rest), notes

    def breaks_in_a_request(self, port, broken, give_up_ms=0):
        """The answer and the notes of a run whose cut is ready when the worker breaks, at the first bytes of its answer."""
        pipe = Pipe(port, None, broken, answers=True)

        def arm():
            pipe.most = 0

        self.cut_twice(pipe.port, lambda: None)  # nothing is left to measure: the pipe's port is another site's
        _, answer, notes = self.cut_twice(pipe.port, arm, give_up_ms)
        pipe.close()
        return answer, notes

    def test_a_cut_has_the_answer_of_the_device(self):
        alone = self.answer("run", self.model, self.photo, env=self.cache)["results"][0]
        first = self.measure()
        self.assertIn("how soon a cut is ready", first["measured_first"])
        answer, notes = self.cuts()
        site = answer["site"]
        self.assertEqual((site["way"], site["chosen"]), ("cut", "cut"), notes)
        self.assertNotIn("fell_back", site)
        self.assertNotIn("measured_first", site)
        self.assertGreater(site["measured"]["upload_ms"], 0)
        result = answer["results"][0]
        self.assertEqual([t["class"] for t in result["top"]], [t["class"] for t in alone["top"]])
        self.assertEqual(result["outputs"][0]["shape"], alone["outputs"][0]["shape"])
        cut = next(way["cut"] for way in site["ways"] if way["way"] == "cut")
        self.assertTrue(0 < cut["layers_on_device"] < cut["layers"])
        self.assertGreater(cut["up_bytes"], 0)
        self.assertFalse(cut["layers_are_measured"])

    def test_the_server_may_be_the_worker(self):
        alone = self.answer("run", self.model, self.photo, env=self.cache)["results"][0]
        server, says = self.listens("serve", self.models, "--listen", "127.0.0.1:0", "--worker-listen", "127.0.0.1:0", "--log", "none",
                                    env={"METE_CACHE": str(self.path("there"))})
        for _ in range(2):
            answer, notes = self.runs(int(says["listening"].rsplit(":", 1)[1]), "--way", "cut", more=f'worker = "{says["worker"]}"\n')
            self.assertEqual(answer["site"]["way"], "cut", notes)
            self.assertEqual([t["class"] for t in answer["results"][0]["top"]], [t["class"] for t in alone["top"]])
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(timeout=cli_testing.LONG_S), OK)
        self.end(server)

    def test_a_cut_stays_ready_for_later_photos(self):
        self.measure()
        first, second, notes = self.cut_twice(self.worker_port, lambda: None)
        self.assertEqual(second["site"]["way"], "cut", notes)
        before, after = (next(way for way in answer["site"]["ways"] if way["way"] == "cut") for answer in (first, second))
        self.assertEqual(before["cut"], after["cut"])
        for of in ("predicted", "measured"):
            self.assertLess(second["site"][of]["load_ms"], first["site"][of]["load_ms"])
        self.assertEqual(first["results"][0]["top"], second["results"][0]["top"])

    def test_layers_may_be_measured(self):
        site = self.site(self.port, f'worker = "127.0.0.1:{self.worker_port}"\n')
        figures = self.answer("profile", self.model, "--processors", site, env=self.cache)[0]
        self.assertEqual(len(figures["processors"]), 2)
        self.measure()
        answer, _ = self.cuts()
        self.assertTrue(next(way["cut"]["layers_are_measured"] for way in answer["site"]["ways"] if way["way"] == "cut"))
        alone = self.site(self.port)
        self.fails(BAD_FILE, "has no worker to measure on", "profile", self.model, "--processors", alone)

    def test_the_best_way_may_be_the_cut_once_it_is_known(self):
        site = self.cuts(way="best")[0]["site"]
        self.assertIn("try --way cut once", next(way["why_not"] for way in site["ways"] if way["way"] == "cut"))
        self.measure()
        site = self.cuts(way="best")[0]["site"]
        totals = {way["way"]: way["predicted"]["total_ms"] for way in site["ways"] if "predicted" in way}
        self.assertEqual(set(totals) | {"cut"}, {"device", "raw photo", "scaled photo", "cut"})
        self.assertEqual(site["planned"], min(totals, key=totals.get))
        if "cut" not in totals:  # it is not searched for where it cannot be the soonest
            self.assertRegex(next(way["why_not"] for way in site["ways"] if way["way"] == "cut"), "^no cut can take less than .* takes ")

    def test_a_person_reads_the_cut(self):
        self.measure()
        site = self.site(self.port, f'worker = "127.0.0.1:{self.worker_port}"\n')
        done = mete("run", self.model, self.photo, "--site", site, "--way", "cut", "--explain", env=self.cache)
        self.assertEqual(done.returncode, OK, done.stderr)
        for text in ("cut, ", "In the cut the device computes", "guesses by their arithmetic", "upload"):
            self.assertIn(text, done.stdout)

    def test_a_worker_that_dies_in_the_middle(self):
        self.measure()
        for is_ready in (False, True):  # while the plan is made ready, and while the photo is computed
            killed = threading.Event()
            worker, port = self.works()

            def kill():
                os.kill(worker.pid, signal.SIGKILL)
                killed.set()

            if is_ready:
                answer, notes = self.breaks_in_a_request(port, kill)
            else:
                pipe = Pipe(port, 100, kill, answers=True)  # the first frames of a connection are as many
                answer, notes = self.cuts(pipe.port)
                pipe.close()
            self.end(worker)
            self.assertTrue(killed.is_set())
            self.expect_device(answer, notes)

    def expect_device(self, answer, notes):
        site = answer["site"]
        self.assertEqual((site["way"], site["chosen"]), ("device", "cut"))
        self.assertTrue(site["fell_back"])
        self.assertIn("this device answers", notes)
        alone = self.answer("run", self.model, self.photo, env=self.cache)["results"][0]
        self.assertEqual(answer["results"][0]["top"][0]["class"], alone["top"][0]["class"])

    def test_a_worker_that_stands_still_is_given_up(self):
        self.measure()
        stands = threading.Event()

        def stop():
            if not stands.is_set():
                os.kill(self.worker.pid, signal.SIGSTOP)
                os.waitpid(self.worker.pid, os.WUNTRACED)  # its threads run on until the one that gets the signal has been scheduled
                stands.set()

        answer, notes = self.breaks_in_a_request(self.worker_port, stop, give_up_ms=500)
        self.assertTrue(stands.is_set())
        self.expect_device(answer, notes)
        answer, notes = self.cuts(late=1)  # nothing is known now, and it is asked whether it is there
        self.expect_device(answer, notes)
        self.assertIn("has not answered in time", answer["site"]["fell_back"])
        os.kill(self.worker.pid, signal.SIGCONT)

    def test_no_worker(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        answer, notes = self.cuts(port)  # nothing is known, and it cannot be asked
        self.expect_device(answer, notes)
        self.measure()
        self.expect_device(*self.cuts(port))
        site = self.cuts(way="best")[0]["site"]  # a cut that has failed is not weighed until one works
        self.assertIn("try --way cut once", next(way["why_not"] for way in site["ways"] if way["way"] == "cut"))

    def test_a_file_without_a_worker(self):
        answer, notes = self.runs(self.port, "--way", "cut")
        self.expect_device(answer, notes)
        self.assertIn("names no worker", answer["site"]["fell_back"])
        site = self.site(self.port, 'worker = "nowhere"\n')
        self.fails(BAD_FILE, "'worker' is wrong; got 'nowhere', expected HOST:PORT", "run", self.model, self.photo, "--site", site)

    def test_a_worker_that_asks_for_keys(self):
        keys = self.path("keys")
        self.assertEqual(mete("keys", "make", keys, "server=127.0.0.1", "phone").returncode, OK)
        server, port = self.serve("--keys", keys / "server")
        worker, worker_port = self.works("--keys", keys / "server")
        for more, way in ((f'keys = "{keys / "phone"}"\n', "cut"), ("", "device")):
            answer, notes = self.runs(port, "--way", "cut", more=f'worker = "127.0.0.1:{worker_port}"\n{more}')
            self.assertEqual(answer["site"]["way"], way, notes)
        self.end(server)
        self.end(worker)


if __name__ == "__main__":
    cli_testing.main()
