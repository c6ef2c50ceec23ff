"""Tests of what is made of runs; nothing is measured."""
import os
import sys
import tempfile
import types
import unittest
import unittest.mock

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [_here, os.path.join(_here, "..", "common")]
import cells
import host_speed
import site_pictures
import site_runs
import site_setting
import site_states
import site_watch
from site_names import kHost, kParts, kSteps, kTaken
from site_table import Table, read

kLinks, kStates = ["3g", "lan"], ["resident", "killed"]


def run(whole, compute=1, bound="", host=5):
    """`host`: ms that a fixed work took after it on the server's core, and 5 elsewhere."""
    return {"whole_ms": whole, "load_ms": 0, "preprocess_ms": whole - compute, "upload_ms": 0, "compute_ms": compute, "bound": bound,
            **dict.fromkeys(kHost, 5), "server_after_ms": host, **dict.fromkeys(kTaken, 0)}


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
    return {**dict(zip(kSteps, (load, preprocess, upload, compute))), **dict.fromkeys(kParts, 0), "ask_ms": ask, "choice": choice, "layers": ""}


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

    def test_a_time_is_steady_whose_runs_met_the_host_at_its_usual_speed(self):
        for host, is_steady in ((5.24, True), (5.26, False), (4.76, True), (4.74, False)):
            made = cells.Cells({**runs(), ("a", "p", "small", "lan", "resident", "raw"): run(60, 10, host=host)}, {}, kLinks, kStates)
            self.assertEqual(made.time(("a", "p", "small", "lan", "resident"), "raw"), cells.Time(60, is_steady=is_steady))
            self.assertEqual(made.time(("b", "p", "small", "3g", "resident"), "raw"), cells.Time(1020, False, False, is_steady))  # of that run, and others
            self.assertEqual(made.time(("a", "p", "small", "3g", "killed"), "raw"), cells.Time(1040, False, False, is_steady))
            self.assertTrue(made.time(("a", "p", "small", "lan", "resident"), "scaled").is_steady)
        for taken, is_steady in ((5, True), (10, False)):
            made = cells.Cells({**runs(), ("a", "p", "small", "lan", "resident", "raw"): {**run(100), "server_taken_ms": taken}}, {}, kLinks, kStates)
            self.assertEqual(made.time(("a", "p", "small", "lan", "resident"), "raw"), cells.Time(100, is_steady=is_steady))

    def test_a_start_is_steady_where_most_of_its_runs_are(self):
        def start(*hosts):
            more = {("a", photo, "small", "lan", s, "raw"): run(ms, host=host) for photo, host in zip("qr", hosts) for s, ms in (("resident", 60), ("killed", 90))}
            return cells.Cells({**runs(), **more}, {}, kLinks, kStates).starts["a", "killed", "raw", "small"]
        self.assertEqual(start(), (40, True))
        self.assertEqual(start(5, 9), (30, True))
        self.assertEqual(start(9, 9), (30, False))

    def test_a_way_that_was_given_up_is_never_the_best(self):
        times = dict(self.cells.all())["a", "p", "small", "3g", "resident"]
        self.assertTrue(times["scaled"].is_bound)
        self.assertEqual(cells.best(times), "device")
        self.assertEqual(cells.loss(times, "scaled"), 4)

    def test_a_start_before_a_scaled_photo_is_that_of_its_size(self):
        more = {("a", p, "large", "lan", s, "scaled"): run(ms) for p, s, ms in (("p", "resident", 200), ("p", "killed", 500), ("q", "resident", 210))}
        made = cells.Cells({**runs(), **more, ("a", "q", "large", "lan", "resident", "raw"): run(100)}, {}, kLinks, kStates)
        self.assertEqual(made.time(("a", "q", "large", "lan", "killed"), "scaled"), cells.Time(510, False, False))
        self.assertEqual(made.time(("a", "q", "large", "lan", "killed"), "raw"), cells.Time(140, False, False))

    def test_a_scaled_start_of_another_size_says_nothing(self):
        made = cells.Cells({**runs(), ("a", "q", "large", "lan", "resident", "scaled"): run(210)}, {}, kLinks, kStates)
        self.assertIsNone(made.time(("a", "q", "large", "lan", "killed"), "scaled"))

    def test_a_cut_is_not_composed(self):
        made = cells.Cells({**runs(), ("a", "p", "small", "lan", "resident", "cut"): run(55)}, {}, kLinks, kStates)
        self.assertEqual(made.time(("a", "p", "small", "lan", "resident"), "cut"), cells.Time(55))
        for model, link, state in (("b", "lan", "resident"), ("a", "3g", "resident"), ("a", "lan", "killed")):
            self.assertIsNone(made.time((model, "p", "small", link, state), "cut"))

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
        self.assertEqual([(p.way, p.ms, p.measured_ms, p.is_chosen) for p in judged.predictions],
                         [("device", 350, 400, False), ("raw", 130, 100, True), ("scaled", 130, 130, False)])
        self.assertAlmostEqual(judged.left_out["loading"][cell], 0)       # 100, 90, 90: the first of the least
        self.assertAlmostEqual(judged.left_out["preprocessing"][cell], 0.3)  # 300, 110, 70: the scaled photo, which takes 130

    def test_a_way_that_was_given_up_may_have_been_the_soonest(self):
        for ms, decided in ((105, False), (111, True)):
            self.assertEqual(cells.is_decided({"device": cells.Time(100), "raw": cells.Time(ms, True)}), decided)
        cell = ("a", "p", "small", "lan", "killed")
        made = runs()
        made[*cell, "raw"] = run(390, 0, ">")
        del made[*cell, "scaled"], made["a", "p", "small", "lan", "resident", "scaled"], made["a", "p", "small", "3g", "resident", "scaled"]
        judged = cells.judge(cells.Cells(made, {(*cell, "device"): plan(250, 50, 0, 50, "device"), (*cell, "raw"): plan(300, 0, 0, 0, "device")}, kLinks, kStates))
        self.assertEqual((judged.losses, judged.undecided), ({}, [cell]))
        self.assertEqual([(p.way, p.ms, p.measured_ms) for p in judged.predictions], [("device", 350, 400), ("raw", 300, 390)])

    def test_a_prediction_is_wrong_that_is_shorter_than_what_was_waited_for(self):
        for predicted, can in ((700, True), (950, False), (3000, False)):
            self.assertEqual(cells.can_judge(predicted, cells.Time(1000, True)), can)
        self.assertTrue(cells.can_judge(3000, cells.Time(1000)))

    def test_a_cut_is_measured_that_is_foreseen_near_the_soonest_way(self):
        for ms, is_measured in ((200, True), (201, False), (90, True)):
            self.assertEqual(cells.is_cut_measured({"device": 100, "raw": 150, "cut": ms}), is_measured)
        self.assertFalse(cells.is_cut_measured({"device": 100}))

    def test_a_cut_stands_beside_the_soonest_other_way(self):
        cell = ("a", "p", "small", "lan", "resident")  # measured: device 100, raw 60, scaled 90
        plans = {(*cell, "device"): plan(0, 50, 0, 50, "cut"), (*cell, "raw"): plan(0, 20, 60, 10, "cut"),
                 (*cell, "cut"): {**plan(0, 30, 20, 22, "cut"), "layers": 7}}
        for more, measured in (({}, None), ({(*cell, "cut"): run(54)}, 0.9), ({(*cell, "cut"): run(900, bound=">")}, None)):
            made = cells.Cells({**runs(), **more}, plans, kLinks, kStates)
            own = more.get((*cell, "cut"))
            self.assertEqual(list(cells.cuts(made, "a", "lan")), [cells.Cut(7, 0.8, own and cells.Time(own["whole_ms"], own["bound"] == ">"), measured)])
            self.assertEqual(list(cells.cuts(made, "b", "lan")), [None])
        self.assertEqual(cells.judge(cells.Cells({**runs(), (*cell, "cut"): run(54)}, plans, kLinks, kStates)).losses, {cell: 0})

    def test_the_layers_of_a_cut_are_numbers(self):
        cell = ("a", "p", "small", "lan", "resident")
        with tempfile.TemporaryDirectory() as folder:
            table = site_runs.plan_table(folder)
            for way, layers in (("device", ""), ("cut", 10)):
                table.add(**dict(zip(site_runs.kKeys, (*cell, way))), **{**plan(0, 50, 0, 50, "device"), "layers": layers})
            made = cells.Cells(runs(), site_runs.plan_table(folder).rows, kLinks, kStates)
        self.assertEqual([cut.layers for cut in cells.cuts(made, "a", "lan")], [10])

    def test_a_choice_without_an_answer_is_counted(self):
        cell = ("a", "p", "small", "lan", "resident")
        plans = {(*cell, "device"): plan(0, 50, 0, 50, "cut"), (*cell, "cut"): {**plan(0, 1, 1, 1, "cut"), "layers": 7}}
        judged = cells.judge(cells.Cells(runs(), plans, kLinks, kStates))
        self.assertEqual((judged.losses, judged.unanswered), ({}, [cell]))

    def test_a_choice_without_a_term_may_be_a_cut_that_was_not_measured(self):
        cell = ("a", "p", "small", "lan", "resident")
        plans = {(*cell, "device"): plan(0, 20, 0, 80, "device"), (*cell, "cut"): {**plan(0, 300, 1, 1, "device"), "layers": 7}}
        judged = cells.judge(cells.Cells(runs(), plans, kLinks, kStates))
        self.assertEqual((judged.unknown["preprocessing"], judged.left_out["preprocessing"]), ([cell], {}))
        self.assertEqual(judged.unknown["loading"], [])

    def test_what_warmed_mete_up_is_not_judged(self):
        photos = [(photo, size) for photo in "abcd" for size in ("large", "small")]
        self.assertEqual(cells.warm_ups(photos, "small"), [("d", "large"), ("d", "small"), ("a", "small"), ("b", "small")])
        cell = ("a", "p", "small", "lan", "killed")
        plans = {(*cell, way): plan(1, 1, 1, 1, "device") for way in ("device", "raw")}
        self.assertIn(cell, cells.judge(cells.Cells(runs(), plans, kLinks, kStates)).losses)
        self.assertEqual(cells.judge(cells.Cells(runs(), plans, kLinks, kStates, [("p", "small")])).losses, {})

    def test_preprocessing_repeats_near_its_median_or_not(self):
        same = {("a", "p", "small", link, "resident", way): run(ms + 1) for link, way, ms in (("3g", "scaled", 100), ("lan", "scaled", 104), ("lan", "device", 150))}
        others = {("a", "p", "small", "lan", "resident", "raw"): run(7), ("a", "p", "small", "lan", "killed", "device"): run(900), ("b", "p", "small", "lan", "resident", "cut"): run(9)}
        self.assertEqual(cells.repeats(cells.Cells({**same, **others}, {}, kLinks, kStates)), [(100, 127), (104, 125), (150, 102)])

    def test_steps_that_do_not_add_up(self):
        self.assertEqual(cells.apart(run(100)), 0)
        self.assertAlmostEqual(cells.apart({**run(100), "upload_ms": -5}), 0.05)
        self.assertIsNone(cells.apart(run(100, bound=">")))


