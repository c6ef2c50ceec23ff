"""Runs `mete run --site --processors` with `mete serve` on this host: the device computes on a pool. Standard library only."""
import json
import os
import pathlib
import shutil
import tempfile
import unittest
import unittest.mock

import cli_testing
from cli_testing import OK, USAGE, mete
from site_testing import SiteCase

CORES = sorted(os.sched_getaffinity(0))
WORKERS = 'name = "two"\ninsecure = true\n[[device]]\nname = "here"\n[[device]]\nname = "there"\naddress = "{}"\n'
TWO = ",".join(f"cpu:{core}" for core in CORES[:2])


class OnAPool:
    """What holds on every pool. `processors`: the list."""

    def on_pool(self, *words, **more):
        return self.runs(more.pop("port", self.port), "--processors", self.processors, *words, **more)

    def test_each_way_has_the_same_answer(self):
        alone = self.answer("run", self.model, self.photo, env=self.cache)["results"][0]
        self.on_pool()  # nothing is left to measure
        for way, name in (("device", "device"), ("raw", "raw photo"), ("scaled", "scaled photo")):
            answer, notes = self.on_pool("--way", way)
            self.assertEqual(answer["site"]["way"], name, notes)
            self.assertNotIn("measured_first", answer["site"])
            self.assertEqual(answer["site"]["pool"]["name"], self.processors)
            self.assertEqual(answer["site"]["pool"]["home"], self.processors.split(",")[0])
            self.assertRegex(answer["site"]["pool"]["plan"], "^layers 1 to ")
            self.assertEqual([t["class"] for t in answer["results"][0]["top"]], [t["class"] for t in alone["top"]])

    def test_the_session_on_the_pool_answers_where_the_server_fails(self):
        server, port = self.serve()
        self.on_pool(port=port)  # nothing is left to measure
        self.end(server)
        answer, notes = self.on_pool("--way", "raw", port=port)
        self.assertEqual((answer["site"]["way"], answer["site"]["chosen"]), ("device", "raw photo"), notes)
        self.assertIn("cannot connect", answer["site"]["fell_back"])
        self.assertEqual(answer["site"]["pool"]["name"], self.processors)

    def test_a_resident_process_answers_by_one_session(self):
        self.on_pool("--way", "device")  # nothing is left to measure
        commands = [{"do": "photo", "photo": str(self.large), "way": "device"}, {"do": "settle"}, {"do": "photo", "photo": str(self.photo), "way": "device"}]
        done = mete("run", self.model, self.photo, "--site", self.site(self.port), "--processors", self.processors, "--way", "device", "--json", "--on-command",
                    env=self.cache, stdin="".join(json.dumps(c) + "\n" for c in commands))
        self.assertEqual(done.returncode, OK, done.stderr)
        first, large, settled, last = map(json.loads, done.stdout.splitlines())
        self.assertEqual(settled, {"settled": True})
        self.assertEqual([a["site"]["state"] for a in (first, large, last)], ["killed", "resident", "resident"])
        self.assertEqual(first["results"][0]["top"][0]["class"], last["results"][0]["top"][0]["class"])
        self.assertNotIn("answered_by_home", last["site"]["pool"])
        for of in ("predicted", "measured"):
            self.assertLess(last["site"][of]["load_ms"], first["site"][of]["load_ms"])

    def test_a_person_reads_the_pool_and_its_plan(self):
        words = ("run", self.model, self.photo, "--site", self.site(self.port), "--processors", self.processors, "--explain")
        for way in ("device", "raw"):  # the second one has no session
            done = mete(*words, "--way", way, env=self.cache)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertIn(f"The device's way is computed on {self.processors}; the last session's plan: layers 1 to ", done.stdout)
            self.assertIn(f"In a cut {self.processors.split(',')[0]} alone computes", done.stdout)


