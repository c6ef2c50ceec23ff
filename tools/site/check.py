#!/usr/bin/env python3
"""Checks the site (make site): check.py SITE. Every link within it leads somewhere, to an anchor as well, and no page names a script, picture, frame or style sheet from elsewhere."""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """What a page loads, what it links, and the places in it."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.links, self.ids = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag in ("script", "img", "iframe", "source") and values.get("src"):
            self.loads.append(values["src"])
        if tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(values["href"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in site.rglob("*.html")}
    problems = []
    for path, page in pages.items():
        ours = "cpp" not in path.relative_to(site).parts  # Doxygen's own anchors are its business
        for target in page.loads + page.links:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme not in ("data", "javascript"):
                    problems.append(f"{path.relative_to(site)} loads {target}")
                continue
            file = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if path.name == "404.html" and parts.path.startswith("/"):
                file = site / parts.path.lstrip("/")
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                problems.append(f"{path.relative_to(site)} links {target}, which is not there")
            elif parts.fragment and ours and file in pages and urllib.parse.unquote(parts.fragment) not in pages[file].ids and parts.fragment != "__skip":
                problems.append(f"{path.relative_to(site)} links {target}, which has no such place")
    for problem in sorted(set(problems)):
        print(problem)
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links, {len(set(problems))} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
