"""What is done with the snippets of one document, in their order. Standard library only.

Each command is claimed by one of the RULES, by its first words. What a rule cannot run it checks: files, targets, flags.
"""
import dataclasses
import fnmatch
import functools
import json
import os
import pathlib
import re
import sys

from scene import ROOT, Scene, expect
from snippets import commands

# What belongs to other hosts, or changes this one.
ELSEWHERE = {
    "git clone *": "where the repository lies is the reader's to know",
    "cd mete": "into what was cloned",
    "scp build/*": "to a board",
    "ssh *": "on a board",
    "sudo *": "installs, or sets up a service or a firewall",
    "journalctl *": "the journal of a service that is not installed here",
}


class Session(Scene):
    def steps(self, snippet):
        """What is to be done with a snippet, each step with its place."""
        if snippet.language in ("sh", "inline"):
            inline = snippet.language == "inline"
            return [(command.place, functools.partial(self.command, command, inline)) for command in commands(snippet)]
        return [(snippet.place(), functools.partial(KINDS.get(snippet.language, Session.unknown), self, snippet))]

    def printed_text(self, snippet):
        """A block without a language; nobody runs it, so it must not show what could be run. A screen of mete top has its title."""
        expect(not re.search(r"^(\$|mete(?! top  )|make|cmake) ", snippet.text, re.MULTILINE), snippet.place(), "nobody runs this command")

    def later(self, snippet):
        """C++: all of a file becomes one program."""

    def unknown(self, snippet):
        expect(False, snippet.place(), f"nobody runs snippets of this language: {snippet.language}")

    def command(self, command, inline):
        rules = [rule for pattern, rule in RULES.items() if fnmatch.fnmatch(" ".join(command.words), pattern)]
        expect(len(rules) == 1, command, f"nobody runs this snippet: {len(rules)} rules claim it; expected one of session.py's RULES")
        rule = Session.mentioned if inline and rules[0] is Session.mete else rules[0]
        self.tools.counts[rule(self, command)] += 1

    def toml(self, snippet):
        if "[[device]]" in snippet.text:
            self.devices_file(snippet)
        elif "[server]" in snippet.text:
            self.site_file(snippet)
        else:
            self.preprocessing(snippet)
        self.tools.counts["TOML files read"] += 1

    def devices_file(self, snippet):
        """home.toml, with workers on this host instead of boards."""
        names = iter(re.findall(r'^name = "([^"]+)".*\naddress', snippet.text, re.MULTILINE))
        text = re.sub(r'^address = "[^"]+"', lambda _: f'address = "{self.worker(next(names))}"', snippet.text, flags=re.MULTILINE)
        (self.folder / "home.toml").write_text(text)

    def site_file(self, snippet):
        """site.toml, with an address of this host at which nobody listens: the device answers."""
        text = re.sub(r'^address = "[^"]+"', 'address = "127.0.0.1:9"', snippet.text, flags=re.MULTILINE)
        (self.folder / "site.toml").write_text(text)

    def preprocessing(self, snippet):
        (self.folder / "net.toml").write_text(snippet.text)
        words = ["mete", "run", "net.onnx", "cat.jpg"]
        self.provide([*words, *re.findall(r'"([^"]+\.txt)"', snippet.text)])
        done = self.run(words)
        expect(done.returncode == 0 and "warning" not in done.stderr, snippet.place(), done.stderr)

    def service(self, snippet):
        """A unit of systemd, and the command that it starts."""
        starts = re.search(r"^ExecStart=(\S+) (.*)$", snippet.text, re.MULTILINE)
        expect(starts, snippet.place(), "the unit starts nothing")
        self.check_flags(snippet.place(), starts[2].split()[1:], self.help_of("mete", starts[2].split()[0]))
        unit = self.folder / "snippet.service"
        unit.write_text(snippet.text.replace(starts[1], str(self.tools.mete)))
        try:
            done = self.run(["systemd-analyze", "verify", unit])
        except FileNotFoundError:
            self.tools.not_here.append(f"{snippet.place()}: systemd-analyze is not installed")
            return
        told = [line for line in done.stderr.splitlines() if unit.name in line]  # of other units it tells, too
        expect(done.returncode == 0 and not told, snippet.place(), done.stderr)
        self.tools.counts["systemd units verified"] += 1

    def python(self, snippet):
        if "import mete" in self.told + snippet.text:
            self.package(snippet)
        elif self.lab_is_permitted(snippet.place()):
            self.succeeds(snippet.place(), self.run([sys.executable, "-c", snippet.text]))
            self.tools.counts["Python snippets run"] += 1

    def package(self, snippet):
        """Python that uses the package: it goes on where the document's snippets before it ended."""
        interpreter, package = ROOT / "build" / "python-tools" / "bin" / "python", self.tools.build / "python"
        if not (package / "mete" / "_mete.pyi").is_file():
            self.tools.not_here.append(f"{snippet.place()}: this build has no Python package")
            return
        self.told += snippet.text
        self.provide(re.findall(r'"([\w./-]+\.(?:onnx|tflite|jpg|toml)|pictures)"', snippet.text))
        self.environment.update({"PYTHONPATH": str(package)})
        self.succeeds(snippet.place(), self.run([interpreter, "-c", self.told]))
        self.tools.counts["Python snippets run"] += 1

    # --- rules: each says what was done, for the figures in the end

    def mete(self, command):
        words = list(command.words)
        if words[1] == "compare" and not (self.tools.build.parent / "peers").exists():  # it would install them from PyPI
            self.mentioned(command)
            return "mete compare: flags checked, as the peers are not installed"
        missing = cores_of(words) - os.sched_getaffinity(0)
        if missing:
            self.tools.not_here.append(f"{command.place}: this machine lacks core {min(missing)}")
            return "mete commands for machines with more cores"
        if self.lacks_gpu(words):
            self.tools.not_here.append(f"{command.place}: this machine has no GPU, and no PoCL")
            return "mete commands for machines with a GPU"
        if words == ["mete", "profile"] and self.tools.profiled:
            return "mete profile: one serves all documents, as it takes long"
        self.tools.profiled |= words == ["mete", "profile"]
        if words[1] == "top" and (words[2].startswith("--worker") or re.search(r":\d+$", words[2])):
            self.mentioned(command)
            return "mete top of servers and workers: flags checked"
        words = self.prepared(words)
        if words[1] == "top" and "--count" not in words:  # it would not end
            words += ["--count", "1"]
        if words[1] == "worker":
            self.start_worker(command.place, words)
            return "mete workers started"
        if words[1] == "serve":
            self.start_server(command.place, words)
            return "mete servers started"
        if "--in-turns" in words or words[1:4] == ["zoo", "make", "all"]:
            self.begins(command, words)
            return "mete commands begun, as they take minutes"
        if "--energy" in words:
            done = self.run(words)
            expect("a copied tree cannot be measured; on its machine powercap package-0" in done.stderr, command, done.stderr)
            return "mete commands whose meter is a copy"
        self.succeeds(command, self.run(words, self.printed if command.piped else ""), command.output)
        return "mete commands run"

    def mentioned(self, command):
        """In a sentence, where words may be left out: its flags are there. MODEL and the like stand for the reader's own words."""
        known = [word for word in command.words[1:3] if word.islower() and word.isalpha()]
        page = self.help_of("mete", *known)
        expect(page.count(f"Usage: mete {' '.join(known[:1])}"), command, "no such command")
        self.check_flags(command, command.words, page)
        return "mete commands in sentences: flags checked"

    def export(self, command):
        """For the other commands of the document."""
        self.environment.update(word.split("=", 1) for word in command.words[1:])
        return "environment variables set"

    def lacks_gpu(self, words):
        """Whether the command names a GPU that this machine does not have."""
        lists = values(words, "--processors") if "--machine" not in words else []
        if not any(re.search(r"(^|,)gpu", value) for value in lists):
            return False
        return not json.loads(self.run(["mete", "machine", "--json"]).stdout)["gpus"]

    def curl(self, command):
        """A request to the server of the same document, which has a port of its own."""
        expect(self.server, command, "no `mete serve` stands before it")
        words = [re.sub(r"^(http://)?localhost:8080", self.server, word) for word in command.words]
        try:
            self.succeeds(command, self.run([*words, "--fail-with-body"]), command.output)
        except FileNotFoundError:
            self.tools.not_here.append(f"{command.place}: curl is not installed")
            return "requests for which a program is not installed"
        return "requests to servers"

    def filter(self, command):
        try:
            self.succeeds(command, self.run(command.words, self.printed), command.output)
        except FileNotFoundError:
            self.tools.not_here.append(f"{command.place}: {command.words[0]} is not installed")
            return "filters that are not installed"
        return "filters run"

    def source(self, command):
        self.succeeds(command, self.run(["bash", "-c", f"{' '.join(command.words)} && complete -p mete"]))
        return "completions sourced"

    def copy(self, command):
        """A host's keys to the host: here all hosts have one folder."""
        *_, source, target = command.words
        host = target.removesuffix(":")
        expect(pathlib.Path(source).name == host, command, "these are not the keys of that host")
        self.succeeds(command, self.run(["cp", "-r", source, "."]))
        return "keys copied"

    def make(self, command):
        done = self.succeeds(command, self.run(["make", "-n", *command.words[1:]], cwd=ROOT))
        for line in re.findall(r"^(?:python3 )?bench/.*", done.stdout, re.MULTILINE):  # with flags that the snippet may have given
            self.script(dataclasses.replace(command, words=tuple(line.split())))
        return "make targets checked"

    def cmake(self, command):
        """Presets and targets are there."""
        words = list(command.words)
        kind = "test" if words[0] == "ctest" else "build" if "--build" in words else "configure"
        presets = json.loads((ROOT / "CMakePresets.json").read_text())[f"{kind}Presets"]
        unknown = set(values(words, "--preset")) - {preset["name"] for preset in presets}
        expect("--preset" in words and not unknown, command, f"not a {kind} preset: {unknown}")
        targets = self.run(["ninja", "-C", self.tools.build, "-t", "targets", "all"]).stdout
        for target in values(words, "--target"):
            expect(re.search(rf"^{re.escape(target)}: ", targets, re.MULTILINE), command, f"no such target: {target}")
        return "cmake and ctest presets checked"

    def install(self, command):
        self.environment["DESTDIR"] = str(self.root / "installed")
        self.succeeds(command, self.run(command.words))
        return "installations made"

    def built(self, command):
        """A program of the build: its tests are there, or its flags."""
        program = self.tools.build / pathlib.Path(command.words[0]).name
        expect(program.is_file(), command, "no such program in a build of all targets; name the make target that builds it")
        flags, inner = split_at(command.words[1:], "--")
        if inner:
            self.mentioned(dataclasses.replace(command, words=inner))
        if any(flag.startswith("--gtest_filter") for flag in flags):
            done = self.succeeds(command, self.run([program, "--gtest_list_tests", *flags]))
            expect(re.search("^  ", done.stdout, re.MULTILINE), command, "no such test")
        else:
            self.check_flags(command, flags, self.succeeds(command, self.run([program, "--help"])).stdout)
        return "programs of the build checked"

    def emulated(self, command):
        """The program is one for Arm; the one of this build has the same tests."""
        expect(command.words[1] == "-L", command, "expected qemu-aarch64 -L SYSROOT PROGRAM")
        return self.built(dataclasses.replace(command, words=command.words[3:]))

    def script(self, command):
        """A program of the source tree. It is not run: it would measure for minutes, or install."""
        words = command.words[1:] if command.words[0] == "python3" else command.words
        before, names, after = re.fullmatch(r"([^{]*)(?:{(.*)})?([^}]*)", words[0]).groups()
        for name in (names or "").split(","):  # a{b,c}.py: of both
            file = ROOT / f"{before}{name}{after}"
            expect(file.is_file() and (file.suffix == ".py" or os.access(file, os.X_OK)), command, "no such program")
            self.check_flags(command, words[1:], self.flags_of_script(file))
        return "scripts checked"

    def lab(self, command):
        if not self.lab_is_permitted(command.place):
            return "labs that are not permitted here"
        words = list(command.words)
        if words[1] == "measure" and "--seconds" not in words:
            words += ["--seconds", "0.1"]
        self.succeeds(command, self.run(words))
        return "labs run"

    def elsewhere(self, command):
        reasons = [why for pattern, why in ELSEWHERE.items() if fnmatch.fnmatch(" ".join(command.words), pattern)]
        self.tools.elsewhere[reasons[0]] += 1
        return "commands of other hosts"

    def check_flags(self, where, words, known):
        for word in words:
            flag = word.partition("=")[0]
            expect(not flag.startswith("--") or re.search(rf"(?<![\w-]){flag}(?![\w-])", known), where, f"no such flag: {flag}")

    def flags_of_script(self, file):
        if file.suffix == ".py":
            return self.run([sys.executable, file, "--help"]).stdout
        text = file.read_text()  # and of what it hands its flags on to
        return text + "".join((file.parent / name).read_text() for name in re.findall(r"\$here/(\w+\.py)", text))

    def lab_is_permitted(self, place):
        if self.tools.no_lab:
            self.tools.not_here.append(f"{place}: {self.tools.no_lab}")
        return not self.tools.no_lab