@unittest.skipUnless(len(CORES) > 1, "one core; expected two, that are two processors")
class SiteOnCores(OnAPool, SiteCase):
    processors = TWO

    def test_times_of_one_pool_are_not_those_of_another(self):
        self.assertIn("the layers on the pool's processors and a session", self.on_pool()[0]["site"]["measured_first"])
        self.assertIn("a session", self.runs(self.port)[0]["site"]["measured_first"])  # of this device without a pool
        self.assertIn("measured_first", self.runs(self.port, "--processors", f"cpu:{CORES[0]}")[0]["site"])
        self.assertNotIn("measured_first", self.on_pool()[0]["site"])

    def test_a_file_is_another_pool_once_it_was_written_again(self):
        text = 'name = "cores"\n' + "[[device]]\nname = \"here\"\n" + "".join(
            f'[[device.processor]]\nname = "core{core}"\ncores = "{core}"\n' for core in CORES[:2])
        pool = self.path("pool.toml", text.encode())
        for written in (True, False):
            site = self.runs(self.port, "--processors", pool)[0]["site"]
            self.assertEqual("measured_first" in site, written)
            self.assertEqual(site["pool"]["home"], f"core{CORES[0]}")
        self.path("pool.toml", text.replace("cores\"\n", "two cores\"\n").encode())
        self.assertIn("measured_first", self.runs(self.port, "--processors", pool)[0]["site"])

    def test_starts_on_the_pool_are_adopted(self):
        self.on_pool()
        kept = self.answer("profile", "--starts", self.model, "--rounds", 1, "--processors", self.processors, env=self.cache)
        site = self.on_pool()[0]["site"]
        self.assertEqual(site["process_ms"], kept["costs"]["killed"]["steps"]["process_ms"])
        self.runs(self.port)
        self.assertEqual(self.runs(self.port)[0]["site"]["process_ms"], 0)  # those of the pool alone were measured

    def test_the_home_computes_a_cut(self):
        worker, says = self.listens("worker", "--listen", "127.0.0.1:0", env={"METE_CACHE": str(self.path("there"))})
        more = f'worker = "{says["listening"]}"\n'
        alone = self.answer("run", self.model, self.photo, env=self.cache)["results"][0]
        for _ in range(2):
            answer, notes = self.on_pool("--way", "cut", more=more)
            self.assertEqual(answer["site"]["way"], "cut", notes)
            self.assertEqual([t["class"] for t in answer["results"][0]["top"]], [t["class"] for t in alone["top"]])
        self.end(worker)

    def test_a_worker_may_be_of_the_pool(self):
        worker, says = self.listens("worker", "--listen", "127.0.0.1:0", env={"METE_CACHE": str(self.path("there"))})
        self.processors = self.path("workers.toml", WORKERS.format(says["listening"]).encode())
        self.answer("profile", self.model, "--processors", self.processors, env=self.cache)
        alone = self.answer("run", self.model, self.photo, env=self.cache)["results"][0]
        for is_there in (True, True, False):  # the first time it is measured, the last time its home answers
            if not is_there:
                self.end(worker)
            answer, notes = self.on_pool("--way", "device")
            self.assertEqual(answer["site"]["way"], "device", notes)
            self.assertEqual(answer["site"]["pool"]["home"], "here")
            self.assertEqual([t["class"] for t in answer["results"][0]["top"]], [t["class"] for t in alone["top"]])

    def test_mistakes(self):
        site = self.site(self.port)
        self.fails(USAGE, "[--processors]", "run", self.model, self.photo, "--site", site, "--processors", "cpu:0,cpu:0")
        self.fails(USAGE, "[--processors] excludes --explain", "run", self.model, self.photo, "--processors", TWO, "--explain")
        workers = self.path("workers.toml", WORKERS.format("127.0.0.1:9").encode())
        self.fails(USAGE, "nobody has measured this model", "run", self.model, self.photo, "--site", site, "--processors", workers)


class SiteOnAGpu(OnAPool, SiteCase):
    """PoCL's device, which is a CPU, stands for a GPU."""
    processors = "cpu,gpu"

    @classmethod
    def setUpClass(cls):
        # What PoCL compiles stays out of the user's own cache, in a folder that the next tests use again.
        folder = pathlib.Path(tempfile.gettempdir()) / f"mete-tests-pocl-{os.getuid()}"
        folder.mkdir(exist_ok=True)
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, {
            "METE_GPU": "cpu", "POCL_AFFINITY": "1", "POCL_CACHE_DIR": os.environ.get("POCL_CACHE_DIR", str(folder))}))
        cls.kept = cls.enterClassContext(tempfile.TemporaryDirectory())
        if not json.loads(mete("machine", "--json", env={"METE_CACHE": cls.kept}).stdout).get("gpus"):
            raise unittest.SkipTest("no OpenCL device; try tools/install-deps.sh --gpu")
        super().setUpClass()

    def setUp(self):
        self.cache = {"METE_CACHE": self.kept}  # of all tests, since kernels are built for a minute

    def test_programs_that_are_not_kept_are_a_term_of_the_load(self):
        def terms():
            ways = self.on_pool("--way", "device")[0]["site"]["ways"]
            return {term["part"]: term for term in ways[0].get("load_terms", []) if term["part"] == "programs"}

        terms()  # nothing is left to measure
        self.assertEqual(terms(), {})
        gpu = pathlib.Path(self.kept) / "gpu"
        gone = gpu.rename(gpu.with_name("gone"))
        missing = terms()
        self.assertTrue(missing["programs"]["is_missing"])
        self.assertRegex(missing["programs"]["why"], r"^gpu/.*\.program is not there$")
        shutil.rmtree(gpu, ignore_errors=True)
        gone.rename(gpu)
        self.assertFalse([term for term in terms().values() if term["is_missing"]])


if __name__ == "__main__":
    cli_testing.main()
