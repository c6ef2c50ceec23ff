"""mete report: the page has what was measured or saved, needs nothing else, and takes hostile names and damaged files."""
import json
import re

from cli_testing import BAD_FILE, OK, USAGE, Cli, main, mete
from onnx_files import model

MOST_BYTES = 1_000_000  # of a page


class Report(Cli):
    def page(self, *words):
        """The page's text and its values."""
        path = self.path("page.html")
        done = mete("report", *words, "-o", path)
        self.assertEqual(done.returncode, OK, done.stderr)
        text = path.read_text(encoding="utf-8")
        values = re.search(r'<script type="application/json" id="values">(.*?)</script>', text, re.S).group(1)
        return text, json.loads(values)

    def saved(self, name, *words):
        """The file with the JSON of a command."""
        done = mete(*words, "--json")
        self.assertEqual(done.returncode, OK, done.stderr)
        return self.path(name, done.stdout.encode())

    def test_a_run_of_a_model(self):
        text, values = self.page(self.net, "--threads", 2, "--runs", 3)
        self.assertLessEqual(len(text.encode()), MOST_BYTES)
        self.assertEqual(len(values["nodes"]), self.answer("inspect", self.net)["nodes"])
        timeline = values["timelines"][0]
        self.assertEqual(len(timeline["lanes"]), 2)
        names = {timeline["names"][s[1]][0] for s in timeline["slices"] if timeline["kinds"][s[2]] != "wait"}
        self.assertLessEqual(names, {n["node"] for n in values["nodes"]})
        for lane, name, kind, begin, duration in timeline["slices"]:
            self.assertLess(lane, 2)
            self.assertLess(name, len(timeline["names"]))
            self.assertGreaterEqual(begin, 0)
            self.assertGreaterEqual(duration, 0)
            self.assertLessEqual(begin + duration, timeline["total_us"] + 0.02)  # both were rounded
        self.assertGreater(values["limits"]["gflops"], 0)
        arena = values["arena"]
        self.assertEqual(len(arena["steps"]), len(values["nodes"]))
        self.assertLessEqual(max(v[1] + v[2] for v in arena["values"]), arena["bytes"])
        self.assertRegex(values["says"][0], "^A run takes .* on 2 threads: the median of 3 runs")

    def test_the_page_loads_nothing(self):
        text, _ = self.page(self.net, "--runs", 1)
        self.assertIn("default-src 'none'", text)
        for loads in (r"<script[^>]*\ssrc=", r"<link[^>]*href=\"(?!data:)", "@import", r"url\((?!#)", "<img", "<iframe"):
            self.assertIsNone(re.search(loads, text.split("<script>")[0] + text.rsplit("<script>", 1)[1]), loads)

    def test_emulated_speeds_are_told(self):
        _, values = self.page(self.net, "--cores", "0:0.5", "--runs", 1)
        self.assertIn("emulated", values["about"])
        self.assertTrue(any("emulated" in s for s in values["says"]))

    def test_a_saved_trace(self):
        trace = self.path("trace.json")
        self.assertEqual(mete("run", self.net, "--input", f"{self.input['name']}={self.tensor}", "--trace", trace).returncode, OK)
        _, values = self.page(trace)
        self.assertGreater(len(values["nodes"]), 20)
        self.assertEqual(values["timelines"][0]["kind"], "saved")
        self.assertIn("Conv", {n["op"] for n in values["nodes"]})

    def test_a_plan_for_boards_that_are_not_here(self):
        _, values = self.page(self.net, "--processors", "rk3399x6")
        self.assertEqual(len(values["plan"]["processors"]), 6)
        chosen = [c for c in values["choices"] if c["chosen"]]
        self.assertEqual(len(chosen), 1)
        alone = [c["us"] for c in values["choices"] if c["name"].endswith(" alone")]
        self.assertLessEqual(chosen[0]["us"], min(alone) * 1.000001)
        self.assertEqual(values["timelines"][0]["kind"], "simulated")
        self.assertGreater(len(values["timelines"][0]["slices"]), 0)
        self.assertEqual(values["compared"], [], "nothing was measured")

    def test_a_cpu_and_a_gpu_of_a_board(self):
        _, values = self.page(self.net, "--machine", "snapdragon-855", "--processors", "cpu,gpu")
        self.assertEqual([p["name"] for p in values["plan"]["processors"]], ["cpu", "gpu"])
        self.assertGreaterEqual(len(values["energy"]), 3)
        by_name = {p["name"]: p for p in values["energy"]}
        self.assertLessEqual(by_name["planned for energy"]["joules"], by_name["planned for latency"]["joules"] * 1.000001)
        self.assertLessEqual(by_name["planned for latency"]["us"], by_name["planned for energy"]["us"] * 1.000001)

    def test_a_saved_plan(self):
        plan = self.path("plan.json")
        self.assertEqual(mete("plan", self.net, "--processors", "rk3399x6", "--save-plan", plan).returncode, OK)
        saved = json.loads(plan.read_text())
        _, values = self.page(plan)
        self.assertEqual(len(values["plan"]["groups"]), len(saved["groups"]))
        self.assertEqual([p["name"] for p in values["plan"]["processors"]], saved["processors"])

    def test_a_saved_measurement(self):
        _, values = self.page(self.saved("bench.json", "bench", self.net, "--runs", 3, "--warmup", 0, "--explain", "--threads", 1))
        self.assertGreater(len(values["nodes"]), 20)
        self.assertIn("the median of 3 runs", values["says"][0])
        self.assertGreater(values["limits"]["read_gbytes"], 0)

    def test_a_saved_profile(self):
        _, values = self.page(self.saved("profile.json", "bench", self.net, "--runs", 3, "--warmup", 0, "--profile", "--threads", 1))
        self.assertGreater(len(values["nodes"]), 20)

    def test_a_saved_plan_with_strange_names_and_large_shares(self):
        share = {"processor": 0, "bytes": 5 << 30}
        plan = {"format": "mete-plan", "processors": ["cpu"], "layers": ["a", {"base64": "/w=="}],
                "groups": [{"first": 0, "last": 2, "parts": [1], "shares": [share]}]}
        _, values = self.page(self.path("plan.json", json.dumps(plan).encode()))
        self.assertEqual(values["plan"]["groups"][0]["shares"][0]["bytes"], 5 << 30)
        self.assertIn("base64", values["plan"]["groups"][0]["layers"])

    def test_planners_and_objectives_on_a_pool_with_watts(self):
        board = ("--machine", "snapdragon-855", "--processors", "cpu,gpu")
        _, values = self.page(self.net, *board, "--planner", "mulayer")
        self.assertEqual([p["name"] for p in values["energy"]], ["planned for latency"])
        _, values = self.page(self.net, *board, "--objective", "energy")
        said = " ".join(values["says"])
        self.assertRegex(said, r"The best single processor, \w+, would take [0-9.]+ [mu]?J: [0-9.]+ times as much\.")

    def test_saved_simulations(self):
        _, values = self.page(self.saved("policies.json", "simulate", self.net, "--machine", "rk3399", "--runs", 2))
        self.assertEqual({c["name"] for c in values["choices"]}, {"equal", "ratio", "asymo", "sani", "adaptive"})
        self.assertEqual(sum(c["chosen"] for c in values["choices"]), 1)
        _, values = self.page(self.saved("planners.json", "simulate", self.net, "--processors", "rk3399x6"))
        self.assertIn("dynamic", {c["name"] for c in values["choices"]})

    def test_names_do_not_end_the_page(self):
        hostile = '</script><b onclick="1">'
        net = self.path("net.onnx", model([("x", [4])], [("Relu", ["x"], [hostile])], [hostile]))
        text, values = self.page(net, "--runs", 1)
        self.assertNotIn(hostile, text)
        self.assertIn(hostile, values["nodes"][0]["node"])
        net = self.path("colours.onnx", model([("x", [4])], [("Relu", ["x"], ["\x1b[31my"])], ["\x1b[31my"]))
        said = mete("report", net, "--runs", 1, "-o", self.path("colours.html")).stdout
        self.assertIn("Relu", said)
        self.assertNotIn("\x1b", said)

    def test_mistakes(self):
        out = self.path("page.html")
        damaged = self.path("trace.json", b'{"traceEvents": [{"ph": "X", "pid": 1')
        self.fails(BAD_FILE, "trace.json] cannot be read; got", "report", damaged, "-o", out)
        for events, told in (('[{"ph":"X","pid":1,"tid":1,"name":"a","ts":-1,"dur":1}]', "is no trace"), ("[]", "the trace has no times"),
                             ('[{"ph":"X","pid":"one","tid":1,"name":"a","ts":1,"dur":1}]', "is no trace"), ("7", "is no trace")):
            self.fails(BAD_FILE, told, "report", self.path("events.json", f'{{"traceEvents": {events}}}'.encode()), "-o", out)
        self.fails(BAD_FILE, "is no file that a report can show; got the keys 'a'", "report", self.path("other.json", b'{"a": 1}'), "-o", out)
        self.fails(BAD_FILE, "is no JSON object", "report", self.path("list.json", b"[1]"), "-o", out)
        group = {"first": 0, "last": 1, "parts": [1], "shares": [{"processor": 3}]}
        plan = {"format": "mete-plan", "processors": ["cpu"], "layers": ["a"], "groups": [group]}
        self.fails(BAD_FILE, "processor is out of range; got 3, expected 0 to 0", "report", self.path("plan.json", json.dumps(plan).encode()), "-o", out)
        self.fails(BAD_FILE, "nested too deep", "report", self.path("deep.json", b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "-o", out)
        self.fails(USAGE, "[--threads, --runs] do not go with a file", "report", damaged, "--threads", 2, "--runs", 3, "-o", out)
        self.fails(USAGE, "[--machine] is of several processors", "report", self.net, "--machine", "rk3399", "-o", out)
        self.fails(USAGE, "the page would replace what it shows", "report", damaged, "-o", damaged)
        self.assertFalse(out.exists(), "an error leaves no page")


if __name__ == "__main__":
    main()
