"""A small experiment in a real lab, as root: models/digits.onnx, a picture, two links, three states. Of its times no more is said than that an exchange
takes longer than the lab's delays. Skipped where files cannot leave memory."""
import argparse
import math
import os
import sys
import tempfile
import types
import unittest
import unittest.mock as mock

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_root, "tools", "lab")]
import cells
import lab
import pages
import program_copy
import reproduce
import site_models
import site_page
import site_setting
import site_watch
from scene import Scene
from site_names import kSteps, kWholeWays
from site_runs import Runs

kMete = None
kLinks, kStates = ["lte", "lan"], ["resident", "evicted", "killed"]


def photo():
    path = os.path.join(_root, "models", "digit.png")
    return {"photo": "digit", "size": "quarter", "path": path, "bytes": os.path.getsize(path)}


def cores():
    allowed = sorted(os.sched_getaffinity(0))
    return [allowed[0], allowed[-1]]


def files_leave_memory(folder):
    """Not those of a file system in memory, for one."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"x" * 65536)
        file.flush()
        return pages.evict([file.name]) == 0


class Experiment(unittest.TestCase):
    def test_it_measures_composes_and_goes_on(self):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(kMete)) as folder, mock.patch.object(cells, "kWorthCut", math.inf):
            flags = types.SimpleNamespace(mete=kMete, links=kLinks, states=kStates, sizes=["quarter"], cores=cores(), speed=1, limit=3,
                                          rounds=1, folder=folder, out=folder, photos=1, models=["digits"])
            model = site_models.SiteModel("digits", os.path.join(_root, "models", "digits.onnx"), folder, 32)
            self.measure(flags, model)
            setting = site_setting.of(flags, [("digit", "quarter")], program_copy.digest(flags.mete))
            told, made = {**setting, "seconds": 60}, self.cells(flags)
            self.check_runs(made)
            judged = cells.judge(made)
            self.assertEqual(len(judged.losses), len(kLinks) * len(kStates))
            text = site_page.page(told, made, judged, "", {})
            self.assertIn("digits, quarter", text)
            self.assertIn(f"of {len(made.runs)} runs have steps", text)
            before = dict(made.runs)
            self.measure(flags, model)  # all is there
            self.assertEqual(self.cells(flags).runs, before)

    def measure(self, flags, model):
        program, libraries, files = program_copy.copy(flags.mete, os.path.join(flags.folder, "program"))
        with Scene(flags, program, libraries, files, flags.folder) as scene:
            reproduce.profile(flags, scene, model)
            runs = Runs(flags, scene, [photo()], flags.folder)
            runs.resident(model, True)
            for state in flags.states[1:]:
                runs.other(model, state)
            site_watch.watch(flags, scene, model, photo(), flags.folder)

    @staticmethod
    def cells(flags):
        return cells.Cells(site_page.site_runs.run_table(flags.folder).rows, site_page.site_runs.plan_table(flags.folder).rows, kLinks, kStates)

    def check_runs(self, made):
        # resident: both exchanges and a cut over each link, and the device's way once; the other states over one link
        self.assertEqual(len(made.runs), 3 * len(kLinks) + 1 + len(kWholeWays) * 2)
        self.assertEqual(len(made.plans), len(kLinks) * (len(kStates) * len(kWholeWays) + 1))
        for key, run in made.runs.items():
            self.assertLessEqual(sum(run[step] for step in kSteps), run["whole_ms"] + 0.1, key)
            self.assertEqual(run["upload_ms"] > 0, key[-1] != "device", key)
        lte, lan = (made.runs["digits", "digit", "quarter", link, "resident", "raw"]["upload_ms"] for link in kLinks)
        self.assertGreater(lte, 120)  # connecting and asking, then the exchange: more than two round trips
        self.assertLess(made.plans["digits", "digit", "quarter", "lan", "resident", "raw"]["upload_ms"], lte)
        self.assertGreater(lte, lan)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--mete", required=True)
    known, others = p.parse_known_args()
    kMete = os.path.abspath(known.mete)
    can, why = lab.permitted()
    if not can:
        print(f"skipped: {why}")
        sys.exit(77)
    if not files_leave_memory(os.path.dirname(kMete)):
        print("skipped: files of the build's folder cannot leave memory")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *others])
