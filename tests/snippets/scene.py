"""A folder in which a document's commands run, with the files and the workers that they name. Standard library only."""
import collections
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import cli_testing
import stand_ins
from cli_testing import CANCELLED, OK
from terminal import OnTerminal

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINKED = ("bench", "boards", "models", "tools")  # folders of the source tree that snippets name
HOSTS = ("pi-1", "pi-2")  # of a devices file that no snippet has made
LONG_S = 600  # for what takes seconds, on a busy machine under a sanitizer

# Avahi's programs, whether it is installed or not: nobody is on the network, and whatever is announced is there.
AVAHI = {"avahi-browse": "exit 0", "avahi-publish-service": "echo Established >&2; exec sleep 1000"}


def expect(good, where, problem):
    if not good:
        place = f"{where.place}: " if hasattr(where, "place") else ""
        raise AssertionError(f"{place}{where}\n{problem() if callable(problem) else problem}")


class Tools:
    """What the snippets are run with, and what was done with how many of them."""

    def __init__(self, mete, build, cache):
        self.mete, self.build, self.cache = pathlib.Path(mete).resolve(), pathlib.Path(build).resolve(), cache
        self.counts, self.elsewhere, self.not_here = collections.Counter(), collections.Counter(), []
        self.profiled = False  # this machine, by `mete profile`

    @functools.cached_property
    def no_lab(self):
        """Why there is none; "" where labs are permitted."""
        made = subprocess.run([sys.executable, "-c", "import lab; print(lab.permitted()[1])"], capture_output=True, text=True, timeout=LONG_S,
                              cwd=ROOT / "tools" / "lab")
        if reason := made.stdout.strip() + made.stderr:
            return reason
        slowed = subprocess.run([self.build / "slowcore", "--core", "1", "--speed", "0.4", "--", "true"], capture_output=True, text=True,
                                timeout=LONG_S)
        return slowed.stderr.strip() if slowed.returncode else ""

    def environment(self, root):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("METE_")}
        pocl = pathlib.Path(tempfile.gettempdir()) / f"mete-tests-pocl-{os.getuid()}"  # as the unit tests have it
        return {**kept, "METE_CACHE": self.cache, "POCL_CACHE_DIR": str(pocl), "METE_SLOWCORE": str(self.build / "slowcore"),
                "METE_DELAYLINE": str(self.build / "delayline"), "HOME": str(root / "home"),
                "PATH": f"{root / 'bin'}:{kept['PATH']}"}


def without(words, flag):
    """The words without a flag and its value."""
    at = words.index(flag) if flag in words else len(words)
    return words[:at] + words[at + 2:]