class Host(unittest.TestCase):
    def test_a_run_has_what_the_host_gave_before_and_after_it(self):
        cores = sorted(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as folder:
            made = site_runs.Runs(types.SimpleNamespace(cores=[0, 1]), None, [], folder)
            works, taken = [[1, 2], [3, 4]], [[10, 20], [15, 40]]
            with unittest.mock.patch.multiple(host_speed, work_ms=lambda _: works.pop(0), taken_ms=lambda _: taken.pop(0)):
                self.assertEqual(made._with_host(lambda: {"x": len(works)}), {"x": 1, "host": {
                    "device_before_ms": 1, "server_before_ms": 2, "device_after_ms": 3, "server_after_ms": 4, "device_taken_ms": 5, "server_taken_ms": 20}})
        self.assertEqual(sorted(os.sched_getaffinity(0)), cores)

    def test_a_work_takes_processor_time_and_leaves_the_cores_of_its_caller(self):
        cores = sorted(os.sched_getaffinity(0))
        times = host_speed.work_ms(cores[:1] * 2)
        self.assertEqual(len(times), 2)
        self.assertTrue(all(ms > 0 for ms in times), times)
        self.assertEqual(sorted(os.sched_getaffinity(0)), cores)

    def test_the_time_that_was_taken_away_is_that_of_each_core(self):
        with tempfile.NamedTemporaryFile("w", suffix="stat") as file:
            file.write("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 2 3 4 5 6 7 30 0 0\ncpu1 1 2 3 4 5 6 7 58 0 0\nintr 5\n")
            file.flush()
            tick_ms = 1e3 / os.sysconf("SC_CLK_TCK")
            self.assertEqual(host_speed.taken_ms([1, 0], file.name), [58 * tick_ms, 30 * tick_ms])


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


class PlannedInAState(unittest.TestCase):
    def test_the_choice_over_the_processs_own_link_is_its_own_and_is_composed_over_others(self):
        resident = {"device": (0, 30, 0, 50), "raw": (0, 10, 60, 5), "scaled": (0, 40, 20, 5)}
        process = {name: dict(zip(kSteps, steps)) for name, steps in
                   (("device", (200, 60, 0, 50)), ("raw photo", (20, 10, 70, 5)), ("scaled photo", (20, 70, 30, 5)))}
        with tempfile.TemporaryDirectory() as folder:
            made = site_runs.Runs(types.SimpleNamespace(links=kLinks), None, [], folder)
            for link in kLinks:
                for way, steps in resident.items():
                    made.plans.add(model="a", photo="p", size="small", link=link, state="resident", way=way, **plan(*steps, "device"))
                made.plans.add(model="a", photo="p", size="small", link=link, state="resident", way="cut", **plan(0, 1, 1, 1, "device"))
            made._plan_in("killed", types.SimpleNamespace(name="a"), {"photo": "p", "size": "small"}, {"choice": "scaled photo", "planned": process})
            of = {link: {way: made.plans.rows["a", "p", "small", link, "killed", way] for way in resident} for link in kLinks}
            self.assertEqual({row["choice"] for row in of["lan"].values()}, {"scaled photo"})  # whatever the sums say
            self.assertEqual({row["choice"] for row in of["3g"].values()}, {"raw photo"})  # 310, 95, 115
            self.assertNotIn(("a", "p", "small", "lan", "killed", "cut"), made.plans)
            self.assertEqual({way: cells.total(row) for way, row in of["lan"].items()}, {"device": 310, "raw": 105, "scaled": 125})
            self.assertEqual({way: cells.total(row) for way, row in of["3g"].items()}, {"device": 310, "raw": 95, "scaled": 115})


class Sized(unittest.TestCase):
    def test_some_photos_of_each_other_size_start_the_scaled_way(self):
        photos = [{"photo": photo, "size": size} for photo in "abcd" for size in ("full", "quarter")]
        with tempfile.TemporaryDirectory() as folder:
            made = site_runs.Runs(types.SimpleNamespace(sizes=["full", "quarter"]), None, photos, folder)
            ways = {(photo["photo"], photo["size"]): made.ways_of(photo) for photo in photos}
        self.assertEqual(ways["d", "quarter"], ["device", "raw", "scaled"])
        self.assertEqual((ways["c", "full"], ways["d", "full"]), (["device", "scaled"], ["device"]))


class Started(unittest.TestCase):
    def test_another_setting_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            site_setting.begin(folder, {"speed": 0.25})
            site_setting.begin(folder, {"speed": 0.25})
            site_setting.end(folder, 5)
            site_setting.end(folder, 7)
            self.assertEqual(site_setting.read(folder), {"speed": 0.25, "seconds": 12})
            self.assertRaisesRegex(site_setting.OtherSetting, "another speed; got 0.5, expected 0.25", site_setting.begin, folder, {"speed": 0.5})
            os.remove(os.path.join(folder, site_setting.kName))
            Table(os.path.join(folder, "runs.csv"), ["way"], [])
            self.assertRaisesRegex(site_setting.OtherSetting, "without a setting", site_setting.begin, folder, {"speed": 0.25})


def answer(way="raw photo", whole=500.0, state="killed", measured="", upload=400.0):
    return {"way": way, "state": state, "measured_first": measured, "fell_back": "", "whole_ms": whole, "planned": {"raw photo": dict.fromkeys(kSteps, 25)},
            "steps": {"load_ms": 10, "preprocess_ms": 20, "compute_ms": 70, "upload_ms": upload}}


class Answered(unittest.TestCase):
    @staticmethod
    def of(*answers, limit_ms=0):
        left = list(answers)
        return site_states.answered(lambda: left.pop(0), "killed", "raw", limit_ms)

    def test_the_first_answer_counts_that_is_one_of_its_way_and_state(self):
        good = answer(whole=77.0)
        for other in (answer("device", 105.0, upload=5.0), answer(state="cold"), answer(measured="decoding")):
            self.assertEqual(self.of(other, good), (good, ""))

    def test_a_way_that_takes_too_long_is_a_bound(self):
        done, bound = self.of(answer("device", 500.0))  # 400 ms after 100 were foreseen
        self.assertEqual((done["whole_ms"], done["steps"], bound), (400, {}, ">"))

    def test_what_fails_before_its_time_is_no_bound(self):
        with self.assertRaisesRegex(site_states.NoAnswer, "another way answered; got device"):
            self.of(*[answer("device", 2999.0)] * site_states.kTries, limit_ms=3000)
        self.assertEqual(self.of(answer("device", 3100.0), limit_ms=3000)[1], ">")


    def test_that_no_answer_counts_is_kept(self):
        key = ("a", "p", "small", "lan", "killed", "raw")
        with tempfile.TemporaryDirectory() as folder:
            made = site_runs.Runs(None, None, [], folder)
            made._measure(key, {"bytes": 1}, lambda: answer("device", 50.0, upload=1.0))
            self.assertIn("another way answered", site_runs.failed_table(folder).rows[key]["why"])
            made._measure(key, {"bytes": 1}, lambda: {**answer("device"), "host": {}})
            self.assertEqual([site_runs.run_table(folder).rows[key][name] for name in ("whole_ms", "bound")], [400, ">"])


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
