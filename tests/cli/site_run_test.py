"""Runs `mete run --site` with `mete serve` on this host, and with servers that fail. Standard library only."""
import http.server
import json
import os
import shutil
import signal
import socket
import threading

import cli_testing
from cli_testing import OK, USAGE, BAD_FILE, mete
from onnx_files import model
from site_testing import Pipe, SiteCase

WAYS = {"device": "device", "raw": "raw photo", "scaled": "scaled photo"}


class Full(http.server.BaseHTTPRequestHandler):
    """Is there, and has no place for a request."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200, b'{"live": true}')

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(429, b'{"error": "as many requests wait as may"}')

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "3")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class SiteRuns(SiteCase):
    def test_each_way_has_the_same_answer(self):
        alone = self.answer("run", self.model, self.photo, env=self.cache)["results"][0]
        for way, name in WAYS.items():
            for _ in range(2):  # the second time with what the first one kept
                answer, notes = self.runs(self.port, "--way", way)
                self.assertEqual(answer["site"]["way"], name, notes)
                self.assertNotIn("instead", notes)
                self.assertNotIn("not the server", notes)
                result = answer["results"][0]
                self.assertEqual(result.keys(), alone.keys())
                self.assertEqual([t["class"] for t in result["top"]][0], alone["top"][0]["class"])
                self.assertEqual(result["top"][0]["label"], alone["top"][0]["label"])
                self.assertEqual(result["outputs"][0]["shape"], alone["outputs"][0]["shape"])
                self.assertEqual(answer["site"]["measured"]["upload_ms"] > 0, way != "device")

    def test_what_is_found_is_drawn_from_each_way(self):
        # One box in the form of ssd-rows, whatever the picture is.
        rows = [0, 1, 0.9, 0.25, 0.25, 0.75, 0.5]
        nodes = [("GlobalAveragePool", ["image"], ["mean"]), ("Mul", ["mean", "zero"], ["nothing"]), ("Add", ["nothing", "rows"], ["found"])]
        net = self.models / "boxes.onnx"
        net.write_bytes(model([("image", [1, 1, 16, 16])], nodes, ["found"], weights=[("zero", [1, 1, 1, 1], [0.0]), ("rows", [1, 1, 1, 7], rows)]))
        net.with_suffix(".toml").write_text('head = "ssd-rows"\nstd = 255\n')
        server, port = self.serve()  # with this model, too
        self.addCleanup(self.end, server)
        self.addCleanup(net.unlink)  # the other tests' servers do without
        words = ("run", net, self.large, "--show", "boxes", "--out")
        alone, shown = self.path("alone.png"), self.path("shown.png")
        boxes = self.answer(*words, alone, env=self.cache)["results"][0]["boxes"]
        self.assertEqual(boxes[0]["box"], [50, 37.5, 150, 75])
        for way, name in WAYS.items():
            answer = self.answer(*words, shown, "--site", self.site(port), "--way", way, env=self.cache)
            self.assertEqual((answer["site"]["way"], answer["results"][0]["boxes"]), (name, boxes))
            self.assertEqual(shown.read_bytes(), alone.read_bytes())
            shown.unlink()
        done = mete(*words, shown, "--site", self.site(port), "--on-command", "--json", env=self.cache)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn("got --show", done.stderr)

    def test_the_plan_is_the_least_and_is_kept(self):
        first = self.runs(self.port)[0]["site"]
        self.assertIn("measured_first", first)
        second = self.runs(self.port)[0]["site"]
        self.assertNotIn("measured_first", second)
        totals = {way["way"]: way["predicted"]["total_ms"] for way in second["ways"] if "predicted" in way}
        self.assertEqual(set(totals), set(WAYS.values()))
        self.assertEqual(second["planned"], min(totals, key=totals.get))
        self.assertEqual(second["way"], second["planned"])

    def test_the_least_energy_by_the_devices_power(self):
        words = ("run", self.model, self.photo, "--json")
        watts = "[power]\nidle_w = {{ value = 0.01, source = \"a test\" }}\ncompute_w = {{ value = {}, source = \"a test\" }}\n" \
                "sent_nj_per_byte = {{ value = {}, source = \"a test\" }}\n"
        self.runs(self.port)  # nothing is left to measure
        site = self.site(self.port)
        for compute_w, sent_nj, ways in ((100, 0, ("raw photo", "scaled photo")), (0, 1e6, ("device",))):
            with open(site, "a") as file:
                file.write(watts.format(compute_w, sent_nj))
            done = self.answer(*words[:-1], "--site", site, "--objective", "energy", env=self.cache)["site"]
            self.assertEqual(done["objective"], "energy")
            self.assertIn(done["way"], ways)
            joules = {way["way"]: way["joules"] for way in done["ways"] if "joules" in way}
            self.assertEqual(done["planned"], min(joules, key=joules.get))
            told = mete(*words[:-1], "--site", site, "--objective", "energy", "--explain", env=self.cache).stdout
            self.assertRegex(told, r"photo: .* predicted, .*J\n")
            site = self.site(self.port)
        site = self.site(self.port, "", late=1)
        with open(site, "a") as file:
            file.write(watts.format(100, 0))
        # no way is in time, and the soonest one is awaited as long as without a deadline
        done = self.answer(*words[:-1], "--site", site, "--objective", "energy", "--deadline-ms", "0.001", "--way", "raw", env=self.cache)["site"]
        self.assertEqual((done["chosen"], done["way"]), ("raw photo", "raw photo"), done)
        site = self.site(self.port)
        self.assertEqual(self.answer(*words[:-1], "--site", site, "--objective", "throughput", env=self.cache)["site"]["objective"], "throughput")
        for flags, text in ((("--objective", "energy"), "expected [power] with idle_w and compute_w"),
                            (("--objective", "latency=30ms"), "expected one of: latency"), (("--deadline-ms", "30"), "try --objective energy")):
            done = mete(*words, "--site", site, *flags, env=self.cache)
            self.assertIn(done.returncode, (USAGE, BAD_FILE))
            self.assertIn(text, done.stderr)

    def test_a_process_answers_photos_on_command(self):
        commands = [{"do": "plan", "photo": str(self.photo)}, {"do": "photo", "photo": str(self.large), "way": "scaled"}, {"do": "settle"},
                    {"do": "release"}, {"do": "photo", "photo": str(self.photo), "way": "device"}]
        done = mete("run", self.model, self.photo, "--site", self.site(self.port), "--way", "raw", "--json", "--on-command", env=self.cache,
                    stdin="".join(json.dumps(c) + "\n" for c in commands))
        self.assertEqual(done.returncode, OK, done.stderr)
        first, plan, scaled, settled, released, device = map(json.loads, done.stdout.splitlines())
        self.assertEqual([a["site"]["way"] for a in (first, scaled, device)], ["raw photo", "scaled photo", "device"])
        self.assertEqual(first["results"][0]["top"][0]["class"], device["results"][0]["top"][0]["class"])
        self.assertEqual((settled, released), ({"settled": True}, {"released": True}))
        self.assertGreater(scaled["begin_ns"], first["begin_ns"])
        self.assertEqual(set(plan["states"]), {"resident", "evicted", "killed", "cold", "first-ever"})
        for state in plan["states"].values():
            self.assertLessEqual(set(WAYS.values()), {way["way"] for way in state["ways"]})
            self.assertIn(state["choice"], [way["way"] for way in state["ways"]])
        for wrong in ('{"do": "dance"}', "no JSON", '{"do": "photo", "photo": "x.png", "way": "best", "give_up_ms": -1}'):
            done = mete("run", self.model, self.photo, "--site", self.site(self.port), "--json", "--on-command", env=self.cache, stdin=wrong + "\n")
            self.assertNotEqual(done.returncode, OK, wrong)

    def kept(self, what):
        """What is kept of the device, of this kind: by state."""
        kept = [json.loads(path.read_text())["device"] for path in self.path("cache").rglob("*.json") if '"exchanges"' in path.read_text()]
        return next(device[what] for device in kept if "compute_ms" in device)

    def test_a_process_without_a_session_starts_once(self):
        self.runs(self.port)  # nothing is left to measure
        for way in ("scaled", "raw"):
            ask = json.dumps({"do": "photo", "photo": str(self.photo), "way": way}) + "\n"
            done = mete("run", self.model, self.photo, "--site", self.site(self.port), "--way", way, "--json", "--on-command", env=self.cache, stdin=2 * ask)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertEqual([json.loads(line)["site"]["state"] for line in done.stdout.splitlines()], 3 * ["killed"])
        counts = {state: len(times) for state, times in self.kept("start_ms").items()}
        self.assertEqual(counts, {"killed": 2, "resident": 4})
        decoded = {state: len(times) for state, times in self.kept("decode").items()}
        self.assertEqual(decoded["killed"], 2)  # what the first run has measured, and a process's first one

    def test_steps_are_foreseen_as_they_are_measured(self):
        server, port = self.serve()
        self.runs(port)  # nothing is left to measure
        self.end(server)
        site = self.runs(port, "--way", "raw")[0]["site"]
        self.assertEqual((site["way"], site["chosen"]), ("device", "raw photo"))
        for of in ("predicted", "measured"):  # the time of having asked
            self.assertGreater(site[of]["upload_ms"], 0)
        self.answer("profile", "--starts", self.model, "--rounds", 1, env=self.cache)
        words = ("run", self.model, self.photo, "--site", self.site(self.port))
        site = self.answer(*words, env=self.cache)["site"]  # measures first, hence starts nothing
        self.assertEqual(site["process_ms"], 0)
        site = self.answer(*words, env=self.cache)["site"]
        self.assertGreater(site["process_ms"], 0)
        self.assertGreaterEqual(site["predicted"]["load_ms"], site["process_ms"])
        self.assertIn("The process's own start before that took", mete(*words, "--explain", env=self.cache).stdout)

    def test_the_load_has_what_is_not_kept_as_terms(self):
        """squeezenet, whose weights are large enough to be kept. Nobody listens, so that the device answers."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            site = self.site(listener.getsockname()[1])
        words = ("run", self.net, self.picture, "--site", site, "--cache-weights")

        def device(*more):
            way = self.answer(*words, *more, env=self.cache)["site"]["ways"][0]
            return way["predicted"]["load_ms"], {term["part"]: term for term in way.get("load_terms", [])}

        def told():
            done = mete(*words, "--explain", env=self.cache)
            self.assertEqual(done.returncode, OK, done.stderr)
            return done.stdout

        device()  # measures a session, which packs and keeps weights
        _, terms = device()
        self.assertEqual({part: term["is_missing"] for part, term in terms.items()}, {"weights": False, "timings": True})
        _, terms = device()  # a load with weights was seen by now
        self.assertEqual(list(terms), ["timings"])
        self.assertNotIn("ms", terms["timings"])  # nobody has measured it
        self.assertIn("timings are not kept: no session has kept them yet; what they add to the load is not known", told())
        starts = self.answer("profile", "--starts", self.net, "--rounds", 1, env=self.cache)["costs"]
        _, terms = device()
        self.assertAlmostEqual(terms["timings"]["ms"], max(0, starts["without_timings"]["ms"] - starts["killed"]["ms"]), places=6)
        self.assertIn(" ms of the load, because timings are not kept: ", told())
        commands = json.dumps({"do": "photo", "photo": str(self.picture), "way": "device"}) + "\n" + json.dumps({"do": "settle"}) + "\n"
        self.assertEqual(mete(*words, "--json", "--on-command", env=self.cache, stdin=commands).returncode, OK)
        self.assertEqual(device()[1], {})
        shutil.rmtree(self.path("cache") / "weights")
        _, terms = device()  # which writes them again
        self.assertEqual(list(terms), ["weights"])
        self.assertRegex(terms["weights"]["why"], r"^weights/.*\.packed is not there$")
        self.assertAlmostEqual(terms["weights"]["ms"], max(0, starts["without_weights"]["ms"] - starts["killed"]["ms"]), places=6)
        self.assertEqual(device()[1], {})
        shutil.rmtree(self.path("cache") / "tuning")
        self.assertEqual(list(device()[1]), ["timings"])

    def test_a_person_reads_the_steps(self):
        done = mete("run", self.model, self.photo, "--site", self.site(self.port), "--explain", env=self.cache)
        self.assertEqual(done.returncode, OK, done.stderr)
        for text in ("predicted", "measured", "preprocess", "upload", "comes next with", "round trip"):
            self.assertIn(text, done.stdout)

    def test_a_server_that_dies_in_the_middle(self):
        for way in ("raw", "scaled"):
            server, port = self.serve()
            killed = threading.Event()

            def kill():
                os.kill(server.pid, signal.SIGKILL)
                server.wait()
                killed.set()

            photo = self.large
            self.runs(port, "--way", way, photo=photo)  # nothing is left to ask
            sent = self.runs(port, "--way", way, photo=photo)[0]["site"]
            self.assertEqual(sent["way"], WAYS[way])
            # the pipe has another port, hence another memory: the server is asked for its times first
            pipe = Pipe(port, 1500, kill)
            answer, notes = self.runs(pipe.port, "--way", way, photo=photo)
            pipe.close()
            self.end(server)
            self.assertTrue(killed.is_set())
            self.assertEqual(answer["site"]["way"], "device")
            self.assertEqual(answer["site"]["chosen"], WAYS[way])
            self.assertIn("cannot", answer["site"]["fell_back"])
            self.assertIn("this device answers", notes)
            self.assertEqual(answer["results"][0]["top"][0]["class"],
                             self.answer("run", self.model, photo, env=self.cache)["results"][0]["top"][0]["class"])

    def test_a_server_that_stands_still_is_given_up(self):
        server, port = self.serve()
        stands = threading.Event()

        def stop():
            if not stands.is_set():
                os.kill(server.pid, signal.SIGSTOP)
                os.waitpid(server.pid, os.WUNTRACED)  # its threads run on until the one that gets the signal has been scheduled
                stands.set()

        pipe = Pipe(port, 1500, stop)
        answer, notes = self.runs(pipe.port, "--way", "raw", photo=self.large, late=1)
        pipe.close()
        os.kill(server.pid, signal.SIGCONT)
        self.end(server)
        self.assertTrue(stands.is_set())
        self.assertEqual(answer["site"]["way"], "device")
        self.assertIn("this device answers", notes)

    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        answer, notes = self.runs(port, "--way", "raw")
        self.assertEqual(answer["site"]["way"], "device")
        self.assertIn("cannot connect", notes)
        self.assertIn("cannot connect", answer["site"]["fell_back"])
        answer, notes = self.runs(port)
        self.assertNotIn("fell_back", answer["site"])
        self.assertIn("cannot connect", answer["site"]["no_server"])

    def test_a_server_that_is_full(self):
        full = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Full)
        threading.Thread(target=full.serve_forever, daemon=True).start()
        answer, notes = self.runs(full.server_port, "--way", "scaled")
        full.shutdown()
        full.server_close()
        self.assertEqual(answer["site"]["way"], "device")
        self.assertIn("429", notes)
        self.assertIn("after 3 s", notes)

    def test_another_model_there(self):
        answer, notes = self.runs(self.port)
        done = mete("run", self.model, self.photo, "--site", self.site(self.port, 'model = "none"\n'), "--way", "raw", "--json",
                    env={"METE_CACHE": str(self.path("other"))})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(json.loads(done.stdout)["site"]["way"], "device")
        self.assertIn("404", done.stderr)

    def test_a_server_that_asks_for_keys_and_a_token(self):
        keys, token = self.path("keys"), self.path("token")
        self.assertEqual(mete("keys", "make", keys, "server=127.0.0.1", "phone").returncode, OK)
        self.assertEqual(mete("keys", "token", token).returncode, OK)
        server, port = self.serve("--keys", keys / "server", "--token", token)
        proof = f'keys = "{keys / "phone"}"\ntoken = "{token}"\n'
        for more, way in ((proof, "raw photo"), ("", "device")):
            done = mete("run", self.model, self.photo, "--site", self.site(port, more), "--way", "raw", "--json", env=self.cache)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertEqual(json.loads(done.stdout)["site"]["way"], way, done.stderr)
        self.end(server)

    def test_mistakes(self):
        site = self.site(self.port)
        self.fails(USAGE, "--way", "run", self.model, self.photo, "--way", "raw")
        self.fails(USAGE, "--way", "run", self.model, self.photo, "--site", site, "--way", "north")
        self.fails(USAGE, "the request is one photo", "run", self.model, self.photo, self.photo, "--site", site)
        wrong = self.path("wrong.toml", b'name = "a"\ncolour = 3\n[server]\naddress = "nowhere"\n[link]\nprofile = "5g"\n')
        for problem in ("unknown key 'colour'", "expected HOST:PORT", "'5g'"):
            self.fails(BAD_FILE, problem, "run", self.model, self.photo, "--site", wrong)
        alone = self.path("alone.toml", b'name = "a"\n')
        self.fails(BAD_FILE, "has no server that is there", "run", self.model, self.photo, "--site", alone)
        damaged = self.path("damaged.png", b"\x89PNG\r\n\x1a\nnothing")
        self.fails(BAD_FILE, "damaged.png", "run", self.model, damaged, "--site", site)


if __name__ == "__main__":
    cli_testing.main()
