"""The page of `mete serve` in a browser: what is shown, by keyboard, with labels, in light and dark, at phone width, without other hosts.

    make test-page        # makes the environment under build/ and runs this
    python tests/serve/page_test.py --mete build/release/mete --screenshots FOLDER

Needs what tests/browser needs.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import expect

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "browser"))
from browsing import ROOT, SIZES, Browsed, arguments, main


class Server:
    def __init__(self, folder):
        words = [arguments.mete, "serve", folder, "--listen", "127.0.0.1:0", "--log", "none", "--json"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("}"):
                break
        self.address = json.loads(text)["listening"]

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=60)


class Page(Browsed):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        for name in ("digits.onnx", "digits.toml", "digits.labels.txt"):
            shutil.copy(ROOT / "models" / name, folder)
        cls.server = Server(folder)
        cls.addClassCleanup(cls.server.end)
        super().setUpClass()

    def open(self, scheme="light", size="desk"):
        """A page that was loaded, of which every request and every complaint is noted."""
        page = self.opened(self.server.address, (self.server.address, "blob:"), scheme, size)
        page.locator("#model option").first.wait_for(state="attached")
        return page

    def classify(self, page):
        page.get_by_label("Photo", exact=True).set_input_files(ROOT / "models" / "digit.png")
        page.locator(".answer").nth(1).wait_for()
        expect(page.locator("#photo-state")).to_contain_text("digits says: 5")

    def test_a_photo_is_classified_in_both_ways(self):
        for scheme in ("light", "dark"):
            for size, (width, _) in SIZES.items():
                with self.subTest(scheme=scheme, size=size):
                    page = self.open(scheme, size)
                    self.classify(page)
                    for title, steps in {"Raw photo to the server": ["sent and received", "waited", "decoded", "scaled", "computed"],
                                         "Scaled in the browser first": ["scaled in the browser", "decoded", "computed"]}.items():
                        card = page.locator(".answer", has=page.get_by_role("heading", name=title))
                        for step in steps:
                            expect(card.get_by_role("rowheader", name=step, exact=True)).to_be_visible()
                    self.assertLessEqual(page.locator("body").evaluate("body => document.documentElement.scrollWidth"), width)
                    page.locator("#models td", has_text="READY").wait_for()
                    if arguments.screenshots:
                        page.screenshot(path=os.path.join(arguments.screenshots, f"page-{scheme}-{size}.png"), full_page=True)
                    self.assertEqual((self.asked, self.complaints), ([], []))

    def test_a_photo_is_dropped_or_pasted(self):
        transfer = """bytes => {
            const made = new DataTransfer();
            made.items.add(new File([new Uint8Array(bytes)], 'digit.png', {type: 'image/png'}));
            return made;
        }"""
        photo = list((ROOT / "models" / "digit.png").read_bytes())
        for event in ("drop", "paste"):
            with self.subTest(event=event):
                page = self.open()
                given = page.evaluate_handle(transfer, photo)
                if event == "drop":
                    page.locator("#drop").dispatch_event("dragover", {"dataTransfer": given})
                    expect(page.locator("#drop.over")).to_be_visible()
                    page.locator("#drop").dispatch_event("drop", {"dataTransfer": given})
                    expect(page.locator("#drop.over")).to_have_count(0)
                else:
                    page.evaluate("given => document.dispatchEvent(new ClipboardEvent('paste', {clipboardData: given}))", given)
                page.locator(".answer").nth(1).wait_for()
                expect(page.locator("#photo-state")).to_contain_text("digits says: 5")
                self.assertEqual((self.asked, self.complaints), ([], []))

    def test_the_keyboard_reaches_all_that_can_be_done(self):
        page = self.open()
        self.classify(page)
        reached = []
        page.locator("body").press("Tab")
        for _ in range(10):
            reached.append(page.locator(":focus").evaluate("element => element.id || element.getAttribute('aria-label')")
                           if page.locator(":focus").count() else "")
            page.keyboard.press("Tab")
        for wanted in ("Models, a table that scrolls sideways", "model", "file", "again"):
            self.assertIn(wanted, reached)
        before = page.locator("#photo-state").inner_text()
        page.locator("#again").focus()
        page.keyboard.press("Enter")
        page.locator(".answer").nth(1).wait_for()
        expect(page.locator("#photo-state")).to_have_text(before)

    def test_everything_has_a_name_for_screen_readers(self):
        page = self.open()
        self.classify(page)
        expect(page.get_by_role("combobox", name="Model")).to_be_visible()
        expect(page.get_by_role("button", name="Classify again")).to_be_enabled()
        expect(page.get_by_role("table", name="Models")).to_be_visible()
        expect(page.get_by_role("img", name="Answers per second in the last two minutes")).to_be_visible()
        expect(page.get_by_role("img", name="the photo that was classified")).to_be_visible()
        self.assertEqual(page.locator("html").get_attribute("lang"), "en")
        self.assertEqual(page.get_by_role("status").count(), 2)
        unnamed = page.locator("button, select, input").evaluate_all(
            "all => all.filter(e => !e.textContent.trim() && !(e.labels && e.labels.length) && !e.getAttribute('aria-label')).map(e => e.outerHTML)")
        self.assertEqual(unnamed, [])

    def test_what_is_no_picture_is_told(self):
        page = self.open()
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(b"no picture")
            file.flush()
            page.get_by_label("Photo", exact=True).set_input_files(file.name)
            expect(page.locator("#photo-state.bad")).to_contain_text("picture")


if __name__ == "__main__":
    main(__doc__)
