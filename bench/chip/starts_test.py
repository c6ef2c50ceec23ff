"""First starts and memory, with a Mete that only pretends. No bar on times."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

kHere = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common")]
import starts

# As `mete bench MODEL --on-command`; a session of both processors keeps a file, and says so at the next start.
kFakeMete = f"""#!{sys.executable}
import json, os, pathlib, sys, time
if sys.argv[2].endswith("broken.onnx"):
    sys.exit("mete: error: [broken] not a model")
cache = pathlib.Path(os.environ["METE_CACHE"])
assert os.environ["METE_GPU"] == "cpu" and os.environ["POCL_CACHE_DIR"].startswith(str(cache)), "not this measurement's environment"
assert sys.argv[3] == "--on-command" and sys.argv[4:] in (["--cores", "0"], ["--processors", "cpu:0,gpu:0/0"]), sys.argv
now = time.monotonic_ns()
print(json.dumps({{"ready_ns": now, "loaded_ns": now + 1, "answered_ns": now + 2, "settings": str((cache / "kept").exists())}}), flush=True)
(cache / "kept").touch()
for line in sys.stdin:
    print(json.dumps({{"ns": [2_000_000] * json.loads(line)["runs"]}}), flush=True)
"""


def started(first_ms, mib=100.0):
    return {"first_ms": first_ms, "first_cpu_ms": first_ms, "first_mib": mib, "settled_s": 3, "settled_cpu_s": 4, "settled_mib": 2 * mib,
            "run_ms": 5}


class Starts(unittest.TestCase):
    def document(self, **failed):
        results = {"net": {"alone": {"first": [started(100), started(300), started(200)], "again": started(90)},
                           "both": {"first": [started(250, 150), started(220, 150), started(210, 150)], "again": started(99, 160)}}}
        return {"machine": {"cpu": "a CPU"}, "processors": starts.kinds([0, 1]), "rounds": 3, "results": results, "failed": failed,
                "driver_mib": {"first": 70, "again": 50}}

    def test_medians_and_ratios_are_told(self):
        text = starts.text(self.document(other="why"), markdown=False)
        self.assertIn("The first answer of both takes 1.10 times as long", text)
        row = next(line.split() for line in text.splitlines() if line.startswith("net "))
        self.assertEqual(row[1:], ["200", "220", "1.10", "200", "220", "1.10", "100", "150", "1.50"])
        self.assertIn("settled from what was kept", text)
        again = [line.split() for line in text.splitlines() if line.startswith("net ")][2]
        self.assertEqual(again[4:], ["200", "320", "1.60", "50.0", "1.35", "5.00", "5.00"])
        self.assertIn("not measured: other: why", text)

    def test_what_did_not_settle_has_no_table(self):
        document = self.document()
        for of in document["results"]["net"].values():
            of["again"] = None
        self.assertNotIn("settled from", starts.text(document, markdown=True))

    def test_the_whole_program(self):
        with tempfile.TemporaryDirectory() as folder:
            mete = pathlib.Path(folder, "mete")
            mete.write_text(kFakeMete)
            mete.chmod(0o755)
            for name in ("good.onnx", "broken.onnx"):
                pathlib.Path(folder, name).touch()
            command = [sys.executable, str(kHere / "starts.py"), "--mete", str(mete), "--cores", "0", "0", "--rounds", "2", "--settle", "--json",
                       "-", "--models", f"{folder}/good.onnx", f"{folder}/broken.onnx"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=100)
            self.assertEqual(done.returncode, 1, done.stderr)
            document = json.loads(done.stdout)
            self.assertIn("not a model", document["failed"]["broken"])
            self.assertEqual(set(document["driver_mib"]), {"first", "again"})
            for of in document["results"]["good"].values():
                self.assertEqual(len(of["first"]), 2)
                self.assertEqual(of["again"]["run_ms"], 2)
                self.assertGreater(of["first"][0]["first_ms"], 0)


if __name__ == "__main__":
    unittest.main()