class Scene:
    def __init__(self, tools, root):
        self.tools, self.root, self.folder, self.environment = tools, root, root / "work", tools.environment(root)
        self.printed = ""  # by the last command
        self.told = ""  # Python that uses the package, of the document so far
        self.workers = {}  # address by the name of the host
        self.server = None  # the address of a document's server
        self.processes = []
        for folder in (self.folder / "build", root / "bin", root / "home"):
            folder.mkdir(parents=True)
        for name in LINKED:
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "build" / "release").symlink_to(tools.build)
        (root / "bin" / "mete").symlink_to(tools.mete)
        for name, text in AVAHI.items():
            (root / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (root / "bin" / name).chmod(0o755)

    def end(self):
        for process in self.processes:
            process.kill()
            process.communicate()

    def run(self, words, stdin="", cwd=None):
        words = [str(self.tools.mete) if word == "mete" and at == 0 else str(word) for at, word in enumerate(words)]
        return subprocess.run(words, input=stdin, capture_output=True, text=True, timeout=LONG_S, cwd=cwd or self.folder,
                              env=self.environment)

    def succeeds(self, where, done, output=""):
        expect(done.returncode == 0, where, f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        self.printed = done.stdout
        if output:
            file = self.folder / output.replace("~", self.environment["HOME"], 1)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(done.stdout)
        return done

    def begins(self, command, words):
        """The first thing that it shows on a terminal is its progress or a result; Ctrl-C then ends it."""
        cli_testing.METE = self.tools.mete
        running = OnTerminal(*words[1:], env=self.environment, cwd=self.folder)
        running.read()
        running.interrupt()
        code = running.finish()
        expect(code in (OK, CANCELLED) and "error: [usage]" not in running.written, command, f"exit code {code}\n{running.written}")

    def prepared(self, words):
        """With files that it finds, and as short as it may be."""
        words = [word.replace("~", self.environment["HOME"], 1) if word.startswith("~") else word for word in words]
        if words[1:3] == ["keys", "show"]:
            self.provide_keys(self.folder / "keys" / HOSTS[0])
        elif words[1] != "keys":  # the others write what they name
            self.provide(words)
        if words[1] in ("bench", "profile") and "--seconds" in words:
            words[words.index("--seconds") + 1] = "1"
        elif words[1] == "bench" and "--runs" not in words:
            words += ["--seconds", "0.1"]
        elif words[1] == "profile" and "--energy" in words:  # a real meter would take minutes, and set frequencies
            words += ["--root", "copied-from-a-phone"]
            self.provide(words)
        elif words[1] == "profile" and "--starts" in words:
            words = [*without(words, "--rounds"), "--rounds", "1"]
        elif words[1] == "profile" and "--processors" not in words:
            words += ["--seconds", "1"]
        return words

    def provide(self, words):
        """The files that a command reads."""
        for before, word in zip(["", *words], words):
            path = self.folder / word.rpartition("=")[2]
            if path.parent not in (self.folder, self.folder / "keys"):
                continue  # the source tree has it, or it is missing there
            if before == "--processors" and "--machine" in words:
                continue  # a list of processors of the board, for which nothing is measured
            if before in self.MAKERS:
                self.MAKERS[before](self, path)
            elif before not in ("-o", "--output", "--trace"):
                stand_ins.make(path)

    def provide_keys(self, path):
        """The folder of a host; `mete keys make` makes those of all in one."""
        if not path.exists() and not (self.folder / "keys" / path.name).exists():
            self.succeeds(path, self.run(["mete", "keys", "make", "keys", "laptop", *HOSTS]))
        if not path.exists():
            path.symlink_to(self.folder / "keys" / path.name)

    def provide_token(self, path):
        if not path.exists():
            self.succeeds(path, self.run(["mete", "keys", "token", path]))

    def provide_machine(self, path):
        stand_ins.make_machine(path)

    def provide_devices(self, path):
        """Two workers, with keys where a snippet made some, and what was measured on them; also where `mete devices --toml` found nobody."""
        if path.name.startswith("cpu"):  # a list of this machine's processors is no file; plans need what was measured on them
            net = self.folder / "net.onnx"
            stand_ins.make(net)
            self.succeeds(path, self.run(["mete", "profile", net, "--processors", path.name]))
            return
        if path.exists() and "[[device" in path.read_text():
            return
        trust = 'keys = "keys/laptop"' if (self.folder / "keys" / "laptop").exists() else "insecure = true"
        text = f'name = "stand-ins"\n{trust}\n[[device]]\nname = "laptop"\n'
        path.write_text(text + "".join(f'[[device]]\nname = "{name}"\naddress = "{self.worker(name)}"\n' for name in HOSTS))
        net = self.folder / "net.onnx"
        stand_ins.make(net)
        self.succeeds(path, self.run(["mete", "profile", net, "--processors", path]))

    def provide_site(self, path):
        """A server at which nobody listens, so that the device answers."""
        if not path.exists():
            path.write_text('name = "a stand-in"\n[server]\naddress = "127.0.0.1:9"\n[link]\nprofile = "lan"\n')

    MAKERS = {"--site": provide_site, "--keys": provide_keys, "--token": provide_token, "--root": provide_machine, "--processors": provide_devices}

    def worker(self, host):
        """The address of the one of this host: started by a snippet, or like it."""
        if host not in self.workers:
            keys = self.folder / "keys" / host
            self.start_worker(host, ["mete", "worker", "--listen", "0.0.0.0:7077", *(["--keys", keys] if keys.exists() else [])])
        return self.workers[host]

    def start_worker(self, where, words):
        """It listens on this host alone, on a port that is free."""
        words = [re.sub(r"^[\d.]+:\d+$", "127.0.0.1:0", str(word)) for word in words]
        host = pathlib.Path(words[words.index("--keys") + 1]).name if "--keys" in words else where
        self.workers[host] = self.listening(where, words)

    def start_server(self, where, words):
        """It listens on this host alone, on a port that is free, and takes the place of the document's server before it."""
        for flag in ("--listen", "--grpc-listen"):
            if flag in words:
                del words[words.index(flag):words.index(flag) + 2]
        self.server = self.listening(where, [*words, "--listen", "127.0.0.1:0", "--log", "none"])

    def listening(self, where, words):
        """Starts a program that listens until it is stopped; returns its address."""
        process = subprocess.Popen([self.tools.mete, *words[1:]], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        watch = threading.Timer(LONG_S, process.kill)
        watch.start()
        found = next((match for match in (re.search(r"listening.*?(127[\d.]+:\d+)", line) for line in process.stdout) if match), None)
        watch.cancel()
        expect(found, where, process.stderr.read)
        return found[1]

    def help_of(self, *words):
        return self.succeeds(f"{' '.join(words)} --help", self.run([*words, "--help"])).stdout