RULES = {
    "curl *": Session.curl,
    "mete *": Session.mete,
    "jq *": Session.filter,
    "dot *": Session.filter,
    "source <(mete *": Session.source,
    "export *": Session.export,
    "scp -r keys/*": Session.copy,
    "make *": Session.make,
    "cmake --install build/release": Session.install,
    "cmake --build *": Session.cmake,
    "cmake --preset *": Session.cmake,
    "ctest *": Session.cmake,
    "build/release/*": Session.built,
    "qemu-aarch64 *": Session.emulated,
    "python3 *.py*": Session.script,
    "bench/*": Session.script,
    "tools/*.sh*": Session.script,
    "tools/lab/lab.py *": Session.lab,
    **{pattern: Session.elsewhere for pattern in ELSEWHERE},
}
KINDS = {"": Session.printed_text, "cpp": Session.later, "toml": Session.toml, "ini": Session.service, "python": Session.python}


def split_at(words, word):
    at = words.index(word) if word in words else len(words)
    return words[:at], words[at + 1:]


def values(words, flag):
    """What stands behind a flag, up to the next one."""
    found = []
    for at, word in enumerate(words):
        if word == flag:
            rest = words[at + 1:]
            found += rest[:next((i for i, w in enumerate(rest) if w.startswith("-")), len(rest))]
    return found


def cores_of(words):
    """The numbers in --cores 0,1 or 0:1.0,1:0.4 of this machine; names of clusters, and other machines' cores, are none."""
    if "--machine" in words:
        return set()
    if "--processors" in words:
        return {int(core) for value in values(words, "--processors") for core in re.findall(r"cpu:(\d+)", value)}
    return {int(core) for value in values(words, "--cores") for core in re.findall(r"(?:^|,)(\d+)", value)}
