"""The parts of the measurements with uneven cores that need no engine: arithmetic, tables, parsing, and whole programs with a Mete and a
slowcore that only pretend. No bar on times."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

kHere = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common"), str(kHere.parent / "peers")]
import apart
import awake
import cores
import efficiency
import near
import networks
import policies
import slowcore
import slowed
import slowed_tables
import spread
import tails
import turns
from protocol import WorkerFailed, running

kAllowed = sorted(os.sched_getaffinity(0))
kLinePass = os.environ.get("METE_LINE_PASS", str(kHere.parent.parent / "build" / "release" / "line_pass"))
kWorker = kHere.parent / "peers" / "worker.py"

# As `mete bench MODEL --on-command --policy P`; a policy "broken" ends with a message.
kFakeMete = f"""#!{sys.executable}
import os, sys
if "broken" in sys.argv:
    sys.exit("mete: error: no such policy")
os.execv(sys.executable, [sys.executable, {str(kWorker)!r}, "fake", '{{}}'])
"""
# As `slowcore FLAGS --json -- COMMAND`.
kFakeSlowCore = f"""#!{sys.executable}
import json, subprocess, sys
at = sys.argv.index("--")
sys.stderr.write("slowcore: note: core 1 is slow now\\n")
code = subprocess.run(sys.argv[at + 1:]).returncode
speed = {{"median": 0.35, "mad": 0.001}}
report = {{"speed": 0.35, "speed_before": speed, "speed_after": speed, "on_off": {{"slow_share": 0.5}}, "exit_code": code,
          "words": sys.argv[1:at]}}
