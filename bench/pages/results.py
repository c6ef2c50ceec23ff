"""Writes the tables and plots of docs/results: tables from the measurements in bench/results, plots from the tables of the pages.

What stands in a page's markers is page_parts.py's. All pages and pictures are made before one is written, so that a problem leaves all as they are.
"""
import argparse
import os
import pathlib
import sys

_bench = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_bench / "common"))
import page_parts
from measurements import Measurements
from output import kFailure, kSuccess, say, write_whole
from problem import Problem


def made(results, pages):
    """{path: text} of all pages, and of the pictures that they have markers for."""
    measurements, texts, shown = Measurements(results), {}, set()
    for path in sorted(pages.glob("*.md")):
        name = os.path.relpath(path)
        text = page_parts.with_tables(name, path.read_text(encoding="utf-8"), measurements)
        for picture, drawn in page_parts.plots(name, text):
            if pages / picture in texts:
                raise Problem(name, "two plots have one name", picture, "a name for each", "another name")
            texts[pages / picture] = drawn
        texts[path] = text
        shown |= page_parts.embedded(text)
    measurements.check_that_all_are_used()
    _check_pictures(pages, shown, texts)
    return texts


def _check_pictures(pages, shown, texts):
    there = {path.name for path in [*pages.glob("*.svg"), *texts] if path.suffix == ".svg"}
    for picture in sorted(there - shown):
        raise Problem(picture, "no page shows this picture", "no page with it", "each picture of docs/results in a page", "to delete it")
    for picture in sorted(shown - there):
        raise Problem(picture, "a page shows a picture that nothing draws", "no file", "a plot's marker above it", "a marker, or to mend the name")


def changed(texts):
    """What is on the disk otherwise, or not at all."""
    return {path: text for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where something would change")
    parser.add_argument("--results", type=pathlib.Path, default=_bench / "results", metavar="FOLDER", help="with the measurements (default: bench/results)")
    parser.add_argument("--pages", type=pathlib.Path, default=_bench.parent / "docs" / "results", metavar="FOLDER", help="(default: docs/results)")
    flags = parser.parse_args()
    for name, folder in (("--results", flags.results), ("--pages", flags.pages)):
        if not folder.is_dir():
            parser.error(f"[{name}] no such folder; got '{folder}', expected a folder; try another one")
    return flags


def main(flags):
    try:
        texts = made(flags.results, flags.pages)
        different = changed(texts)
        for path, text in different.items():
            if not flags.check:
                write_whole(path, text)
            say(f"{'differs' if flags.check else 'wrote'}: {path.name}")
    except (Problem, OSError, UnicodeError) as problem:
        say(problem)
        return kFailure
    if flags.check and different:
        say("results: pages or pictures are not what their measurements and tables say; try make results")
        return kFailure
    return kSuccess


if __name__ == "__main__":
    sys.exit(main(arguments()))
