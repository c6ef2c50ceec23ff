"""The pages of `mete report` in a browser: four kinds of reports, in light and dark, at a phone's width, in print, by keyboard.

    make test-report      # makes the environment under build/ and runs this
    python tests/report/page_test.py --mete build/release/mete --screenshots FOLDER

Needs what tests/browser needs.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "browser"))
from browsing import SIZES, Browsed, arguments, main

MOST_BYTES = 1_000_000

# The GPU computes on core 1, at half of its speed.
EMULATED = """name = "A CPU beside an emulated GPU"
[[device]]
name = "here"
[[device.processor]]
name = "cpu"
cores = "0"
[[device.processor]]
name = "gpu"
kind = "emulated"
cores = "1"
speed = 0.5
launch_us = 50
map_us = 20
"""
BOARDS = pathlib.Path(__file__).resolve().parent / "three_boards.toml"


def made(folder):
    """The reports by name: what `mete report` is given."""
    net = folder / "resnet50.onnx"
    subprocess.run([arguments.mete, "zoo", "make", "resnet50", "-o", net], check=True, stdout=subprocess.DEVNULL)
    pool = folder / "emulated.toml"
    pool.write_text(EMULATED)
    reports = {"cores": [net, "--threads", "2"], "slowed": [net, "--cores", "0:1.0,1:0.4"], "gpu": [net, "--processors", pool],
               "boards": [net, "--processors", BOARDS]}
    for name, words in reports.items():
        path = folder / f"{name}.html"
        subprocess.run([arguments.mete, "report", *map(str, words), "-o", path], check=True, stdout=subprocess.DEVNULL)
        reports[name] = path
    return reports


class Page(Browsed):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.reports = made(pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())))

    def open(self, name, scheme="light", size="desk"):
        begin = time.monotonic()
        page = self.opened(f"file://{self.reports[name]}", ("file:",), scheme, size)
        self.opened_s = time.monotonic() - begin
        return page

    def test_every_report_is_drawn_and_asks_nothing_of_the_network(self):
        sections = {"cores": ["timeline", "threads", "roofline", "operators", "memory", "nodes"],
                    "slowed": ["timeline", "threads", "roofline", "operators", "memory", "nodes"],
                    "gpu": ["timeline", "plan", "compared", "choices"], "boards": ["timeline", "plan", "choices"]}
        for name, wanted in sections.items():
            for scheme in ("light", "dark"):
                for size in SIZES:
                    with self.subTest(name=name, scheme=scheme, size=size):
                        page = self.open(name, scheme, size)
                        for section in wanted:
                            expect(page.locator(f"#{section} h2")).to_be_visible()
                        self.assertEqual((self.asked, self.complaints), ([], []))
                        # On a busy machine the CPU alone may be the fastest, with one slice for all layers.
                        self.assertGreaterEqual(page.locator("#timeline rect.slice").count(), 1 if name == "gpu" else 4)
                        print(f"{name}, {scheme}, {size}: opened in {self.opened_s * 1e3:.0f} ms, {self.reports[name].stat().st_size} bytes")
                        self.assertLessEqual(self.reports[name].stat().st_size, MOST_BYTES)
                        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), SIZES[size][0], "it is no wider than the window")
                        if arguments.screenshots:
                            page.screenshot(path=f"{arguments.screenshots}/report-{name}-{scheme}-{size}.png", full_page=True)

    def test_texts_lie_within_their_pictures(self):
        outside = """() => [...document.querySelectorAll('svg')].flatMap((svg) => {
            const box = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter((t) => !t.closest('[clip-path]') && t.textContent).map((t) => [t.textContent, t.getBoundingClientRect()])
                .filter(([, r]) => r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2 || r.bottom > box.bottom + 2)
                .map(([text]) => text);
        })"""
        for name in self.reports:
            for size in SIZES:
                with self.subTest(name=name, size=size):
                    self.assertEqual(self.open(name, size=size).evaluate(outside), [])

    def test_the_timeline_by_keyboard(self):
        page = self.open("cores")
        svg = page.locator("#timeline svg")
        ticks = lambda: page.locator("#timeline .axis text").all_text_contents()
        whole = ticks()
        svg.focus()
        page.keyboard.press("+")
        page.keyboard.press("+")
        near = ticks()
        self.assertNotEqual(near, whole)
        page.keyboard.press("ArrowRight")
        self.assertNotEqual(ticks(), near)
        page.keyboard.press("n")
        expect(page.locator("#tip")).to_be_visible()
        self.assertGreater(page.locator("#timeline rect.picked").count(), 0)
        self.assertGreater(page.locator("#roofline circle.picked").count() + page.locator("#nodes tr.picked").count(), 0)
        page.keyboard.press("Escape")
        self.assertEqual(page.locator(".picked").count(), 0)
        page.keyboard.press("0")
        self.assertEqual(ticks(), whole)

    def test_a_resize_keeps_what_is_in_view(self):
        page = self.open("cores")
        page.locator("#timeline svg").focus()
        for key in ["+"] * 3 + ["ArrowRight"] * 3:
            page.keyboard.press(key)
        first = lambda: page.locator("#timeline .axis text").first.text_content()
        before = first()
        page.set_viewport_size({"width": 900, "height": 900})
        page.wait_for_function("document.querySelector('#timeline svg').viewBox.baseVal.width < 900")
        self.assertNotEqual(before, "0")
        number = lambda text: float(text.split()[0])
        self.assertLess(abs(number(first()) - number(before)), 1.5, "milliseconds: a tick further at most")
        self.assertGreater(page.locator("#timeline rect.slice").count(), 0)

    def test_the_pointer_tells_and_picks(self):
        page = self.open("cores")
        point = lambda where: where.dispatch_event("mousemove", {"clientX": 300, "clientY": 300})  # also at what lies under others
        point(page.locator("#timeline rect.slice").first)
        expect(page.locator("#tip")).to_be_visible()
        point(page.locator("#operators rect").first)
        expect(page.locator("#tip b")).to_have_text("Conv")
        dot = page.locator("#roofline circle").last
        dot.dispatch_event("click")
        expect(dot).to_have_class("dot node-dot picked")
        self.assertGreater(page.locator("#timeline rect.picked").count(), 0)

    def test_the_wheel_scrolls_the_page_and_zooms_with_control(self):
        page = self.open("cores")
        page.locator("#timeline svg").hover()
        whole = page.locator("#timeline .axis text").all_text_contents()
        page.mouse.wheel(0, 100)
        self.assertEqual(page.locator("#timeline .axis text").all_text_contents(), whole)
        page.keyboard.down("Control")
        page.locator("#timeline svg").hover()
        page.mouse.wheel(0, -300)
        page.keyboard.up("Control")
        self.assertNotEqual(page.locator("#timeline .axis text").all_text_contents(), whole)

    def test_the_table_is_sorted_and_filtered(self):
        page = self.open("cores")
        page.get_by_role("button", name="time", exact=True).click()
        first = page.locator("#nodes tbody tr").first
        expect(page.locator("#nodes th[aria-sort=descending]")).to_have_text("time")
        longest = first.locator("td").nth(1).text_content()
        page.get_by_role("button", name="#", exact=True).click()
        self.assertNotEqual(first.locator("td").nth(1).text_content(), "")
        page.get_by_role("searchbox").fill(longest)
        expect(first.locator("td").nth(1)).to_have_text(longest)
        page.get_by_role("searchbox").fill("no node has this name")
        expect(page.locator("#nodes tbody tr")).to_have_count(0)

    def test_a_row_of_the_table_is_picked_by_keyboard(self):
        page = self.open("cores")
        page.locator("#nodes tbody tr button").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#nodes tr.picked")).to_have_count(1)
        self.assertGreater(page.locator("#timeline rect.picked").count() + page.locator("#roofline circle.picked").count(), 0)

    def test_colours_follow_the_button(self):
        page = self.open("cores")
        back = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = back()
        page.get_by_role("button", name="dark colours").click()
        self.assertNotEqual(back(), light)
        page.get_by_role("button", name="light colours").click()
        self.assertEqual(back(), light)

    def test_print_is_dark_on_white(self):
        page = self.open("cores", scheme="dark")
        page.emulate_media(media="print")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertFalse(page.locator("#theme").is_visible())
        if arguments.screenshots:
            page.pdf(path=f"{arguments.screenshots}/report-cores.pdf", format="A4", print_background=True)


if __name__ == "__main__":
    main(__doc__)
