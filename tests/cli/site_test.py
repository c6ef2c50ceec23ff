"""Runs `mete plan --site` and `mete simulate --site` as their users do, and DADS's experiment. Standard library only."""
import json
import re
import subprocess
import sys

import cli_testing
from cli_testing import BAD_FILE, BOARDS, OK, USAGE, Cli, mete

SITES = BOARDS.parent / "bench" / "site"
STEPS = ("load_ms", "preprocess_ms", "upload_ms", "compute_ms")


class Sites(Cli):
    def ways(self, *words):
        answer = self.answer("simulate", self.net, "--site", SITES / "phone.toml", *words)
        return answer, {way["way"]: way for way in answer["ways"]}

    def test_four_steps_add_up_and_the_choice_is_the_least(self):
        for state in ("resident", "evicted", "killed", "cold", "first-ever"):
            for link in ("3g", "lte", "wifi", "lan"):
                answer, ways = self.ways("--state", state, "--link", link, "--connection", "cold")
                self.assertEqual(list(ways), ["device", "raw photo", "scaled photo", "cut"])
                for way in ways.values():
                    self.assertAlmostEqual(sum(way[step] for step in STEPS), way["total_ms"])
                    self.assertAlmostEqual(sum(way["upload"].values()), way["upload_ms"])
                    self.assertAlmostEqual(way["device_picture_ms"] + way["server_picture_ms"], way["preprocess_ms"])
                    self.assertAlmostEqual(way["device_ms"] + way["server_ms"] + way["wait_ms"], way["compute_ms"])
                    self.assertEqual(len(way["on_device"]) + len(way["on_server"]), len(ways["device"]["on_device"]))
                self.assertEqual(answer["choice"], min(ways, key=lambda way: ways[way]["total_ms"]))

    def test_loading_and_the_link_decide(self):
        self.assertEqual(self.ways("--link", "3g")[0]["choice"], "device")
        self.assertNotEqual(self.ways("--link", "lan", "--state", "cold")[0]["choice"], "device")
        slow, fast = self.ways("--link", "3g", "--connection", "cold")[1], self.ways("--link", "3g", "--connection", "warm")[1]
        self.assertGreater(slow["raw photo"]["upload_ms"], fast["raw photo"]["upload_ms"] + 300)

    def test_objectives_have_least_of_their_figures(self):
        for objective, figure in (("latency", "total_ms"), ("throughput", "period_ms"), ("energy", "joules")):
            answer, ways = self.ways("--objective", objective)
            self.assertEqual(answer["choice"], min(ways, key=lambda way: ways[way][figure]))
        answer, ways = self.ways("--objective", "energy", "--deadline-ms", "1")
        self.assertFalse(answer["in_time"])

    def test_plan_and_simulate_say_the_same_with_a_reason(self):
        words = self.net, "--site", SITES / "phone.toml", "--state", "cold"
        self.assertEqual(self.answer("plan", *words), self.answer("simulate", *words))
        text = mete("plan", *words).stdout
        self.assertIn("comes next with", text)
        self.assertIn("scaled photo", text)

    def test_what_is_not_kept_is_a_term_of_the_load(self):
        text = re.sub(r'"([^"]*\.toml)"', lambda file: f'"{SITES / file[1]}"', (SITES / "phone.toml").read_text())
        site = self.path("site.toml", (text + '\n[without]\ntimings_ms = { value = 25, source = "a test" }\n').encode())
        loads = {}
        for words in ((), ("--without", "timings"), ("--without", "timings,weights")):
            answer = self.answer("plan", self.net, "--site", site, "--state", "killed", *words)
            device = answer["ways"][0]
            loads[words] = device["load_ms"], [(term["part"], term["ms"]) for term in device.get("load_terms", [])]
        all_kept = loads[()][0]
        self.assertEqual(list(loads.values()), [(all_kept, []), (all_kept + 25, [("timings", 25)]), (all_kept + 25, [("weights", None), ("timings", 25)])])
        told = mete("plan", self.net, "--site", site, "--state", "killed", "--without", "timings,weights").stdout
        self.assertIn("25.0 ms of the load, because timings are not kept", told)
        self.assertIn("packed weights are not kept; what they add to the load is not known", told)
        self.fails(USAGE, "--without", "plan", self.net, "--site", site, "--without", "colours")

    def test_mistakes(self):
        site = SITES / "phone.toml"
        self.fails(USAGE, "--state", "plan", self.net, "--site", site, "--state", "warm")
        self.fails(USAGE, "--link", "plan", self.net, "--site", site, "--link", "5g")
        self.fails(USAGE, "[--deadline-ms]", "plan", self.net, "--site", site, "--deadline-ms", "5")
        self.fails(USAGE, "[--objective] is of a plan for several processors or for a site", "plan", self.net, "--objective", "energy")
        self.fails(USAGE, "--site", "plan", self.net, "--state", "cold")
        wrong = self.path("wrong.toml", b'name = "a"\ndevice = "none.toml"\ncolour = 3\n')
        done = mete("plan", self.net, "--site", wrong)
        self.assertNotEqual(done.returncode, OK)
        self.assertIn("none.toml", done.stderr)
        self.assertIn("unknown key 'colour'", done.stderr)


class Dads(Cli):
    def test_its_cuts_are_those_of_its_paper(self):
        done = subprocess.run([sys.executable, SITES / "dads.py", "--mete", cli_testing.METE, "--work", self.root, "--json", "-"],
                              capture_output=True, text=True, timeout=cli_testing.LONG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        uplinks = {row["mbit_per_s"]: row["implied"] for row in document["tiny_yolov2"]["uplinks"]}
        self.assertEqual(uplinks[18]["cut"], "at the input")
        fifth_pool = uplinks[4]["cut"]
        self.assertTrue(fifth_pool.startswith("behind maxpool_"), fifth_pool)
        self.assertAlmostEqual(uplinks[4]["less"], 0.62, delta=0.01)
        for row in document["resnet18"]["links"]:
            if row["link"] != "dads-cat1":  # of its uplink of 0.13 Mbit/s nothing that the paper's other figures imply gains
                self.assertAlmostEqual(row["implied"]["gain"] / row["published"], 1, delta=0.03)


if __name__ == "__main__":
    cli_testing.main()
