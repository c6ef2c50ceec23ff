"""Tests of what is made of runs; nothing is measured."""
import os
import sys
import tempfile
import unittest

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import cells
import site_pictures
import site_watch
from site_names import kParts, kSteps
from site_table import Table, read

kLinks, kStates = ["3g", "lan"], ["resident", "killed"]


def run(whole, compute=1, bound=""):
    return {"whole_ms": whole, "load_ms": 0, "preprocess_ms": whole - compute, "upload_ms": 0, "compute_ms": compute, "bound": bound}


def runs():
    """Of two networks: `a` has all, of `b` the exchange over the slow link is not measured."""
    made = {("a", "p", "small", "3g", "resident", "raw"): run(1000, 10), ("a", "p", "small", "3g", "resident", "scaled"): run(500, 10, ">")}
    for model, compute, device in (("a", 10, 100), ("b", 30, 120)):
        made[model, "p", "small", "lan", "resident", "device"] = run(device)
        made[model, "p", "small", "lan", "killed", "device"] = run(device + 300)
        for way, ms in (("raw", 50), ("scaled", 80)):
            made[model, "p", "small", "lan", "resident", way] = run(ms + compute, compute)
            made[model, "p", "small", "lan", "killed", way] = run(ms + compute + 40, compute)
    return made


def plan(load, preprocess, upload, compute, choice, ask=0):
    return {**dict(zip(kSteps, (load, preprocess, upload, compute))), **dict.fromkeys(kParts, 0), "ask_ms": ask, "choice": choice}


class Composed(unittest.TestCase):
    def setUp(self):
        self.cells = cells.Cells(runs(), {}, kLinks, kStates)

    def time(self, *cell_and_way):
        *cell, way = cell_and_way
        return self.cells.time(tuple(cell), way)

    def test_the_devices_way_does_not_depend_on_the_link(self):
        self.assertEqual(self.time("a", "p", "small", "3g", "killed", "device"), cells.Time(400, is_run=False))
        self.assertEqual(self.time("a", "p", "small", "lan", "killed", "device"), cells.Time(400))

    def test_an_exchange_is_that_of_another_network_with_its_own_computing(self):
        self.assertEqual(self.time("b", "p", "small", "3g", "resident", "raw"), cells.Time(1020, False, False))

    def test_a_scaled_picture_has_the_exchange_of_another_photos(self):
        more = {("a", "q", "small", "lan", "resident", "scaled"): run(70, 10), ("a", "p", "small", "3g", "resident", "scaled"):
                {**run(900, 10), "upload_ms": 700, "preprocess_ms": 190}}
        made = cells.Cells({**runs(), **more}, {}, kLinks, kStates)
        self.assertEqual(made.time(("a", "q", "small", "3g", "resident"), "scaled"), cells.Time(770, False, False))

    def test_a_state_adds_its_start_to_an_exchange(self):
        self.assertEqual(self.time("b", "p", "small", "3g", "killed", "raw"), cells.Time(1060, False, False))
        self.assertEqual(self.time("b", "p", "small", "lan", "killed", "raw"), cells.Time(120))

    def test_a_way_that_was_given_up_is_never_the_best(self):
        times = dict(self.cells.all())["a", "p", "small", "3g", "resident"]
        self.assertTrue(times["scaled"].is_bound)
        self.assertEqual(cells.best(times), "device")
        self.assertEqual(cells.loss(times, "scaled"), 4)

    def test_what_was_not_measured_is_not_known(self):
        self.assertIsNone(self.time("a", "p", "large", "lan", "resident", "raw"))
        self.assertEqual(len(list(self.cells.all())), 8)


class Judged(unittest.TestCase):
    def test_choices_predictions_and_what_is_left_out(self):
        cell = ("a", "p", "small", "lan", "killed")  # measured: device 400, raw 100, scaled 130
        plans = {(*cell, "device"): plan(250, 50, 0, 50, "raw photo"), (*cell, "raw"): plan(40, 20, 60, 10, "raw photo", ask=35),
                 (*cell, "scaled"): plan(40, 60, 20, 10, "raw photo", ask=10)}
        judged = cells.judge(cells.Cells(runs(), plans, kLinks, kStates))
        self.assertEqual(judged.losses, {cell: 0})
        self.assertEqual([(way, p, m, chosen) for _, way, p, m, chosen in judged.predictions],
                         [("device", 350, 400, False), ("raw", 130, 100, True), ("scaled", 130, 130, False)])
        self.assertAlmostEqual(judged.left_out["loading"][cell], 0)       # 100, 90, 90: the first of the least
        self.assertAlmostEqual(judged.left_out["preprocessing"][cell], 0.3)  # 300, 110, 70: the scaled photo, which takes 130

    def test_steps_that_do_not_add_up(self):
        self.assertEqual(cells.apart(run(100)), 0)
        self.assertAlmostEqual(cells.apart({**run(100), "upload_ms": -5}), 0.05)
        self.assertIsNone(cells.apart(run(100, bound=">")))


class Kept(unittest.TestCase):
    def test_a_second_start_finds_the_rows_of_the_first(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.csv")
            Table(path, ["model", "way"], ["whole_ms", "bound"]).add(model="a", way="raw", whole_ms=1.5, bound="")
            again = Table(path, ["model", "way"], ["whole_ms", "bound"])
            self.assertIn(("a", "raw"), again)
            again.add(model="b", way="raw", bound=">")
            self.assertEqual(read(path), [{"model": "a", "way": "raw", "whole_ms": 1.5, "bound": ""},
                                          {"model": "b", "way": "raw", "whole_ms": "", "bound": ">"}])


class Watched(unittest.TestCase):
    def test_a_process_has_processor_time_and_memory(self):
        cpu, kib = site_watch.sample(os.getpid())
        self.assertGreaterEqual(cpu, 0)
        self.assertGreater(kib, 1000)
        self.assertIsNone(site_watch.sample(2 ** 22 + 1))

    def test_joules_are_watts_by_time(self):
        self.assertAlmostEqual(site_watch.joules(2000, 500, (0.5, 2)), 2)


class Pictures(unittest.TestCase):
    def test_bars_are_as_long_as_their_steps(self):
        picture = site_pictures.steps("t", [("a & b", {"load_ms": 30, "compute_ms": 10}), ("c", {"upload_ms": 20})])
        self.assertIn("a &amp; b", picture)
        self.assertIn(f'width="{site_pictures.kWidth * 0.75:.1f}"', picture)
        self.assertIn("40 ms", picture)

    def test_lines_end_at_the_top_of_their_plot(self):
        picture = site_pictures.over_time("t", [("cpu", "ms", {"raw": [(0, 0), (10, 5)]})])
        begin, end = (f"{site_pictures.kLeft + x:.1f},{site_pictures.kTop + y:.1f}" for x, y in ((0, site_pictures.kPlot), (site_pictures.kWidth, 0)))
        self.assertIn(f'points="{begin} {end}"', picture)


if __name__ == "__main__":
    unittest.main()
