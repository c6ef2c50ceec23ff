"""Pages in a browser: what the tests of Mete's pages share. Needs the packages of requirements.txt, and Debian's chromium.

A test is a class of Browsed, and its file ends with `main(__doc__)`; `arguments` are then those of its command line.
"""
import argparse
import os
import pathlib
import shutil
import sys
import unittest

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZES = {"desk": (1200, 900), "phone": (390, 844)}
LONG_MS = 120_000  # for anything, on a busy machine
arguments = argparse.Namespace()


class Browsed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        playwright = sync_playwright().start()
        cls.addClassCleanup(playwright.stop)
        cls.browser = playwright.chromium.launch(executable_path=arguments.browser, args=["--no-sandbox"])
        cls.addClassCleanup(cls.browser.close)

    def opened(self, url, own, scheme="light", size="desk"):
        """The page. `complaints` are its errors and warnings, `asked` the addresses that it loads beside those that begin with one of `own`."""
        width, height = SIZES[size]
        context = self.browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(LONG_MS)
        self.asked, self.complaints = [], []
        page.on("request", lambda request: self.asked.append(request.url) if not request.url.startswith((*own, "data:")) else None)
        page.on("console", lambda message: self.complaints.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(url)
        return page


def main(text):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mete", type=os.path.abspath, default=str(ROOT / "build" / "release" / "mete"))
    parser.add_argument("--browser", default=shutil.which("chromium"), help="the program of the browser (default: chromium)")
    parser.add_argument("--screenshots", metavar="FOLDER", type=os.path.abspath, help="where pictures of the page are kept")
    _, rest = parser.parse_known_args(namespace=arguments)
    if not arguments.browser:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: no browser; try apt-get install chromium, or --browser PROGRAM")
    unittest.main(argv=[sys.argv[0], *rest])
