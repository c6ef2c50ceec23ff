"""Tables of made-up measurements in made-up pages, their plots, and what is said of bad input."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

kHere = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(kHere), str(kHere.parent / "common")]
import page_tables
import plot_marker
import plot_picture
import plot_spec
import problem

kDate = "2026-01-02"


def network(ratio, date=kDate):
    """A measurement of a network on which Mete's plan takes so many times as long as one processor."""
    plans = [{"name": name, "same_as": name, "plan": name, "median_ms": ms} for name, ms in (("chosen", 10 * ratio), ("alone own", 10), ("alone worker", 30))]
    return {"date": date, "machine": {}, "mbit": 100, "slow": "own:0.4", "rounds": 3, "results": {"net": {"plans": plans}}}


def table_marker(names="a", table="ratios", end="<!-- end -->"):
    return f"<!-- from bench/results: {names}; table: {table} -->\n{end}\n"


kPlot = plot_marker.plot("p.svg", "Points of two networks.", ["a", "b"], title="Two networks", axis="ms", names="network")
kTable = "| network | a | b |\n|---|---:|---:|\n| x | 1.5 ±0.1 | 2 |\n| y & z | - | 4 |\n"


class Folders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results, self.pages = (pathlib.Path(folder.name, name) for name in ("results", "pages"))
        self.results.mkdir()
        self.pages.mkdir()

    def measured(self, document, name="a", date=kDate):
        text = document if isinstance(document, str) else json.dumps(document)
        (self.results / f"{date}-{name}.json").write_text(text)

    def page(self, text, name="page.md"):
        (self.pages / name).write_text(text)

    def run_it(self, *words):
        return subprocess.run([sys.executable, kHere / "results.py", "--results", self.results, "--pages", self.pages, *words], capture_output=True, text=True)

    def made(self, name="page.md"):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.pages / name).read_text()

    def refused(self, *said):
        """One line of the form that messages have, and nothing is written."""
        before = {path.name: path.read_text() for path in self.pages.iterdir()}
        done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^\[[^\]]+\] [^;]+; got .+, expected .+; try .+\n$")
        self.assertEqual(done.stderr.count("\n"), 1)
        for words in said:
            self.assertIn(words, done.stderr)
        self.assertEqual({path.name: path.read_text() for path in self.pages.iterdir()}, before)


class Tables(Folders):
    def test_a_table_is_written_between_its_markers_and_words_stay(self):
        self.measured(network(0.5))
        self.page(f"Of {kDate}.\n\n{table_marker()}\nMore words.\n")
        text = self.made()
        self.assertIn("| net     |                 0.50 |", text)
        self.assertTrue(text.startswith(f"Of {kDate}.\n") and text.endswith("\nMore words.\n"))

    def test_a_second_time_changes_nothing(self):
        self.measured(network(0.5))
        self.page(f"Of {kDate}.\n\n{table_marker()}\n{kPlot}\n\n{kTable}")
        first = self.made()
        done = self.run_it("--check")
        self.assertEqual((done.returncode, done.stderr, self.made()), (0, "", first))

    def test_check_tells_of_a_change_and_writes_nothing(self):
        self.measured(network(0.5))
        self.page(before := f"Of {kDate}.\n\n{table_marker()}")
        done = self.run_it("--check")
        self.assertEqual((done.returncode, (self.pages / "page.md").read_text()), (1, before))
        self.assertIn("page.md", done.stderr)

    def test_the_newest_measurement_of_a_name_counts_and_an_older_one_is_named(self):
        self.measured(network(0.5))
        self.measured(network(0.7, date="2026-01-03"), date="2026-01-03")
        self.page(f"Of 2026-01-03.\n\n{table_marker()}")
        self.refused(f"[{kDate}-a.json]", "2026-01-03-a.json is newer")
        (self.results / f"{kDate}-a.json").unlink()
        self.assertIn("0.70", self.made())

    def test_a_column_for_each_measurement(self):
        self.measured(network(0.5))
        self.measured(network(1), name="b")
        self.page(f"Of {kDate}.\n\n{table_marker('a, b')}")
        self.assertIn("asking device at 0.4, again", self.made())

    def test_peers(self):
        engine = {"median_ms": 2.0, "mad_ms": 0.1, "agrees": True, "difference": 0, "mete_over_it": 0.5}
        self.measured({"date": kDate, "threads": 1, "starts": 1, "engines": ["mete", "ncnn"], "machine": {}, "versions": {},
                       "results": [{"model": "net", "failed": {}, "others_share": 0, "engines": {"mete": engine, "ncnn": engine}}]})
        self.page(f"Of {kDate}.\n\n{table_marker(table='times')}")
        self.assertRegex(self.made(), r"\| net +\| +2.00 ±0.10 \| +2.00 \(0.50\) \|")