sys.stderr.write(json.dumps(report, indent=2) + "\\nslowcore: note: reached\\n")
"""


def result(model="net", speed=0.4, line_ns=None, **least_ms):
    unasked = dict.fromkeys(("even", "apart"), least_ms.get("fast"))
    return {"model": model, "speed": speed, "others_share": 0.12, "least_ms": {**unasked, **least_ms},
            "line_ns": line_ns or [30.0] * len(least_ms["fast"])}


def beside(model="net", failed=None, **ms):
    """A result of slowed.py; keywords are who with _ for a space."""
    times = {who.replace("_", " "): list(rounds) for who, rounds in ms.items()}
    probe = {"median": 0.35}
    return {"model": model, "least_ms": times, "median_ms": times, "line_ns": [30.0] * len(times["mete adaptive"]), "failed": failed or {},
            "others_share": 0, "slow": {"speed_before": probe, "speed_after": probe}}


def tail(model="net", **ms):
    return {"model": model, "ms": ms, "line_ns": [30.0] * len(ms["adaptive"]), "others_share": 0.5,
            "slow": {"on_off": {"slow_share": 0.49}}}


class Efficiency(unittest.TestCase):
    def test_a_policy_that_uses_all_of_both_cores_has_one(self):
        e = efficiency.efficiency(result(speed=0.25, fast=[10.0, 20.0], sani=[8.0, 16.0]), "sani")
        self.assertAlmostEqual(e["median"], 1)
        self.assertAlmostEqual(e["mad"], 0)
        self.assertAlmostEqual(e["of_least"], 1)

    def test_the_median_is_of_rounds_and_the_least_of_all(self):
        e = efficiency.efficiency(result(speed=1.0, fast=[10.0, 10.0, 8.0], equal=[5.0, 10.0, 20.0]), "equal")
        self.assertAlmostEqual(e["median"], 0.5)
        self.assertAlmostEqual(e["mad"], 0.3)
        self.assertAlmostEqual(e["of_least"], 0.8)

    def test_the_even_speed_up_is_times_not_shares(self):
        self.assertAlmostEqual(efficiency.even_speed_up(result(fast=[9.0], even=[5.0]))["median"], 1.8)

    def test_the_least_of_a_burst_counts(self):
        self.assertEqual(efficiency.least_of_bursts({"fast": [[3.0, 1.23456, 9.0], [2.0]]}), {"fast": [1.2346, 2.0]})

    def test_geometric_means_are_by_speed(self):
        results = [result("a", 1.0, fast=[8.0], equal=[4.0]), result("b", 1.0, fast=[8.0], equal=[16.0]),
                   result("a", 0.25, fast=[10.0], equal=[8.0])]
        means = efficiency.geometric_means(results, ["equal"])
        self.assertEqual([(m["speed"], m["models"]) for m in means], [(0.25, 1), (1.0, 2)])
        self.assertAlmostEqual(means[0]["median"]["equal"], 1)
        self.assertAlmostEqual(means[1]["median"]["equal"], 0.5)

    def test_the_table_has_a_row_a_model_of_that_speed_and_their_means(self):
        results = [result("a", 0.4, fast=[7.0], equal=[10.0]), result("b", 0.7, fast=[7.0], equal=[10.0])]
        lines = efficiency.table(results, ["equal"], 0.4, markdown=False).splitlines()
        self.assertEqual([line.split("  ")[0] for line in lines], ["slow core at 0.4", "a", "geometric mean"])
        self.assertIn("0.500 ±0.000 (0.500)", lines[1])
        self.assertIn("12 %", lines[1])
        self.assertIn("0.500 (0.500)", lines[2])
        self.assertIn("0.500 (1 of 1)", lines[1])
        self.assertTrue(all(line.startswith("| ") for line in efficiency.table(results, ["equal"], 0.4, True).splitlines()))

    def test_the_table_of_bars_counts_models_by_their_bar_and_names_who_is_ahead(self):
        # The efficiency of `adaptive` is 0.93 on both, which reaches the bar of `b`, and would not that of ResNet-50
        results = [result("resnet50", 1.0, fast=[10.0], asymo=[5.0], sani=[10.0], adaptive=[5.38]),
                   result("b", 1.0, fast=[10.0], asymo=[10.0], sani=[10.0], adaptive=[5.38])]
        document = {"results": results, "policies": ["asymo", "sani", "adaptive"],
                    "geometric_means": efficiency.geometric_means(results, ["asymo", "sani", "adaptive"])}
        cells = [cell.strip() for cell in efficiency.bars_table([document], True).splitlines()[2].split("|")[1:-1]]
        self.assertEqual((cells[:4], cells[6]), (["1", "2", "1", "1"], "resnet50: asymo 7.6 %"))
        self.assertEqual(cells[4], f"{100 * (10 / 5.38 / 2 ** 0.5 - 1):.1f} %, {100 * (10 / 5.38 - 1):.1f} %")


class Near(unittest.TestCase):
    def test_a_round_is_as_far_as_before_or_after_it(self):
        self.assertEqual(near.line_of_rounds([27.0, 28.0, 160.0, 29.0]), [28.0, 160.0, 160.0])

    def test_rounds_of_far_cores_are_left_out(self):
        r = result(speed=1.0, line_ns=[27.0, 160.0, 30.0], fast=[10.0, 10.0, 10.0], equal=[5.0, 10.0, 6.25])
        limit_ns = near.limit_ns([r])
        equal = lambda r: f"{efficiency.efficiency(r, 'equal')['median']:.3f}"
        self.assertEqual(near.cell(r, limit_ns, equal), "0.900 (2 of 3)")
        self.assertEqual(near.cell(result(line_ns=[160.0], fast=[1.0], equal=[1.0]), limit_ns, equal), "- (0 of 1)")

    def test_a_mean_lacks_no_model(self):
        results = [result("a", line_ns=[27.0], fast=[7.0], equal=[10.0]), result("b", line_ns=[160.0], fast=[7.0], equal=[10.0])]
        self.assertIn(" - ", efficiency.table(results, ["equal"], 0.4, True).splitlines()[-1])


class Awake(unittest.TestCase):
    def test_each_core_has_a_loop_that_yields_to_all_else_until_the_end(self):
        with awake.awake(kAllowed) as loops:
            self.assertEqual([os.sched_getaffinity(loop) for loop in loops], [{core} for core in kAllowed])
            self.assertEqual({os.sched_getscheduler(loop) for loop in loops}, {os.SCHED_IDLE})
        for loop in loops:
            self.assertRaises(ProcessLookupError, os.kill, loop, 0)


class FakeWorker:
    """Its last two runs take half of the time, as if the other core were idle by then."""
    def __init__(self, ns):
        self.ns, self.asked = ns, []

    def send(self, do, runs, warm):
        self.asked.append(runs)

    def answer(self):
        return {"ns": [self.ns] * (self.asked[-1] - 2) + [self.ns / 2] * 2}


class RunsApart(unittest.TestCase):
    def test_a_run_is_what_both_do_together_and_the_slow_ones_last_runs_do_not_count(self):
        both = apart.Apart(FakeWorker(200), FakeWorker(300))  # of the fast one all runs count, so 100
        self.assertAlmostEqual(both.ask(do="time", warm=1, runs=9)["ns"][0], 75)  # three on the one and one on the other in 300

    def test_both_are_busy_while_either_has_runs_that_count(self):
        for ratio in (1, 1.4, 2.5, 4):
            for runs in (2, 5, 20):
                fast, slow = FakeWorker(1000), FakeWorker(1000 * ratio)
                both = apart.Apart(fast, slow)
                for _ in range(3):
                    both.ask(do="time", warm=1, runs=runs)
                fast_ends, slow_ends = 1 + fast.asked[-1], ratio * (1 + slow.asked[-1])
                self.assertGreaterEqual(fast.asked[-1], runs)
                self.assertGreaterEqual(fast_ends, ratio * (1 + slow.asked[-1] - 2))
                self.assertGreaterEqual(slow_ends, fast_ends)


class Slowed(unittest.TestCase):
    def test_the_best_setting_of_any_peer_counts(self):
        r = beside(mete_adaptive=[10, 20], openvino_1=[11, 22], openvino_2=[30, 30], ncnn_1=[12, 24], mete_fast=[1, 1])
        self.assertEqual(slowed_tables.best_peer(r), (1.1, "openvino 1"))

    def test_who_failed_does_not_count_and_is_named(self):
        failed = {"openvino 1": "its outputs differ", "ncnn": "not converted"}
        r = beside(failed=failed, mete_adaptive=[10], mete_fast=[12], openvino_1=[1], openvino_2=[30])
        self.assertEqual(slowed_tables.best_peer(r), (3, "openvino 2"))
        self.assertEqual(slowed_tables.failures([r])[0], "net: openvino 1: its outputs differ; not counted")
        self.assertIn("1.00 (0.10) !", slowed_tables.table([r], ["mete adaptive", "openvino 1", "ncnn 1"], markdown=False))

    def test_without_peers_or_a_sound_mete_there_is_no_ratio(self):
        self.assertIsNone(slowed_tables.best_peer(beside(mete_adaptive=[10])))
        self.assertIsNone(slowed_tables.best_peer(beside(failed={"mete adaptive": "differs"}, mete_adaptive=[10], ncnn_1=[10])))
        self.assertEqual(slowed_tables.means([beside(mete_adaptive=[10])]), [])

    def test_the_table_tells_near_rounds(self):
        far = {**beside(mete_adaptive=[10, 10], mete_fast=[12, 9]), "line_ns": [30.0, 160.0]}
        line = slowed_tables.table([far], ["mete fast", "mete adaptive"], markdown=False).splitlines()[1]
        self.assertIn("1.20 (1 of 2)", line)
        self.assertIn("(1.05)", line)

    def test_means_name_the_worst(self):
        rs = [beside("a", mete_adaptive=[10], ncnn_1=[40]), beside("b", mete_adaptive=[10], ncnn_1=[9]), beside("c", mete_adaptive=[1])]
        mean = slowed_tables.means(rs)[0]
        self.assertAlmostEqual(mean["geometric_mean"], 3.6 ** 0.5)
        self.assertEqual((mean["least_model"], mean["models"], mean["no_slower"]), ("b", 2, 1))
        self.assertIn("0.90 (b)", slowed_tables.mean_table(rs, markdown=False))

    def measure(self, folder, difference, broken=()):
        class PreparedNode:
            mete_path, reasons = "net.onnx", {"ncnn": "not converted: x"}

            def input_words(self):
                return ["--input", "x=x.npy"]

            def can(self, engine):
                return engine not in self.reasons

            def command(self, engine, threads):
                config = {"missing": (engine, threads) in broken}
                return [sys.executable, str(kWorker), "fake", json.dumps(config)]
        mete, slow = program(folder, "mete", kFakeMete), program(folder, "slowcore", kFakeSlowCore)
        flags = argparse.Namespace(mete=mete, slowcore=slow, line_pass=kLinePass, speed=0.35, engines=["onnxruntime", "openvino", "ncnn"],
                                   rounds=1, seed=1)
        document = {"cores": {"fast": kAllowed[0], "slow": kAllowed[-1]}, "versions": {}}
        agreement = slowed.Agreement(os.path.join(folder, "outputs"), difference, 0.1)
        return slowed.measure_slowed(flags, document, PreparedNode(), folder, agreement)

    def test_a_peer_that_cannot_start_leaves_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            r = self.measure(folder, lambda a, b: 0.0, broken=[("openvino", 2)])
        ours = ["mete adaptive", "mete equal", "mete fast"]
        self.assertEqual(sorted(r["least_ms"]), [*ours, "onnxruntime 1", "onnxruntime 2", "openvino 1"])
        self.assertEqual(sorted(r["failed"]), ["ncnn", "openvino 2"])
        self.assertEqual(len(r["line_ns"]), 1)
        self.assertEqual(r["slow"]["speed"], 0.35)

    def test_outputs_are_compared_with_the_first_peer_that_works(self):
        with tempfile.TemporaryDirectory() as folder:
            r = self.measure(folder, lambda a, b: 0.5 * ("mete fast" in a[0]) + (0 if "onnxruntime 2" in b[0] else 9), [("onnxruntime", 1)])
        self.assertEqual(r["difference"]["mete fast"], 0.5)
        self.assertIn("differ by 5.0e-01 of the largest from onnxruntime 2's", r["failed"]["mete fast"])
        self.assertNotIn("mete equal", r["failed"])


class Tails(unittest.TestCase):
    def test_quantiles_lie_between_ranks(self):
        self.assertEqual([spread.quantile([3, 1, 2], q) for q in (0, 0.25, 0.5, 1)], [1, 1.5, 2, 3])
        self.assertEqual(spread.quantile([7], 0.99), 7)

    def test_all_runs_of_all_rounds_count(self):
        self.assertEqual(tails.quantiles([[1, 2], [3, 4, 5]])["p50"], 3)

    def test_ratios_and_their_intervals(self):
        ours = [[1.0 + 0.01 * i, 2.0 + 0.1 * i] for i in range(20)]
        c = tails.compare(tail(adaptive=ours, equal=[[2 * ms for ms in burst] for burst in ours]), "adaptive", "equal")["p99"]
        self.assertAlmostEqual(c["ratio"], 2)
        self.assertAlmostEqual(c["low"], 2)  # the same rounds are drawn for both
        self.assertAlmostEqual(c["high"], 2)
        other = tails.intervals([[1.0], [3.0], [9.0]], [[1.0], [1.0], [1.0]])["p50"]
        self.assertEqual(other, (1.0, 9.0))

    def test_the_table_compares_the_others_with_the_first(self):
        text = tails.table([tail(adaptive=[[1.0, 1.0]], equal=[[3.0, 3.0]])], ["adaptive", "equal"], markdown=False)
        self.assertIn("equal / adaptive", text)
        self.assertIn("3.00 (3.00 - 3.00)", text)
        self.assertIn("49 %", text)

    def test_the_table_tells_near_rounds(self):
        far = {**tail(adaptive=[[1.0, 1.0], [1.0, 1.0]], equal=[[3.0, 3.0], [9.0, 9.0]]), "line_ns": [30.0, 160.0]}
        line = tails.table([far], ["adaptive", "equal"], markdown=False).splitlines()[-1]
        self.assertIn("near (1 of 2)", line)
        self.assertIn("3.00 (3.00 - 3.00)", line)
        none = tails.table([far, {**far, "line_ns": [160.0, 160.0]}], ["adaptive", "equal"], markdown=False).splitlines()[-1]
        self.assertRegex(none, r"near \(0 of 2\) +- +- +-")


class Parsing(unittest.TestCase):
    def test_the_report_of_slowcore_stands_among_notes(self):
        text = 'slowcore: note: {x}\n{\n  "a": {\n    "b": 1\n  },\n  "c": []\n}\nslowcore: note: y'
        self.assertEqual(slowcore.last_json(text), {"a": {"b": 1}, "c": []})
        with self.assertRaisesRegex(slowcore.NotSlow, "no report; got: nothing to see"):
            slowcore.last_json("nothing to see")

    def test_speeds(self):
        self.assertEqual(policies.speeds("0.25,1"), [0.25, 1])
        for wrong in ("", "0", "1.1", "0.4,x", "nan"):
            with self.assertRaises(ValueError):
                policies.speeds(wrong)

    def test_a_folder_stands_for_its_models(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(networks.BadModel, "no models in this folder"):
                networks.chosen([folder])
            for name in ("b.onnx", "a.onnx", "c.txt"):
                pathlib.Path(folder, name).touch()
            self.assertEqual(networks.chosen(["resnet18", folder]), ["resnet18", f"{folder}/a.onnx", f"{folder}/b.onnx"])
        with self.assertRaisesRegex(networks.BadModel, "no such file"):
            networks.chosen(["/nowhere/a.onnx"])


class Turns(unittest.TestCase):
    def test_everybody_has_a_turn_in_each_round_and_a_seed_gives_the_same_order(self):
        names = list("abcdef")
        order, same = turns.shuffled(5), turns.shuffled(5)
        rounds = [order(i, names) for i in range(20)]
        self.assertTrue(all(sorted(r) == names for r in rounds))
        self.assertGreater(len(set(map(tuple, rounds))), 10)
        self.assertEqual(rounds, [same(i, names) for i in range(20)])

    def test_who_cannot_start_is_thrown_or_noted(self):
        good, bad = (([sys.executable, str(kWorker), "fake", json.dumps({"missing": m})], {kAllowed[0]}) for m in (False, True))
        failed = {}
        with running({"a": good, "b": bad}, failed) as workers:
            self.assertEqual((list(workers), list(failed)), (["a"], ["b"]))
        with self.assertRaisesRegex(WorkerFailed, "^b: ImportError"), running({"a": good, "b": bad}):
            self.fail("it has started")


def program(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


class SlowCore(unittest.TestCase):
    def test_it_lasts_while_the_context_does_and_reports_then(self):
        with tempfile.TemporaryDirectory() as folder:
            with slowcore.SlowCore(program(folder, "slowcore", kFakeSlowCore), 1, 0.35, "--on-off", 0.05) as slow:
                self.assertIsNone(slow.process.poll())
                self.assertIsNone(slow.report)
                self.assertGreaterEqual(slow.cpu_s(), 0)
        self.assertEqual(slow.report["words"], ["--core", "1", "--speed", "0.35", "--json", "--on-off", "0.05"])
        self.assertEqual(slow.report["exit_code"], 0)

    def test_a_failure_within_frees_the_core_and_is_the_one_that_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ValueError, "mine"):
                with slowcore.SlowCore(program(folder, "slowcore", kFakeSlowCore), 1, 0.35) as slow:
                    raise ValueError("mine")
        self.assertEqual(slow.process.poll(), 0)

    def test_a_refusal_has_its_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            refuses = program(folder, "slowcore", "#!/bin/sh\necho 'slowcore: error: [SCHED_FIFO] refused' >&2; exit 1\n")
            with self.assertRaisesRegex(slowcore.NotSlow, "core 1 is not slow: .*refused"), slowcore.SlowCore(refuses, 1, 0.35):
                self.fail("it has started")


@unittest.skipUnless(len(kAllowed) > 1, "needs two cores")
class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.mete = program(self.folder.name, "mete", kFakeMete)
        self.slowcore = program(self.folder.name, "slowcore", kFakeSlowCore)
        self.model = program(self.folder.name, "net.onnx", "")
        self.json = os.path.join(self.folder.name, "out.json")

    def run_program(self, name, *more):
        flags = ["--mete", self.mete, "--models", self.model, "--json", self.json, "--work", self.folder.name, "--line-pass", kLinePass]
        return subprocess.run([sys.executable, str(kHere / name), *flags, *more], capture_output=True, text=True, timeout=100)

    def document(self):
        return json.loads(pathlib.Path(self.json).read_text())

    def test_policies(self):
        done = self.run_program("policies.py", "--rounds", "2", "--starts", "2", "--speeds", "0.4", "--policies",
                                "equal,sani")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("slow core at 0.4", "geometric mean", "is the fast one", "emulated", "even speed-up"):
            self.assertIn(words, done.stdout)
        document = self.document()
        self.assertEqual(document["failed"], {})
        rounds = {who: len(ms) for who, ms in document["results"][0]["least_ms"].items()}
        self.assertEqual(rounds, {"fast": 4, "even": 4, "equal": 4, "sani": 4, "apart": 4})
        self.assertEqual(len(document["results"][0]["line_ns"]), 4)
        self.assertGreater(min(document["results"][0]["line_ns"]), 1)
        alone = document["cores"]["alone_ms"]
        self.assertEqual(min(alone, key=alone.get), str(document["cores"]["fast"]))

    def test_a_policy_that_is_not_there_fails_with_its_message(self):
        done = self.run_program("policies.py", "--rounds", "1", "--starts", "1", "--speeds", "0.4,0.7", "--policies", "equal,broken")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(list(self.document()["failed"]), ["net at 0.4", "net at 0.7"])
        self.assertIn("broken: mete: error: no such policy", done.stderr)

    def test_interference(self):
        done = self.run_program("interference.py", "--slowcore", self.slowcore, "--runs", "30", "--slow-speed", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        r = self.document()["results"][0]
        self.assertEqual({who: sum(map(len, bursts)) for who, bursts in r["ms"].items()}, {"adaptive": 40, "equal": 40})
        self.assertEqual(list(r["over_first"]["equal"]), ["p50", "p95", "p99"])
        self.assertEqual(len(r["line_ns"]), 2)
        self.assertIn("equal / adaptive", done.stdout)
        self.assertIn("emulated at 0.5", done.stdout)

    def test_slowed_says_that_the_peers_are_missing(self):
        done = self.run_program("slowed.py", "--slowcore", self.slowcore)
        self.assertEqual(done.returncode, 1)
        self.assertIn("try bench/peers/run.sh --install", done.stderr)

    def test_wrong_flags(self):
        for more, words in ((["--speeds", "2"], "--speeds"), (["--cores", "0"], "[--cores]"), (["--cores", "0,99999"], "[--cores]"),
                            (["--rounds", "0"], "[--rounds]"), (["--starts", "0"], "[--starts]"), (["--mete", "/nowhere"], "[--mete]")):
            done = self.run_program("policies.py", *more)
            self.assertEqual((done.returncode, words in done.stderr), (2, True), done.stderr)
        self.assertEqual(self.run_program("policies.py", "--models", "/nowhere/a.onnx").returncode, 3)


if __name__ == "__main__":
    unittest.main()
