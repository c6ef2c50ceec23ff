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

    def sent_to_a_cut(self):
        """The bytes of the worker's answers to a run: six of ten until it is ready, and then what it has computed."""
        pipe = Pipe(self.worker_port, None, None, answers=True)
        site = self.cuts(pipe.port)[0]["site"]
        pipe.close()
        self.assertEqual(site["way"], "cut", site)
        return pipe.sent

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
        self.assertGreater(site["measured"]["load_ms"], 0)
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
        site = self.site(self.port, f'worker = "127.0.0.1:{self.worker_port}"\n')
        words = ["run", self.model, self.photo, "--site", site, "--way", "cut", "--on-command", "--json"]
        asks = json.dumps({"do": "photo", "photo": str(self.photo), "way": "cut"}) + "\n"
        done = subprocess.run([cli_testing.METE, *map(str, words)], input=2 * asks, capture_output=True, text=True,
                              timeout=cli_testing.LONG_S, env={**os.environ, **self.cache})
        self.assertEqual(done.returncode, OK, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([answer["site"]["way"] for answer in answers], 3 * ["cut"], done.stderr)
        layers = [next(way["cut"]["layers_on_device"] for way in answer["site"]["ways"] if way["way"] == "cut") for answer in answers]
        if layers[2] == layers[1]:  # else the figures that were learned have moved the cut
            self.assertLess(answers[2]["site"]["measured"]["load_ms"], answers[0]["site"]["measured"]["load_ms"])
        tops = [answer["results"][0]["top"] for answer in answers]
        self.assertEqual(tops[0], tops[1])
        self.assertEqual(tops[0], tops[2])

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
        totals = {way["way"]: way["predicted"]["total_ms"] for way in site["ways"]}
        self.assertEqual(set(totals), {"device", "raw photo", "scaled photo", "cut"})
        self.assertEqual(site["planned"], min(totals, key=totals.get))

    def test_a_person_reads_the_cut(self):
        self.measure()
        site = self.site(self.port, f'worker = "127.0.0.1:{self.worker_port}"\n')
        done = mete("run", self.model, self.photo, "--site", site, "--way", "cut", "--explain", env=self.cache)
        self.assertEqual(done.returncode, OK, done.stderr)
        for text in ("cut, ", "In the cut the device computes", "guesses by their arithmetic", "upload"):
            self.assertIn(text, done.stdout)

    def test_a_worker_that_dies_in_the_middle(self):
        self.measure()
        for share in (0.1, 0.65):  # while the plan is made ready, and while the photo is computed
            killed = threading.Event()
            worker, port = self.works()

            def kill():
                os.kill(worker.pid, signal.SIGKILL)
                killed.set()

            self.measure()
            pipe = Pipe(port, share * self.sent_to_a_cut(), kill, answers=True)
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

        pipe = Pipe(self.worker_port, 0.65 * self.sent_to_a_cut(), stop, answers=True)
        answer, notes = self.cuts(pipe.port, late=1)
        pipe.close()
        os.kill(self.worker.pid, signal.SIGCONT)
        self.assertTrue(stands.is_set())
        self.expect_device(answer, notes)

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