class BadMeasurements(Folders):
    def test_no_json(self):
        self.measured("{")
        self.refused(f"[{kDate}-a.json]", "cannot be read as JSON")

    def test_no_object(self):
        self.measured("[1]")
        self.refused("no known kind", "got a list")

    def test_an_unknown_kind(self):
        self.measured({"date": kDate, "frobs": 1})
        self.refused("no known kind", "the keys date, frobs")

    def test_a_missing_key(self):
        document = network(0.5)
        del document["results"]["net"]["plans"][0]["median_ms"]
        self.measured(document)
        self.page(f"Of {kDate}.\n\n{table_marker()}")
        self.refused(f"[{kDate}-a.json]", "'median_ms'")

    def test_a_value_of_another_type(self):
        self.measured({**network(0.5), "results": [1]})
        self.page(f"Of {kDate}.\n\n{table_marker()}")
        self.refused(f"[{kDate}-a.json]", "cannot be made")

    def test_a_name_without_a_date(self):
        self.measured(network(0.5), date="new")
        self.refused("[new-a.json]", "no date")

    def test_one_that_no_page_shows(self):
        self.measured(network(0.5))
        self.page("Words.\n")
        self.refused(f"[{kDate}-a.json]", "no page shows this measurement")


class BadMarkers(Folders):
    def refused_marker(self, marker, *said):
        self.measured(network(0.5))
        self.page(f"Of {kDate}.\n\n{marker}")
        self.refused("page.md:3", *said)

    def test_no_such_measurement(self):
        self.refused_marker(table_marker("c"), "no measurement has this name", "one of a")

    def test_no_such_table(self):
        self.refused_marker(table_marker(table="times"), "no such table", "one of ratios")

    def test_no_end(self):
        self.refused_marker(table_marker(end=""), "has no end", "the end of the page")

    def test_another_marker_before_the_end(self):
        self.refused_marker(table_marker(end="") + table_marker(), "has no end")

    def test_an_end_alone(self):
        self.refused_marker("<!-- end -->\n", "an end has no marker")

    def test_a_marker_that_is_not_understood(self):
        self.refused_marker("<!-- from bench/results: a -->\n<!-- end -->\n", "not understood")

    def test_a_page_without_the_date_of_its_figures(self):
        self.measured(network(0.5))
        self.page(table_marker())
        self.refused("does not say when", kDate)

    def test_a_bad_page_leaves_the_others_as_they_are(self):
        self.measured(network(0.5))
        self.page(f"Of {kDate}.\n\n{table_marker()}\n{kPlot}\n\n{kTable}", name="a.md")
        self.page("<!-- end -->\n", name="b.md")
        self.refused("b.md:1")


