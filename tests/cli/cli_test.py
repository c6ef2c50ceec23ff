"""Runs the command line as its users do. Standard library only."""
import argparse
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import zlib

METE = None
NET = "squeezenet1.1"  # small and quick; data 1x3x224x224
OK, FAILURE, USAGE, BAD_FILE, UNSUPPORTED, CANCELLED = range(6)


def mete(*args, env=None):
    return subprocess.run([METE, *map(str, args)], capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})})


def npy(dtype, shape, data):
    dims = "".join(f"{d}," for d in shape)
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({dims}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def png(width, height):
    """A gradient, 8 bits RGB."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in (x * 255 // width, y * 255 // height, 128)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def fish_completions(script, line):
    """What fish offers at the end of the line."""
    command = ["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return [offer.split("\t")[0] for offer in done.stdout.splitlines()]


def drain(terminal):
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the other end is closed
        pass


ZSHRC = r"""
PS1='' LISTMAX=10000  # no question before a long list
autoload -Uz compinit && compinit -u -D
{load}
compadd() {{  # keeps what is offered; those that only ask (-O, -A, -D) offer nothing
  local -a offered
  [[ " ${{(j: :)@[1,(i)(-|--)]}}" == *\ -[OAD]* ]] || {{ builtin compadd -O offered "$@"; print -rl -- $offered >> {out} }}
  builtin compadd "$@"
}}
zle-line-init() {{ BUFFER={line}; CURSOR=$#BUFFER; zle list-choices; exit }}
zle -N zle-line-init
"""


def zsh_completions(folder, load, line):
    """What zsh offers at the end of the line: the completion system needs a line editor, and that a terminal."""
    out = folder / "offered"
    out.write_text("")
    (folder / ".zshrc").write_text(ZSHRC.format(load=load, out=shlex.quote(str(out)), line=shlex.quote(line)))
    ours, theirs = pty.openpty()
    reader = threading.Thread(target=drain, args=(ours,))  # a full terminal would block the shell
    reader.start()
    try:
        env = {**os.environ, "ZDOTDIR": str(folder), "TERM": "xterm"}
        subprocess.run(["zsh", "-d", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, env=env, timeout=60, start_new_session=True)
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return sorted(set(out.read_text().split()))


class Cli(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.net = cls.root / "net.onnx"
        made = mete("zoo", "make", NET, "-o", cls.net)
        assert made.returncode == OK, made.stderr
        summary = json.loads(mete("inspect", cls.net, "--json").stdout)
        cls.input, cls.output = summary["inputs"][0], summary["outputs"][0]
        cls.picture = cls.root / "picture.png"
        cls.picture.write_bytes(png(64, 48))
        cls.tensor = cls.root / "data.npy"
        cls.tensor.write_bytes(npy("<f4", cls.input["shape"], struct.pack("<f", 0.5) * cls.elements()))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def elements(cls):
        count = 1
        for d in cls.input["shape"]:
            count *= d
        return count

    def path(self, name, data=None):
        path = self.root / f"{self._testMethodName}_{name}"
        if data is not None:
            path.write_bytes(data)
        return path

    def answer(self, *args, env=None):
        """The JSON on stdout of a command that must succeed."""
        done = mete(*args, "--json", env=env)
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads(done.stdout)

    def fails(self, code, text, *args):
        """The error reaches stderr alone, in both forms, and the exit code tells its kind."""
        plain = mete(*args)
        self.assertEqual(plain.returncode, code, plain.stdout + plain.stderr)
        self.assertIn("mete: error: [", plain.stderr)
        self.assertIn(text, plain.stderr)
        machine = mete(*args, "--json")
        self.assertEqual(machine.returncode, code, machine.stderr)
        self.assertEqual(machine.stdout, "")
        error = json.loads(machine.stderr.splitlines()[-1])["error"]
        self.assertIn(text, error["message"])
        self.assertTrue(error["code"].isupper())


class Profiles(Cli):
    def test_a_check_needs_a_profile_of_this_machine(self):
        cache = self.path("cache")
        env = {"METE_CACHE": str(cache)}
        done = mete("profile", "--check", self.net, env=env)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("[profile] there is none of this machine", done.stderr)
        self.assertIn("try \"mete profile\"", done.stderr)
        done = mete("profile", "--check", self.net, "--energy", env=env)
        self.assertEqual(done.returncode, USAGE)

    def test_a_profile_that_does_not_serve_is_refused_and_inference_goes_on(self):
        # Its name is the processor's and the target's, as the file of tuned times has them in front.
        cache = self.path("cache")
        env = {"METE_CACHE": str(cache)}
        run = ["bench", self.net, "--runs", "2", "--threads", "1", "--json"]
        self.assertEqual(mete(*run, env=env).returncode, OK)
        (tuned,) = (cache / "tuning").iterdir()
        version = subprocess.run([METE, "--version"], capture_output=True, text=True).stdout.split()[-1]
        profile = cache / "profiles" / (tuned.name.split("-" + version)[0] + ".json")
        profile.parent.mkdir()
        for text, why in [("nonsense", "not a profile"), ('{"format": "mete-profile"}', "not a profile"), ("", "not a profile")]:
            profile.write_text(text)
            done = mete(*run, env=env)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertIn(why, done.stderr)
            self.assertIn(str(profile), done.stderr)
            self.assertEqual(mete("profile", "--check", self.net, env=env).returncode, USAGE)
            plan = mete("plan", self.net, env=env)
            self.assertEqual(plan.returncode, OK, plan.stderr)
            self.assertIn(why, plan.stderr)
            self.assertIn("every step has all threads", plan.stdout)


class Help(Cli):
    def test_every_command_teaches(self):
        for words in ([], ["run"], ["bench"], ["compare"], ["inspect"], ["machine"], ["plan"], ["profile"], ["simulate"], ["zoo"],
                      ["zoo", "list"], ["zoo", "make"], ["completion"]):
            done = mete(*words, "--help")
            self.assertEqual(done.returncode, OK)
            self.assertIn("Examples:\n  ", done.stdout, words)
            self.assertGreaterEqual(done.stdout.split("Examples:")[1].count("mete "), 2, words)
        self.assertIn("Exit codes:", mete("--help").stdout)
        self.assertIn("METE_TARGET", mete("--help").stdout)
        self.assertIn("mete ", mete("--version").stdout)

    def test_what_is_printed_about_mete_has_a_json_form(self):
        self.assertEqual(mete("--version").stdout, f"mete {self.answer('--version')['version']}\n")
        self.assertEqual(mete("--man").stdout, self.answer("--man")["man"])
        for words in ([], ["zoo", "make"]):
            self.assertEqual(mete(*words, "--help").stdout, self.answer(*words, "--help")["help"])

    def test_manual_page_names_every_flag(self):
        page = mete("--man").stdout
        self.assertTrue(page.startswith(".TH METE 1"))
        for word in ("EXIT STATUS", "mete bench", "\\-\\-resize\\-shorter", "\\-\\-save\\-plan", "METE_TARGET"):
            self.assertIn(word, page)

    def test_completions_are_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            script = mete("completion", shell).stdout
            self.assertIn("disable-pass", script)
            path = self.path(shell, script.encode())
            try:
                checked = subprocess.run([shell, "-n", path], capture_output=True, text=True)
            except FileNotFoundError:
                continue
            self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_bash_completes_commands_and_flags(self):
        script = self.path("bash", mete("completion", "bash").stdout.encode())
        def complete(*words):
            line = " ".join(f"'{w}'" for w in words)
            text = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _mete; echo \"${{COMPREPLY[@]}}\""
            return subprocess.run(["bash", "-c", text], capture_output=True, text=True).stdout.split()
        self.assertEqual(complete("mete", "ben"), ["bench"])
        self.assertEqual(complete("mete", "zoo", "ma"), ["make"])
        self.assertEqual(complete("mete", "zoo", "make", "squeezenet1.1"), ["squeezenet1.1"])
        self.assertEqual(complete("mete", "completion", "z"), ["zsh"])
        self.assertEqual(complete("mete", "run", "net.onnx", "--disable-pass", "fold-b"), ["fold-batchnorm"])
        self.assertIn("--save-plan", complete("mete", "run", "net.onnx", "--sa"))
        self.assertNotIn("--warmup", complete("mete", "run", "--"))


    def test_fish_completes_commands_flags_and_values(self):
        self.completes("fish", lambda line: fish_completions(self.path("fish", mete("completion", "fish").stdout.encode()), line))

    def test_zsh_completes_commands_flags_and_values(self):
        folder = self.path("zsh")
        folder.mkdir()
        (folder / "_mete").write_text(mete("completion", "zsh").stdout)
        self.completes("zsh", lambda line: zsh_completions(folder, f"source {folder}/_mete", line))
        # As a file of $fpath, which is what the script's first lines advise.
        self.assertEqual(zsh_completions(folder, f"autoload -Uz {folder}/_mete; compdef _mete mete", "mete ben"), ["bench"])

    def completes(self, shell, complete):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        self.assertEqual(complete("mete ben"), ["bench"])
        self.assertEqual(sorted(complete("mete zoo ")), ["list", "make"])
        self.assertEqual(sorted(complete("mete zoo make squeezenet")), ["squeezenet1.0", "squeezenet1.1"])
        self.assertEqual(complete("mete completion z"), ["zsh"])
        self.assertEqual(complete("mete run net.onnx --save-p"), ["--save-plan"])
        self.assertEqual(complete("mete run net.onnx --disable-pass fold-b"), ["fold-batchnorm"])
        self.assertNotIn("--warmup", complete("mete run net.onnx --"))
        self.assertIn("--warmup", complete("mete bench net.onnx --"))
        self.assertEqual([pathlib.Path(f).name for f in complete(f"mete run {self.root}/net.on")], ["net.onnx"])


class Usage(Cli):
    def test_bad_command_lines(self):
        self.fails(USAGE, "no command")
        self.fails(USAGE, "frobnicate", "frobnicate")
        self.fails(USAGE, "--frobnicate", "run", self.net, "--frobnicate")
        self.fails(USAGE, "MODEL", "bench")
        self.fails(USAGE, "--threads", "bench", self.net, "--threads", "-3")
        self.fails(USAGE, "--shape", "bench", self.net, "--shape", "banana")
        self.fails(USAGE, "--shape", "bench", self.net, "--shape", "data=1x-3")
        self.fails(USAGE, "--disable-pass", "bench", self.net, "--disable-pass", "no-such-pass")
        self.fails(USAGE, "--cores", "bench", self.net, "--cores", "99999")
        self.fails(USAGE, "excludes", "bench", self.net, "--runs", "3", "--seconds", "1")
        self.fails(USAGE, ".onnx", "compare", "net.prototxt")
        self.fails(USAGE, "--threads", "compare", self.net, "--threads", "0")
        self.fails(USAGE, "crop", "run", self.net, self.picture, "--crop", "banana")
        self.fails(USAGE, "--input", "run", self.net, "--input", "nothing=" + str(self.tensor))
        self.fails(USAGE, "is missing", "run", self.net)
        self.fails(USAGE, "zoo make --help", "zoo", "make", "no-such-net")
        self.fails(USAGE, "expected one of", "bench", self.net, "--shape", "nothing=1x2")
        self.fails(USAGE, "does not fit this input", "bench", self.net, "--shape", f"{self.input['name']}=1x2")
        self.fails(USAGE, "SHELL", "completion", "tcsh")

    def test_missing_and_damaged_files(self):
        missing = self.path("missing.onnx")
        self.fails(BAD_FILE, "cannot open", "compare", self.root / "none.onnx")
        for command in ("run", "bench", "inspect"):
            self.fails(BAD_FILE, str(missing), command, missing)
        page = self.path("page.onnx", b"<!DOCTYPE html><html></html>")
        self.fails(BAD_FILE, "page.onnx", "inspect", page)
        self.fails(BAD_FILE, "half.onnx", "inspect", self.path("half.onnx", self.net.read_bytes()[:100000]))
        self.fails(BAD_FILE, "no.png", "run", self.net, self.path("no.png"))
        self.fails(BAD_FILE, "bad.png", "run", self.net, self.path("bad.png", png(64, 48)[:200]))
        self.fails(BAD_FILE, "bad.npy", "run", self.net, "--input", f"{self.input['name']}={self.path('bad.npy', b'no')}")
        self.fails(BAD_FILE, "no.txt", "run", self.net, self.picture, "--labels", self.path("no.txt"))
        self.fails(BAD_FILE, "plan", "run", self.net, self.picture, "--plan", self.path("plan.json", b"{}"))

    def test_files_that_cannot_be_written(self):
        there = self.root / "no" / "folder"
        self.fails(FAILURE, "cannot write", "zoo", "make", NET, "-o", there)
        self.fails(FAILURE, "cannot make the folder", "zoo", "make", "all", "-o", self.picture)
        self.fails(FAILURE, "cannot write", "run", self.net, self.picture, "--save-plan", there)

    def test_wrong_shapes_and_types(self):
        name = self.input["name"]
        small = self.path("small.npy", npy("<f4", (1, 3, 2, 2), bytes(48)))
        self.fails(BAD_FILE, "wrong input shape", "run", self.net, "--input", f"{name}={small}")
        ints = self.path("ints.npy", npy("|u1", self.input["shape"], bytes(self.elements())))
        self.fails(BAD_FILE, "wrong input type", "run", self.net, "--input", f"{name}={ints}")
        short = self.path("short.bin", bytes(12))
        self.fails(BAD_FILE, "short.bin", "run", self.net, "--input", f"{name}={short}")
        self.fails(BAD_FILE, "channels", "run", self.net, self.picture, "--channels", "gray")
        self.path("pair.caffemodel", b"\xa2\x06\x03\x0a\x01s")  # a NetParameter with one layer, s, without blobs
        pair = self.path("pair.prototxt", b'''name: "pair" layer { name: "d" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
                         layer { name: "s" type: "Softmax" bottom: "data" top: "s" }''')
        self.fails(BAD_FILE, "try --shape data=1x3x8x8", "run", pair, self.picture)
        self.assertEqual(mete("run", pair, self.picture, "--shape", "data=1x3x8x8").returncode, OK)


class Commands(Cli):
    def test_run_ranks_pictures(self):
        labels = self.path("labels.txt", b"".join(b"%d\tid\tname of %d\n" % (i, i) for i in range(1000)))
        answer = self.answer("run", self.net, self.picture, self.picture, "--labels", labels, "--top", 3, "--softmax")
        self.assertEqual(len(answer["results"]), 2)
        top = answer["results"][0]["top"]
        self.assertEqual(len(top), 3)
        self.assertEqual(top[0]["label"], f"name of {top[0]['class']}")
        self.assertGreaterEqual(top[0]["score"], top[1]["score"])
        self.assertEqual(top, answer["results"][1]["top"])
        text = mete("run", self.net, self.picture, "--labels", labels).stdout
        self.assertIn(f"name of {top[0]['class']}", text)
        self.assertIn("answered in", text)
        self.assertNotIn("\033", text)

    def test_toml_beside_the_model_and_flags_over_it(self):
        net = self.path("net.onnx", self.net.read_bytes())
        self.path("net.toml", b"top_k = 2\nmean = [104, 117, 123]\nchannels = 'bgr'\n")
        self.assertEqual(len(self.answer("run", net, self.picture)["results"][0]["top"]), 2)
        self.assertEqual(len(self.answer("run", net, self.picture, "--top", 4)["results"][0]["top"]), 4)
        other = self.path("other.toml", b"top_k = 7\n")
        self.assertEqual(len(self.answer("run", net, self.picture, "--preprocess", other)["results"][0]["top"]), 7)

    def test_run_takes_and_gives_tensors(self):
        name, folder = self.input["name"], self.path("results")
        answer = self.answer("run", self.net, "--input", f"{name}={self.tensor}", "--output", folder)
        output = answer["results"][0]["outputs"][0]
        self.assertEqual(output["shape"], self.output["shape"])
        files = list(folder.iterdir())
        self.assertEqual([str(f) for f in files], answer["files"])
        data = files[0].read_bytes()
        start = 10 + struct.unpack("<H", data[8:10])[0]
        first = struct.unpack("<8f", data[start:start + 32])
        for got, want in zip(output["first"], first):
            self.assertAlmostEqual(got, want, places=5)
        raw = self.path("data.bin", struct.pack("<f", 0.5) * self.elements())
        self.assertEqual(self.answer("run", self.net, "--input", f"{name}={raw}")["results"][0]["outputs"], [output])
        self.assertEqual(self.answer("run", self.net, "--input", raw)["results"][0]["outputs"], [output])
        proto = b"".join(b"\x08" + varint(d) for d in self.input["shape"]) + b"\x10\x01" + b"\x4a" + varint(raw.stat().st_size) + raw.read_bytes()
        pb = self.path("data.pb", proto)
        self.assertEqual(self.answer("run", self.net, "--input", f"{name}={pb}")["results"][0]["outputs"], [output])

    def test_a_failed_run_leaves_no_files(self):
        folder = self.path("results")
        bad = self.path("bad.png", b"not a picture")
        self.fails(BAD_FILE, "bad.png", "run", self.net, self.picture, bad, "--output", folder)
        self.assertFalse(folder.exists())
        folder.mkdir()
        (folder / "mine.txt").write_text("kept")
        self.fails(BAD_FILE, "bad.png", "run", self.net, self.picture, bad, "--output", folder)
        self.assertEqual([f.name for f in folder.iterdir()], ["mine.txt"])
        self.fails(FAILURE, "cannot make the folder", "run", self.net, self.picture, "--output", self.picture)

    def test_fast_reference_and_unoptimized_agree(self):
        name = self.input["name"]
        results = [self.answer("run", self.net, "--input", f"{name}={self.tensor}", *flags)["results"][0]["outputs"][0]["first"]
                   for flags in ([], ["--reference"], ["--no-optimize"], ["--threads", 2])]
        for other in results[1:]:
            for got, want in zip(other, results[0]):
                self.assertAlmostEqual(got, want, delta=1e-4 * max(1, abs(want)))

    def test_plan_makes_a_round_trip(self):
        plan, again = self.path("plan.json"), self.path("again.json")
        self.answer("inspect", self.net, "--threads", 2, "--save-plan", plan)
        self.assertEqual(json.loads(plan.read_text())["threads"], 2)
        answer = self.answer("bench", self.net, "--plan", plan, "--save-plan", again, "--runs", 1, "--warmup", 0)
        self.assertEqual(answer["threads"], 2)
        self.assertEqual(plan.read_text(), again.read_text())

    def test_bench_measures(self):
        answer = self.answer("bench", self.net, "--threads", 1, "--runs", 5, "--warmup", 1)
        self.assertEqual(answer["runs"], 5)
        for key in ("median_ms", "p95_ms", "p99_ms", "load_ms", "prepare_ms", "first_answer_ms", "gflops", "peak_gflops", "share_of_peak", "peak_memory_bytes"):
            self.assertGreater(answer[key], 0, key)
        self.assertLessEqual(answer["min_ms"], answer["median_ms"])
        self.assertLessEqual(answer["median_ms"], answer["p95_ms"])
        text = mete("bench", self.net, "--seconds", "0", "--warmup", "0", "--profile").stdout
        for word in ("median", "GFLOP/s", "[wait]", "[other]", "Conv"):
            self.assertIn(word, text)

    def test_bench_serves(self):
        folder = self.path("saved")
        commands = [{"do": "time", "warm": 1, "runs": 3}, {"do": "save", "folder": str(folder)}]
        words = [METE, "bench", self.net, "--serve", "--threads", "1", "--input", f"{self.input['name']}={self.tensor}"]
        done = subprocess.run(words, input="".join(json.dumps(c) + "\n" for c in commands), capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, OK, done.stderr)
        greeting, times, saved = map(json.loads, done.stdout.splitlines())
        self.assertEqual((greeting["engine"], greeting["settings"]["threads"]), ("mete", 1))
        self.assertTrue(0 < greeting["ready_ns"] < greeting["loaded_ns"] < greeting["answered_ns"], greeting)
        self.assertGreater(greeting["ready_kib"], 0)
        self.assertEqual(len(times["ns"]), 3)
        self.assertGreater(min(times["ns"]), 0)
        plain = self.path("plain")
        self.answer("run", self.net, "--input", self.tensor, "--output", plain, "--threads", 1)
        self.assertEqual([pathlib.Path(f).read_bytes() for f in saved["files"]], [f.read_bytes() for f in plain.iterdir()])
        for bad in ("dance", json.dumps({"do": "dance"}), json.dumps({"do": "time", "runs": -1})):
            done = subprocess.run(words, input=bad + "\n", capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn("--serve", done.stderr)

    def test_compare_finds_its_script_and_hands_on_its_flags(self):
        if not pathlib.Path(METE).read_bytes().startswith(b"\x7fELF"):
            self.skipTest("mete is a script that starts the program under an emulator; a copy of it is no copy of the program")
        copy = self.path("prefix") / "bin" / "mete"
        copy.parent.mkdir(parents=True)
        shutil.copy(METE, copy)
        alone = subprocess.run([copy, "compare", self.net], capture_output=True, text=True)
        self.assertEqual(alone.returncode, FAILURE)
        self.assertIn("script is missing", alone.stderr)
        script = copy.parent.parent / "share" / "mete" / "peers" / "run.sh"
        script.parent.mkdir(parents=True)
        script.write_text('#!/bin/sh\necho "$@"\nexit ${PEERS_EXIT:-0}\n')
        script.chmod(0o755)
        words = [copy, "compare", self.net, "--threads", "1,2", "--cores", "1,0", "--rounds", "3", "--shape", "data=1x3x224x224", "--json"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(done.stdout.split(), ["--mete", str(copy), "--models", str(self.net), "--no-save", "--threads", "1,2",
                                               "--cores", "1,0", "--rounds", "3", "--shape", "data=1x3x224x224", "--json", "-"])
        for script_code, code in ((3, BAD_FILE), (1, FAILURE)):
            done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PEERS_EXIT": str(script_code)})
            self.assertEqual(done.returncode, code)

    def test_inspect_tells(self):
        answer = self.answer("inspect", self.net, "--memory", "--explain", "--text")
        self.assertGreater(answer["parameters"], 1000000)
        self.assertGreater(answer["gflop"], 0.1)
        self.assertTrue(answer["passes"])
        self.assertEqual(sum(answer["operators"].values()), answer["nodes"])
        self.assertGreater(answer["memory"]["arena_bytes"], 0)
        self.assertLess(answer["memory"]["arena_bytes"], answer["memory"]["values_bytes"])
        self.assertIn("Conv", answer["text"])
        self.assertIn("plan for", answer["explain"])
        self.assertTrue(mete("inspect", self.net, "--dot").stdout.startswith("digraph"))
        text = mete("inspect", self.net, "--memory").stdout
        for word in ("parameters", "nodes by operator", "activations", "pass"):
            self.assertIn(word, text)

    def test_machine_tells(self):
        answer = self.answer("machine")
        self.assertEqual(sorted(c for cluster in answer["clusters"] for c in cluster["cores"]), answer["affinity"]["allowed"])
        text = mete("machine").stdout
        for word in (answer["name"], "capacity", "allowed", "what threads can be bound to"):
            self.assertIn(word, text)

    def test_machine_reads_a_recorded_tree(self):
        tree = self.path("tree")
        for path, content in {"proc/self/status": "Cpus_allowed_list:\t0-2\n", "sys/devices/system/cpu/online": "0-3\n",
                              "sys/devices/system/cpu/cpu0/cpu_capacity": "1024\n", "sys/devices/system/cpu/cpu1/cpu_capacity": "512\n",
                              "sys/devices/system/cpu/cpu2/cpu_capacity": "512\n", "sys/devices/system/cpu/cpu3/cpu_capacity": "512\n",
                              "sys/class/powercap/intel-rapl:0/energy_uj": "12\n"}.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(content)
        answer = self.answer("machine", "--root", tree)
        self.assertEqual([(c["cores"], c["capacity"]) for c in answer["clusters"]], [([0], 1), ([1, 2], 0.5)])
        self.assertEqual(answer["meters"][0]["path"], "/sys/class/powercap/intel-rapl:0/energy_uj")
        lines = mete("machine", "--root", tree).stdout.splitlines()
        self.assertIn("  cluster1  1-2    -        0.500  cpu_capacity  -", lines)
        self.assertIn("  powercap  intel-rapl:0  yes       /sys/class/powercap/intel-rapl:0/energy_uj", lines)
        self.assertTrue(any("sizes of caches are unknown" in line for line in lines))

    def test_machine_prints_machine_files(self):
        boards = sorted((pathlib.Path(__file__).resolve().parents[2] / "boards").glob("*.toml"))
        self.assertGreaterEqual(len(boards), 10)
        for board in boards:
            answer = self.answer("machine", "--machine", board)
            self.assertTrue(all(f["source"] for c in answer["clusters"] for f in c["figures"].values() if isinstance(f, dict)))
            text = mete("machine", "--machine", board, "--sources").stdout
            for word in (answer["name"], "= f32 GFLOP/s of a core", "power_exponent", "estimate"):
                self.assertIn(word, text)
        lines = boards[0].read_text().replace("max_mhz =", "max_mzh =", 1)
        self.fails(BAD_FILE, "unknown key 'max_mzh'; try max_mhz", "machine", "--machine", self.path("bad.toml", lines.encode()))
        self.fails(BAD_FILE, "cannot open", "machine", "--machine", self.path("none.toml"))
        self.fails(USAGE, "--root", "machine", "--machine", boards[0], "--root", self.root)
        self.fails(USAGE, "--root", "machine", "--root", self.path("none"))
        self.fails(USAGE, "--sources", "machine", "--sources")

    def test_plan_predicts_on_machine_files(self):
        board = pathlib.Path(__file__).resolve().parents[2] / "boards" / "tensor-g4.toml"
        answer = self.answer("plan", self.net, "--machine", board)
        self.assertEqual((answer["format"], answer["cores"]), ("mete-plan", [7, 4, 5, 6, 0, 1, 2, 3]))
        steps = [s for s in answer["steps"] if s.get("predicted_us", 0) > 0]
        self.assertAlmostEqual(sum(s["predicted_us"] for s in steps), answer["predicted_us"])
        for step in steps:
            self.assertEqual(len(step["blocks"]), step["threads"])
            self.assertEqual(sum(int(n) for n in step["cores"].split()[1::3]), step["threads"])
            for rejected in step.get("rejected", []):
                self.assertTrue(rejected["reason"])
        self.assertEqual(max(s["threads"] for s in steps), 8)
        self.assertLess(min(s["threads"] for s in steps), 8)
        simulated = self.answer("simulate", self.net, "--machine", board, "--policy", "adaptive")["policies"][0]["median_ms"]
        self.assertAlmostEqual(answer["predicted_us"] * 1e-3 / simulated, 1, delta=0.1)
        text = mete("plan", self.net, "--machine", board).stdout
        for word in ("Google Tensor G4: prime 1 + middle 3 + little 4", "rather than", "predicted:", "Nothing here was measured."):
            self.assertIn(word, text)

    def test_plan_takes_some_cores_and_other_policies(self):
        board = pathlib.Path(__file__).resolve().parents[2] / "boards" / "tensor-g4.toml"
        command = ["plan", self.net, "--machine", board, "--cores", "prime,middle:2"]
        self.assertEqual(self.answer(*command)["cores"], [7, 4, 5])
        equal = self.answer(*command, "--policy", "equal")
        self.assertEqual({s["threads"] for s in equal["steps"]}, {3})
        self.assertNotIn("predicted_us", equal)

    def test_plan_for_this_machine_runs(self):
        core = self.answer("machine")["affinity"]["allowed"][0]
        unmeasured = {"METE_CACHE": str(self.path("empty"))}
        answer = self.answer("plan", self.net, "--cores", core, env=unmeasured)
        self.assertEqual((answer["cores"], answer["threads"]), ([core], 1))
        self.assertIn("mete profile", answer["note"])
        self.assertIn("no times of this machine", mete("plan", self.net, env=unmeasured).stdout)
        plan = self.path("planned.json", json.dumps(answer).encode())
        self.assertEqual(self.answer("bench", self.net, "--runs", 1, "--plan", plan)["threads"], 1)
        # One step on one thread and the next on two, on the same core if there is no other.
        both = self.answer("plan", self.net)
        both.update(threads=2, cores=[])
        for i, step in enumerate(both["steps"]):
            step["threads"] = 1 + i % 2
        plan.write_text(json.dumps(both))
        self.assertEqual(self.answer("bench", self.net, "--runs", 1, "--plan", plan)["threads"], 2)

    def test_plan_refuses_nonsense(self):
        board = pathlib.Path(__file__).resolve().parents[2] / "boards" / "rk3399.toml"
        self.fails(BAD_FILE, "cannot open", "plan", self.net, "--machine", self.path("none.toml"))
        self.fails(USAGE, "[--cores] no such cluster; got '0'", "plan", self.net, "--machine", board, "--cores", "0")
        self.fails(USAGE, "[--cores] not a core; got 'big'", "plan", self.net, "--cores", "big")
        self.fails(USAGE, "[--cores] core 99999", "plan", self.net, "--cores", "99999")
        self.fails(USAGE, "--policy", "plan", self.net, "--policy", "magic")

    def test_simulate_predicts_on_machine_files(self):
        board = pathlib.Path(__file__).resolve().parents[2] / "boards" / "tensor-g4.toml"
        answer = self.answer("simulate", self.net, "--machine", board, "--runs", 5)
        self.assertEqual([p["policy"] for p in answer["policies"]], ["equal", "ratio", "asymo", "sani", "adaptive"])
        for policy in answer["policies"]:
            self.assertEqual(len(policy["runs_ns"]), 5)
            self.assertEqual([c["cpu"] for c in policy["cores"]], [7, 4, 5, 6, 0, 1, 2, 3])
            self.assertAlmostEqual(policy["efficiency"], answer["ideal_ms"] / policy["median_ms"])
            self.assertLess(policy["efficiency"], 1)
            for core in policy["cores"]:
                self.assertEqual(core["busy_ns"] + core["taking_ns"] + core["waiting_ns"], sum(policy["runs_ns"]))
        by_name = {p["policy"]: p for p in answer["policies"]}
        self.assertGreater(by_name["adaptive"]["beside_best_subset"], 1)
        self.assertLess(by_name["equal"]["beside_best_subset"], 1)
        self.assertEqual({n["kind"] for n in answer["nodes"]} - {"view"}, {"product", "moves"})
        text = mete("simulate", self.net, "--machine", board, "--runs", 5).stdout
        for word in ("Google Tensor G4: prime 1 + middle 3 + little 4", "little busy / waiting, %", "best subset:", "Nothing here was measured.",
                     "compute_share"):
            self.assertIn(word, text)

    def test_simulate_takes_some_cores_and_interference(self):
        board = pathlib.Path(__file__).resolve().parents[2] / "boards" / "tensor-g4.toml"
        trace = self.path("trace.json")
        command = ["simulate", self.net, "--machine", board, "--policy", "adaptive", "--cores", "prime,middle:2"]
        answer = self.answer(*command, "--trace", trace)
        self.assertEqual([c["cpu"] for c in answer["policies"][0]["cores"]], [7, 4, 5])
        self.assertEqual({e["tid"] for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"}, {0, 1, 2})
        disturbed = [self.answer(*command, "--interference", "random:cores=7,share=0.5,seed=2") for _ in range(2)]
        self.assertEqual(disturbed[0], disturbed[1])
        self.assertGreater(disturbed[0]["policies"][0]["median_ms"], answer["policies"][0]["median_ms"])

    def test_simulate_refuses_nonsense(self):
        board = pathlib.Path(__file__).resolve().parents[2] / "boards" / "rk3399.toml"
        command = ["simulate", self.net, "--machine", board]
        self.fails(USAGE, "--machine", "simulate", self.net)
        self.fails(BAD_FILE, "cannot open", "simulate", self.net, "--machine", self.path("none.toml"))
        self.fails(USAGE, "[--cores] no such cluster; got 'huge', expected some of big, little", *command, "--cores", "huge")
        self.fails(USAGE, "expected 1 to 2", *command, "--cores", "big:3")
        self.fails(USAGE, "[--interference] not an interference; got 'magic'", *command, "--interference", "magic")
        self.fails(USAGE, "disturbed twice", *command, "--interference", "steady:cores=1", "--interference", "steady:cores=1")
        self.fails(USAGE, "--policy", *command, "--policy", "magic")
        self.fails(USAGE, "--runs", *command, "--runs", 0)
        self.fails(USAGE, "[--trace] is of one policy", *command, "--trace", self.path("t.json"))

    def test_simulate_chooses_cores_and_frequencies_by_energy(self):
        board = pathlib.Path(__file__).resolve().parents[2] / "boards" / "tensor-g4.toml"
        command = ["simulate", self.net, "--machine", board, "--objective"]
        least = self.answer(*command, "energy")
        self.assertEqual([c["cluster"] for c in least["choice"]["clusters"]], ["prime", "middle", "little"])
        self.assertLess(least["choice"]["joules"], least["fastest"]["joules"])
        self.assertLessEqual(least["choice"]["joules"], min(c["joules"] for c in least["runners_up"]))
        quick = self.answer(*command, f"latency={2 * least['fastest']['ms']}ms")
        self.assertTrue(quick["meets"])
        self.assertLessEqual(quick["choice"]["ms"], 2 * least["fastest"]["ms"])
        self.assertGreaterEqual(quick["choice"]["joules"], least["choice"]["joules"])
        never = self.answer(*command, "latency=1us")
        self.assertEqual((never["meets"], never["choice"]), (False, least["fastest"]))
        text = mete(*command, "energy").stdout
        for word in ("on Google Tensor G4, for energy:", "other cores, each set at its best", "(the fastest)", "These are estimates"):
            self.assertIn(word, text)
        self.fails(USAGE, "[--objective] not an objective; got 'power'", *command, "power")
        self.fails(USAGE, "--policy", *command, "energy", "--policy", "equal")

    def test_profile_says_which_meter_is_missing(self):
        tree = self.path("unmetered")
        tree.mkdir()
        for folder in ("powercap", "power_supply", "hwmon"):
            self.fails(USAGE, f"/sys/class/{folder}", "profile", "--energy", "--root", tree)
        zone = tree / "sys/class/powercap/intel-rapl:0"
        zone.mkdir(parents=True)
        (zone / "name").write_text("package-0\n")
        (zone / "energy_uj").write_text("12\n")
        self.fails(USAGE, "on its machine powercap package-0 would be read", "profile", "--energy", "--root", tree)
        self.fails(USAGE, "no such meter; got 'battery', expected some of 'package-0'", "profile", "--energy", "--root", tree,
                   "--meter", "battery")

    def test_an_objective_needs_energy_curves_and_takes_cores_by_them(self):
        cache = self.path("energy-cache")
        cache.mkdir()
        env = {"METE_CACHE": str(cache)}
        self.assertIn("no energy curves of this machine", mete("bench", self.net, "--objective", "energy", env=env).stderr)
        first = {tuple(group): group[0] for cluster in self.answer("machine")["clusters"] for group in cluster["siblings"]}
        clusters = []
        for cluster in self.answer("machine")["clusters"]:
            cores = [c for c in cluster["cores"] if all(c == head or c not in group for group, head in first.items())]
            point = {"khz": 0, "cores": 1, "flops_per_byte": 1, "gflops": 1, "watts": 1}
            clusters.append({"name": cluster["name"], "cores": cores, "node_us": 0, "points": [point]})
        name = self.answer("machine")["name"]
        curves = {"format": "mete energy curves 1", "machine": name, "source": "a test", "idle_watts": 0, "gbytes_per_s": 0,
                  "clusters": clusters}
        (cache / "energy.json").write_text(json.dumps(curves))
        done = mete("bench", self.net, "--objective", "energy", "--runs", 1, "--warmup", 0, "--no-tune", "--json", env=env)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(json.loads(done.stdout)["cores"], clusters[0]["cores"][:1])
        self.assertIn("frequencies stay as they are", done.stderr)
        self.assertIn(f"energy: {clusters[0]['name']} 1 core at its own clock", done.stderr)
        (cache / "energy.json").write_text(json.dumps({**curves, "machine": "another"}))
        self.assertIn("those of 'another'", mete("bench", self.net, "--objective", "energy", env=env).stderr)
        clusters[0]["cores"] = [4000]
        (cache / "energy.json").write_text(json.dumps(curves))
        self.assertIn("or of other cores than this process has", mete("bench", self.net, "--objective", "energy", env=env).stderr)
        self.fails(USAGE, "--cores", "bench", self.net, "--objective", "energy", "--cores", "0")

    def test_the_environment_names_the_target_of_the_fast_kernels(self):
        there = []
        for name in ("neon", "sse4"):  # no processor has both
            done = mete("inspect", self.net, "--explain", env={"METE_TARGET": name})
            if done.returncode == OK:
                there.append(name)
                self.assertIn(f"conv_1x1_f32 {name} ", done.stdout)
            else:
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(f"[target] no such instruction set here; got '{name}', expected one of", done.stderr)
        self.assertEqual(len(there), 1)

    # Damaged ones, so that each names the file that it was looked for in.
    def test_the_environment_names_the_target_whose_profile_is_read(self):
        targets = mete("inspect", self.net, "--explain", env={"METE_TARGET": "abacus"}).stderr
        targets = targets.split("expected one of ")[1].split(";")[0].split(", ")
        cpu = re.sub(r"[^A-Za-z0-9.]", "-", self.answer("machine")["name"])
        for target in targets:
            cache = self.root / f"profile-of-{target}"
            profile = cache / "profiles" / f"{cpu}-{target}.json"
            profile.parent.mkdir(parents=True)
            profile.write_text("{")
            env = {"METE_TARGET": target, "METE_CACHE": str(cache)}
            for command in (["plan", self.net], ["inspect", self.net, "--explain", "--no-tune"]):
                done = mete(*command, env=env)
                self.assertEqual(done.returncode, OK, done.stderr)
                self.assertIn(f"{profile}] damaged", done.stderr)

    def test_the_environment_names_the_way_to_compute_convolutions(self):
        done = mete("inspect", self.net, "--explain", env={"METE_CONV": "winograd_f4"})
        self.assertEqual(done.returncode, OK)
        self.assertIn("winograd_f4_f32", done.stdout)
        done = mete("inspect", self.net, "--explain", env={"METE_CONV": "abacus"})
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("[METE_CONV] no such way to compute convolutions; got 'abacus', expected one of auto, direct", done.stderr)

    def test_explain_says_how_fast_every_node_is(self):
        lines = mete("inspect", self.net, "--explain", "--no-tune").stdout.splitlines()
        head = next(line for line in lines if line.split()[:2] == ["node", "operator"])
        self.assertEqual(head.split("kernel")[1].split(), ["us", "GFLOP/s", "of", "peak", "GB/s", "of", "memory", "why"])
        row = next(line for line in lines if "conv_1x1_f32" in line)
        us, gflops, share = row.split("conv_1x1_f32")[1].split()[1:4]
        self.assertGreater(float(us), 0)
        self.assertGreater(float(gflops), 0)
        self.assertGreater(float(share), 0)
        answer = self.answer("inspect", self.net, "--explain", "--no-tune")
        self.assertGreater(answer["limits"]["gflops"], 0)
        self.assertGreater(answer["limits"]["read_gbytes"], 0)
        conv = next(step for step in answer["steps"] if step["kernel"].startswith("conv_1x1_f32"))
        self.assertGreater(min(conv["us"], conv["flops"], conv["bytes"]), 0)

    def test_what_was_measured_is_kept_for_the_next_start(self):
        cache = self.root / "cache"
        def explain(*flags):
            return self.answer("inspect", self.net, "--explain", *flags, env={"METE_CACHE": str(cache)})["explain"]
        self.assertNotIn("tuned", explain("--no-tune"))
        self.assertFalse(cache.exists())
        self.assertRegex(explain(), r"tuned: [1-9]\d* candidates measured")
        files = list((cache / "tuning").iterdir())
        self.assertEqual(len(files), 1)
        self.assertIn("tuned: 0 candidates measured", explain())
        files[0].write_text("{")
        again = explain()
        self.assertIn(f"{files[0]}: no file of tuned times; everything is measured again", again)
        self.assertRegex(again, r"tuned: [1-9]\d* candidates measured")
        self.assertIn("tuned: 0 candidates measured", explain())

    def test_weights_are_kept_and_mapped(self):
        env = {"METE_CACHE": str(self.root / "weights")}
        bench = ["bench", self.net, "--no-tune", "--warmup", "0", "--runs", "1"]
        mapped = [self.answer(*bench, *flags, env=env)["mapped_bytes"] > 0 for flags in ([], ["--cache-weights"], ["--cache-weights"])]
        self.assertEqual(mapped, [False, False, True])
        self.assertIn("MiB) mapped", mete("inspect", self.net, "--explain", "--no-tune", "--cache-weights", env=env).stdout)
        done = mete(*bench, "--cache-weights", env={"METE_CACHE": "", "XDG_CACHE_HOME": "", "HOME": ""})
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("[--cache-weights] no folder to keep them in", done.stderr)

    def test_trace_is_for_perfetto(self):
        trace = self.path("trace.json")
        self.answer("run", self.net, self.picture, "--trace", trace)
        names = {e["name"] for e in json.loads(trace.read_text())["traceEvents"]}
        self.assertTrue({"[wait]", "[transfer]", "[layout]", "[other]"} <= names)
        self.fails(FAILURE, "cannot write", "run", self.net, self.picture, "--trace", self.root / "no" / "folder.json")

    def test_zoo_makes_equal_files_from_equal_seeds(self):
        networks = {n["name"] for n in self.answer("zoo", "list")["networks"]}
        self.assertIn(NET, networks)
        same, other = self.path("same.onnx"), self.path("other.onnx")
        self.answer("zoo", "make", NET, "-o", same)
        self.answer("zoo", "make", NET, "-o", other, "--seed", 2)
        self.assertEqual(same.read_bytes(), self.net.read_bytes())
        self.assertNotEqual(other.read_bytes(), self.net.read_bytes())

    def test_an_interrupt_cancels(self):
        with subprocess.Popen([METE, "bench", self.net, "--seconds", "100", "--warmup", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            try:
                child.wait(timeout=2)
            except subprocess.TimeoutExpired:
                pass
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=60)
        self.assertEqual(child.returncode, CANCELLED, errors)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--mete", required=True)
    options, rest = parser.parse_known_args()
    METE = os.path.abspath(options.mete)
    unittest.main(argv=[sys.argv[0], *rest])
