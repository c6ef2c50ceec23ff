#!/usr/bin/env python3
"""Writes the pages of the site (make site): stage.py --mete PROGRAM --to FOLDER --config FILE

Documents keep their places, so that links between them hold; README.md becomes index.md. A link to a file that is no document, such as a header, becomes
its text. Commands come from the program's help, as the manual page does. FILE is mkdocs.yml with the lists of pages filled in.
"""
import argparse
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = ["README.md", "HACKING.md", "CHANGELOG.md", "CONTRIBUTING.md", "THIRD_PARTY.md"]
PYTHON_PAGE = """# Python

The package `mete`: [how to use it](../docs/how-to/python.md).

::: mete
"""
CPP_PAGE = """# C++

The public headers, `include/mete`: [what they declare](../cpp/index.html). [Mete in a program](../docs/how-to/in-a-program.md) begins with an example.
"""


def documents():
    return [ROOT / name for name in TOP] + sorted((ROOT / "docs").rglob("*.md"))


def linked(text, page, staged):
    """The text with links to what the site has, in the places that it has there."""
    def place(match):
        label, target, anchor = match.group(1), match.group(2), match.group(3) or ""
        if "://" in target or not target:
            return match.group(0)
        file = (page.parent / target).resolve()
        if file == ROOT / "README.md":
            return f"[{label}]({target[:-len('README.md')]}index.md{anchor})"
        if file.is_dir() and file / "README.md" in staged:
            return f"[{label}]({target.rstrip('/')}/README.md{anchor})"
        if file in staged or file.suffix == ".svg":
            return match.group(0)
        return label if label.startswith("`") else f"{label} (`{file.relative_to(ROOT)}`)"
    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)", place, text)


def title_of(page):
    return next((line[2:].strip() for line in page.read_text().splitlines() if line.startswith("# ")), page.stem)


def listed(folder, indent):
    """The pages of a folder for mkdocs.yml, an index first."""
    pages = sorted((ROOT / folder).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
    rows = [f'{indent}- "{title_of(page).replace(chr(34), chr(39))}": {folder}/{page.name}' for page in pages]
    return "\n" + "\n".join(rows)


def commands(mete):
    def said(*words):
        return subprocess.run([mete, *words], stdout=subprocess.PIPE, text=True, check=True, env={"COLUMNS": "100", "PATH": "/usr/bin:/bin"}).stdout
    names = re.findall(r"^  ([a-z]+)  ", said("--help").split("Commands:")[1].split("Options:")[0], re.M)
    text = "# Commands\n\nWhat `mete COMMAND --help` prints.\n\n" + f"```\n{said('--help')}```\n"
    for name in names:
        text += f"\n## mete {name}\n\n```\n{said(name, '--help')}```\n"
        below = re.search(r"^Commands:\n(.*?)^\S", said(name, "--help"), re.M | re.S)
        for inner in re.findall(r"^  ([a-z]+)  ", below.group(1), re.M) if below else []:
            text += f"\n### mete {name} {inner}\n\n```\n{said(name, inner, '--help')}```\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mete", required=True)
    parser.add_argument("--to", required=True, type=pathlib.Path)
    parser.add_argument("--config", required=True, type=pathlib.Path)
    flags = parser.parse_args()
    shutil.rmtree(flags.to, ignore_errors=True)
    staged = set(documents())
    for page in staged:
        place = flags.to / ("index.md" if page == ROOT / "README.md" else page.relative_to(ROOT))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(linked(page.read_text(), page, staged))
    for picture in (ROOT / "docs").rglob("*.svg"):
        shutil.copy(picture, flags.to / picture.relative_to(ROOT))
    (flags.to / "reference").mkdir()
    (flags.to / "reference" / "commands.md").write_text(commands(flags.mete))
    (flags.to / "reference" / "python.md").write_text(PYTHON_PAGE)
    (flags.to / "reference" / "cpp.md").write_text(CPP_PAGE)
    (flags.to / "cpp").mkdir()
    (flags.to / "cpp" / "index.html").write_text("")  # so that its link is one; Doxygen writes the page
    text = (pathlib.Path(__file__).parent / "mkdocs.yml").read_text()
    text = re.sub(r"^( *)- (.*): @(\S+)$", lambda m: f"{m[1]}- {m[2]}:" + listed(m[3], m[1] + "    "), text, flags=re.M)
    flags.config.write_text(text)


if __name__ == "__main__":
    main()