class Plots(Folders):
    def svg(self, page=f"{kPlot}\n\n{kTable}"):
        self.page(page)
        self.made()
        return xml.etree.ElementTree.fromstring((self.pages / "p.svg").read_text())

    def test_rows_series_and_words_for_those_who_do_not_see_it(self):
        root = self.svg()
        texts = [text.text for text in root.findall("{*}text")]
        self.assertEqual([texts.count(words) for words in ("Two networks", "ms", "a", "b", "x", "y & z")], [1] * 6)
        self.assertEqual((root.find("{*}title").text, root.find("{*}desc").text), ("Two networks", "Points of two networks."))
        marks = [mark.text for mark in root.findall("{*}circle/{*}title") + root.findall("{*}path/{*}title")]
        self.assertEqual(sorted(marks), ["a: 1.5", "b: 2", "b: 4"])

    def test_points_lie_in_proportion(self):
        at = plot_picture._Layout(plot_spec.Plot("t", "ms", ["x"], [("a", [(1.0, "1")]), ("b", [(4.0, "4")])]))
        self.assertAlmostEqual(at.x(4) - at.x(3), at.x(1) - at.x(0), delta=0.11)
        self.assertEqual((at.x(at.ticks[0]), at.x(at.ticks[-1])), (round(at.left, 1), round(at.right, 1)))

    def test_a_bar_is_as_long_as_its_number(self):
        root = self.svg(kPlot.replace("<!-- plot\n", '<!-- plot\nform = "bars"\n') + "\n\n" + kTable)
        lengths = {rect.find("{*}title").text: float(rect.get("width")) for rect in root.findall("{*}rect") if rect.find("{*}title") is not None}
        self.assertAlmostEqual(lengths["b: 4"], 2 * lengths["b: 2"], delta=0.3)

    def test_equal_numbers_and_negative_ones_have_an_axis(self):
        for form in plot_spec.kForms:
            for numbers in ([1.0], [0.0], [-2.0], [-1.0, 3.0]):
                plot = plot_spec.Plot("t", "ms", ["x"], [("a", [(number, f"{number:g}")]) for number in numbers], form)
                at = plot_picture._Layout(plot)
                self.assertTrue(all(at.left <= at.x(number) <= at.right for number in numbers), (form, numbers))
                self.assertNotIn('width="-', plot_picture.draw("p", plot, "d"))

    def test_no_text_lies_outside(self):
        root = self.svg()
        wide, high = float(root.get("width")), float(root.get("height"))
        for text in root.findall("{*}text"):
            x, wanted = float(text.get("x")), plot_picture.svg.width_of(text.text)
            begin = x - {"end": 1, "middle": 0.5, None: 0}[text.get("text-anchor")] * wanted
            self.assertTrue(0 <= begin and begin + wanted <= wide and 0 < float(text.get("y")) < high, text.text)

    def test_both_modes_have_every_colour(self):
        style = self.svg().find("{*}style").text
        light, dark = style.split("@media(prefers-color-scheme:dark)")
        self.assertEqual(re.findall(r"[\w.]+(?=\{\w)", light), re.findall(r"[\w.]+(?=\{\w)", dark))

    def test_only_and_without_choose_rows(self):
        spec = plot_spec.read("p", 'title = "t"\naxis = "ms"\nnames = "n"\nseries = [{column = "v"}]\nonly = {k = "1"}\nwithout = ["mean"]')
        table = page_tables.Table("p", ["n", "k", "v"], [["x", "1", "5"], ["y", "2", "6"], ["mean", "1", "7"]])
        self.assertEqual(plot_spec.of_table(spec, table).names, ["x"])

    def test_numbers_of_cells(self):
        def number(cell, part, words=None):
            found = page_tables.number(page_tables.Table("p", [], []), cell, part, words or {})
            return found and found[0]
        self.assertEqual([number(cell, "first") for cell in ("0.693 ±0.00", "7.24 (0.69)", "1.63x", "**0.64**", "15,774", "+0.2", "-1.1", "0 %", "-", "")],
                         [0.693, 7.24, 1.63, 0.64, 15774, 0.2, -1.1, 0, None, None])
        self.assertEqual((number("735 (0.06)", "brackets"), number("95.0 / 86.0", "second")), (0.06, 86.0))
        self.assertEqual([number(cell, "first", {"alone": 1}) for cell in ("alone", "alone (the other)")], [1, 1])
        with self.assertRaises(problem.Problem):
            number("fast", "first")


class BadPlots(Folders):
    def refused_plot(self, old, new, *said):
        self.page(f"{kPlot}\n\n{kTable}".replace(old, new))
        self.refused("page.md:", *said)

    def test_a_table_without_the_column(self):
        self.refused_plot("| a |", "| c |", "no such column", "'a'", "'network', 'c', 'b'")

    def test_no_table(self):
        self.refused_plot(kTable, "", "no table")

    def test_a_cell_without_a_number(self):
        self.refused_plot("| 2 |", "| two |", "no number", "'two'")

    def test_a_row_with_other_columns(self):
        self.refused_plot("| 2 |", "| 2 | 3 |", "other columns")

    def test_no_end_of_the_marker(self):
        self.refused_plot("-->", "", "no end")

    def test_no_picture_below_the_marker(self):
        self.refused_plot("![Points of two networks.](p.svg)", "Words.", "embedded below")

    def test_a_picture_without_words(self):
        self.refused_plot("![Points of two networks.]", "![]", "embedded below")

    def test_no_toml(self):
        self.refused_plot("axis =", "axis", "no TOML")

    def test_a_missing_key(self):
        self.refused_plot('axis = "ms"\n', "", "lacks 'axis'")

    def test_an_unknown_key(self):
        self.refused_plot("axis =", "colour = 1\naxis =", "unknown key", "'colour'")

    def test_an_unknown_form(self):
        self.refused_plot("axis =", 'form = "pie"\naxis =', "unknown form")

    def test_a_value_of_another_type(self):
        self.refused_plot('"ms"', "3", "another type")

    def test_a_title_that_does_not_fit(self):
        self.refused_plot('"Two networks"', f'"{"x" * 200}"', "too long")

    def test_a_column_without_any_number(self):
        self.page(plot_marker.plot("p.svg", "Nothing.", ["a"], title="t", axis="ms", names="n") + "\n\n| n | a |\n|---|---|\n| x | - |\n")
        self.refused("nothing to show")

    def test_a_picture_that_no_page_shows(self):
        self.page("Words.\n")
        (self.pages / "old.svg").write_text("<svg/>")
        self.refused("[old.svg]", "no page shows this picture")

    def test_a_picture_that_is_not_there(self):
        self.page("![Words](no.svg)\n")
        self.refused("[no.svg]", "nothing draws")


if __name__ == "__main__":
    unittest.main()
