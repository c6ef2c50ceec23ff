"""Runs the command line as its users do. Standard library only."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import cli_testing
import timeline
from cli_testing import BAD_FILE, BOARDS, FAILURE, NET, OK, UNSUPPORTED, USAGE, Cli, mete, npy, png
from onnx_files import model, varint


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
        self.fails(USAGE, "try --channels rgb", "run", self.net, self.picture, "--channels", "gray")
        self.path("pair.caffemodel", b"\xa2\x06\x03\x0a\x01s")  # a NetParameter with one layer, s, without blobs
        pair = self.path("pair.prototxt", b'''name: "pair" layer { name: "d" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }
                         layer { name: "s" type: "Softmax" bottom: "data" top: "s" }''')
        self.assertEqual(len(self.answer("run", pair, self.picture)["results"]), 1)  # Caffe's nets take any batch
        self.assertEqual(self.answer("run", pair, self.picture, self.picture, "--shape", "data=2x3x8x8")["results"][1]["batch"], 2)


class Commands(Cli):
    def test_run_ranks_pictures(self):
        labels = self.path("labels.txt", b"".join(b"%d\tid\tname of %d\n" % (i, i) for i in range(1000)))
        answer = self.answer("run", self.net, self.picture, self.picture, "--labels", labels, "--top-k", 3, "--softmax")
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
        self.assertEqual(len(self.answer("run", net, self.picture, "--top-k", 4)["results"][0]["top"]), 4)
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
        self.assertEqual(json.loads(plan.read_text())["groups"][0]["shares"][0]["threads"]["threads"], 2)
        answer = self.answer("bench", self.net, "--plan", plan, "--save-plan", again, "--runs", 1, "--warmup", 0)
        self.assertEqual(answer["threads"], 2)
        self.assertEqual(plan.read_text(), again.read_text())

    def test_precision_auto_says_what_it_rounds(self):
        for bound in (0.05, 1e-9):
            answer = self.answer("run", self.net, self.picture, "--precision", "auto", "--error-bound", str(bound))
            chosen = answer["precision"]
            self.assertEqual((chosen["name"], chosen["bound"], chosen["samples"], chosen["made_up"]), ("auto", bound, 1, False))
            self.assertLessEqual(chosen["measured"], bound)
            self.assertTrue(any(note.startswith("precision auto: ") for note in answer["notes"]), answer["notes"])
            plan = self.path("plan.json")
            mete("run", self.net, self.picture, "--precision", "auto", "--error-bound", str(bound), "--save-plan", plan)
            steps = json.loads(plan.read_text())["groups"][0]["shares"][0]["threads"]["steps"]
            rounded = {s["node"]: s["precision"] for s in steps if s.get("precision", "f32") != "f32"}
            self.assertEqual(rounded, chosen["rounded"])

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
        words = [cli_testing.METE, "bench", self.net, "--on-command", "--threads", "1", "--input", f"{self.input['name']}={self.tensor}"]
        done = subprocess.run(words, input="".join(json.dumps(c) + "\n" for c in commands), capture_output=True, text=True, timeout=cli_testing.LONG_S)
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
            done = subprocess.run(words, input=bad + "\n", capture_output=True, text=True, timeout=cli_testing.LONG_S)
            self.assertEqual(done.returncode, USAGE, done.stderr)
            self.assertIn("--on-command", done.stderr)

    def test_bench_feeds_outputs_to_the_next_run(self):
        net = self.path("growing.onnx", model([("x", [1]), ("past", ["P"])], [("Concat", ["past", "x"], ["present"], {"axis": 0}),
                                                                              ("Add", ["x", "x"], ["twice"])], ["present", "twice"]))
        inputs = [f"--input=x={self.path('x.npy', npy('<f4', [1], struct.pack('<f', 1)))}",
                  f"--input=past={self.path('past.npy', npy('<f4', [2], struct.pack('<2f', 0.25, 0.5)))}"]
        chain = ["--steps", "4", "--feed", "past=present", "--feed", "x=twice"]
        commands = [{"do": "time", "runs": 2}, {"do": "save", "folder": str(self.path("fed"))}]
        done = subprocess.run([cli_testing.METE, "bench", net, "--on-command", "--threads", "1", *inputs, *chain], capture_output=True, text=True,
                              input="".join(json.dumps(c) + "\n" for c in commands), timeout=cli_testing.LONG_S)
        self.assertEqual(done.returncode, OK, done.stderr)
        _, times, saved = map(json.loads, done.stdout.splitlines())
        self.assertEqual(len(times["ns"]), 2)  # chains
        present, twice = (pathlib.Path(f).read_bytes() for f in saved["files"])
        self.assertEqual(struct.unpack("<6f", present[-24:]), (0.25, 0.5, 1, 2, 4, 8))
        self.assertEqual(struct.unpack("<f", twice[-4:]), (16,))
        self.assertEqual(self.answer("bench", net, *inputs, *chain, "--runs", 3, "--threads", 1)["runs"], 3)
        feed = lambda *words: ["bench", net, *inputs, "--steps", 2, *(word for text in words for word in ("--feed", text))]
        self.fails(USAGE, "no input of the model; got 'pest'", *feed("pest=present", "past=twice"))
        self.fails(USAGE, "no output of the model; got 'presents'", *feed("past=presents", "pest=twice"))
        self.fails(USAGE, "input 'past' is given twice", *feed("past=present", "past=twice"))
        self.fails(USAGE, "not an assignment", *feed("past"))
        self.fails(USAGE, "--steps", "bench", net, *inputs, "--feed", "past=present")
        self.fails(USAGE, "--feed", "bench", net, *inputs, "--steps", 2)

    def test_compare_finds_its_script_and_hands_on_its_flags(self):
        if not pathlib.Path(cli_testing.METE).read_bytes().startswith(b"\x7fELF"):
            self.skipTest("mete is a script that starts the program under an emulator; a copy of it is no copy of the program")
        copy = self.path("prefix") / "bin" / "mete"
        copy.parent.mkdir(parents=True)
        shutil.copy(cli_testing.METE, copy)
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

    def test_operators_of_a_library(self):
        net = self.path("net.onnx", model([("x", [2])], [("Scale", ["x"], ["a"], {"domain": "test.operators"}), ("Neg", ["a"], ["y"])], ["y"]))
        data = self.path("x.npy", npy("<f4", [2], struct.pack("<2f", 1, -2)))
        self.fails(UNSUPPORTED, "try --operators FILE.so", "run", net, "--input", data)
        self.fails(BAD_FILE, "the library of operators cannot be loaded", "run", net, "--input", data, "--operators", "missing.so")
        out = self.path("out")
        self.answer("run", net, "--input", data, "--operators", os.environ["METE_OPERATORS"], "--output", out)
        self.assertEqual(struct.unpack("<2f", (out / "y.npy").read_bytes()[-8:]), (-1, 2))

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
        self.assertEqual(answer["file"]["format"], "ONNX")
        self.assertGreater(answer["file"]["opsets"]["ai.onnx"], 6)
        text = mete("inspect", self.net, "--memory").stdout
        self.assertIn("format: ONNX, operator sets ai.onnx ", text)
        for word in ("parameters", "nodes by operator", "activations", "pass"):
            self.assertIn(word, text)

    def test_machine_tells(self):
        answer = self.answer("machine")
        self.assertEqual(sorted(c for cluster in answer["clusters"] for c in cluster["cores"]), answer["affinity"]["allowed"])
        text = mete("machine").stdout
        for word in (answer["name"], "capacity", "allowed", "what threads can be bound to"):
            self.assertIn(word, text)

    def gpus_by(self, script, **environment):
        """The GPUs that `mete machine` tells of, with a script in place of the program that loads drivers."""
        child = self.path("mete-gpus", f"#!/bin/sh\n{script}\n".encode())
        child.chmod(0o755)
        env = {"METE_GPUS_PROGRAM": str(child), "METE_CACHE": str(self.path("cache")), "METE_GPU": "on", **environment}
        answer = self.answer("machine", env=env)
        return answer["gpus"], answer["gpus_left_out"], mete("machine", env=env).stdout

    def test_machine_tells_why_there_is_no_gpu(self):
        for script, reason in (("echo 'gpu:0: probe of f32' >&2; kill -SEGV $$", "its last words: 'gpu:0: probe of f32'"), ("echo nonsense", "no JSON")):
            gpus, left_out, text = self.gpus_by(script)
            self.assertEqual(gpus, [])
            self.assertIn(reason, left_out[0])
            self.assertIn("GPUs, as a child process has tried them: none", text)
            self.assertIn(reason, " ".join(text.split()))
        self.assertIn("METE_GPU=off", self.gpus_by("echo not asked", METE_GPU="off")[1][0])
        self.fails(USAGE, "[METE_GPU] got 'yes'", "machine", env={"METE_GPU": "yes"})
        self.assertNotIn("gpus", self.answer("machine", "--root", self.root))

    def test_machine_tells_of_each_gpu(self):
        facts = {"name": "gpu:0", "type": "gpu", "model": "Mali-G78", "vendor": "ARM", "platform": "ARM Platform", "driver": "r32p1", "version": "OpenCL 3.0",
                 "compute_units": 14, "clock_mhz": 848, "memory_bytes": 8 << 30, "most_allocation_bytes": 2 << 30, "local_bytes": 32 << 10,
                 "local_is_separate": False, "cache_bytes": 2 << 20, "most_group_items": 512, "most_group_sizes": [512, 512, 512],
                 "base_alignment": 128, "float_vector": 1, "has_unified_memory": True, "has_svm": True, "has_fine_svm": False,
                 "states_f16": True, "states_f64": False, "states_dot8": True, "most_sub_devices": 0, "computes_f32": True, "stores_f16": True,
                 "computes_f16": True, "dot8": "arm", "maps_in_place": True, "uses_host_memory": False, "shares_memory": False,
                 "f32_gflops": 700.5, "f16_gflops": 1401, "build_ms": 30, "out_of_time": False, "problems": ["shared memory: none"],
                 **{name: {"median_us": us, "p95_us": 2 * us} for name, us in (("small_map", 40), ("map", 60), ("host_map", 500), ("read", 700),
                    ("host_copy", 400), ("launch_drained", 90), ("launch_asleep", 95), ("launch_running", 12))}}
        answer = json.dumps({"gpus": [facts], "left_out": ["an old one: the driver has no compiler"], "drivers": [], "failed": False, "files": []})
        gpus, left_out, text = self.gpus_by(f"cat << 'X'\n{answer}\nX")
        self.assertEqual((gpus, left_out), ([facts], ["an old one: the driver has no compiler"]))
        for line in ("  model                   Mali-G78", "  f16                     yes, 1401 GFLOP/s", "  sums of 8-bit products  arm",
                     "  host's view of memory   shared, mapped without a copy", "  launch and wait         90 us, p95 180 us", "  gpu:0, shared memory: none",
                     "  left out: an old one: the driver has no compiler"):
            self.assertIn(line, text.splitlines())

    def test_a_pool_answers_without_the_loader_of_its_gpu(self):
        env = {"METE_OPENCL_LIBRARY": "/no/such.so", "METE_CACHE": str(self.path("cache")), "METE_GPU": "on"}
        classes = [c["class"] for c in self.answer("run", self.net, self.picture, env=env)["results"][0]["top"]]
        for list_ in (f"cpu:{min(os.sched_getaffinity(0))},gpu:0", f"cpu:{min(os.sched_getaffinity(0))},gpu:0/1:f16"):
            done = mete("run", self.net, self.picture, "--processors", list_, env=env)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertIn("computes alone", done.stderr)
            self.assertEqual([int(line.split()[0]) for line in done.stdout.splitlines()[2:2 + len(classes)]], classes)
        for command in "profile", "bench":
            self.fails(USAGE, "there is no such GPU", command, self.net, "--processors", list_, env=env)

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
        boards = [b for b in sorted(BOARDS.glob("*.toml")) if "[[device]]" not in b.read_text()]
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

    def test_the_environment_names_the_target_of_the_fast_kernels(self):
        there = []
        for name in ("neon", "sse4"):  # no processor has both
            done = mete("inspect", self.net, "--explain", env={"METE_TARGET": name})
            if done.returncode == OK:
                there.append(name)
                self.assertIn(f"conv_1x1_f32 {name} ", done.stdout)
            else:
                self.assertEqual(done.returncode, USAGE)
                self.assertIn(f"[METE_TARGET] no such instruction set here; got '{name}', expected one of", done.stderr)
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
            for command in (["plan", self.net], ["inspect", self.net, "--explain", "--tune", "never"]):
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
        lines = mete("inspect", self.net, "--explain", "--tune", "never").stdout.splitlines()
        head = next(line for line in lines if line.split()[:2] == ["node", "operator"])
        self.assertEqual(head.split("kernel")[1].split(), ["us", "GFLOP/s", "of", "peak", "GB/s", "of", "memory", "why"])
        row = next(line for line in lines if "conv_1x1_f32" in line)
        us, gflops, share = row.split("conv_1x1_f32")[1].split()[1:4]
        self.assertGreater(float(us), 0)
        self.assertGreater(float(gflops), 0)
        self.assertGreater(float(share), 0)
        answer = self.answer("inspect", self.net, "--explain", "--tune", "never")
        self.assertGreater(answer["limits"]["gflops"], 0)
        self.assertGreater(answer["limits"]["read_gbytes"], 0)
        conv = next(step for step in answer["steps"] if step["kernel"].startswith("conv_1x1_f32"))
        self.assertGreater(min(conv["us"], conv["flops"], conv["bytes"]), 0)

    def test_what_was_measured_is_kept_for_the_next_start(self):
        cache = self.root / "cache"
        def explain(*flags):
            return self.answer("inspect", self.net, "--explain", *flags, env={"METE_CACHE": str(cache)})["explain"]
        self.assertNotIn("tuned", explain("--tune", "never"))
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
        bench = ["bench", self.net, "--tune", "never", "--warmup", "0", "--runs", "1"]
        mapped = [self.answer(*bench, *flags, env=env)["mapped_bytes"] > 0 for flags in ([], ["--cache-weights"], ["--cache-weights"])]
        self.assertEqual(mapped, [False, False, True])
        self.assertIn("MiB) mapped", mete("inspect", self.net, "--explain", "--tune", "never", "--cache-weights", env=env).stdout)
        done = mete(*bench, "--cache-weights", env={"METE_CACHE": "", "XDG_CACHE_HOME": "", "HOME": ""})
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("[--cache-weights] no folder to keep them in", done.stderr)

    def test_trace_is_for_perfetto(self):
        trace = self.path("trace.json")
        self.answer("run", self.net, self.picture, "--trace", trace)
        content = json.loads(trace.read_text())
        self.assertTrue({"[wait]", "[transfer]", "[layout]", "[other]"} <= {e["name"] for e in content["traceEvents"]})
        self.assertEqual(timeline.problems(content), [])
        # Equal slices: each thread has its part, and waits or is waited for.
        self.answer("bench", self.net, "--threads", 2, "--policy", "equal", "--runs", 1, "--warmup", 0, "--trace", trace)
        content = json.loads(trace.read_text())
        self.assertEqual(timeline.problems(content), [])
        self.assertEqual(timeline.lanes(content), {NET: ["thread 0", "thread 1"]})
        self.assertEqual({e["tid"] for e in content["traceEvents"] if e["ph"] == "X"}, {1, 2})
        self.assertIn("s", {e["ph"] for e in content["traceEvents"]})
        self.fails(FAILURE, "cannot write", "run", self.net, self.picture, "--trace", self.root / "no" / "folder.json")
        # Each stream has lanes of its own, and each computes every node.
        self.answer("bench", self.net, "--threads", 2, "--streams", 2, "--runs", 2, "--warmup", 0, "--trace", trace)
        content = json.loads(trace.read_text())
        self.assertEqual(timeline.problems(content), [])
        (lanes,) = timeline.lanes(content).values()
        self.assertEqual([lane.split(",")[0] for lane in lanes], ["stream 1", "stream 2"])
        nodes = [{e["name"] for e in content["traceEvents"] if e["ph"] == "X" and e["cat"] == "node" and e["tid"] == tid} for tid in (1, 2)]
        self.assertTrue(nodes[0])
        self.assertEqual(nodes[0], nodes[1])

    def test_zoo_makes_equal_files_from_equal_seeds(self):
        networks = {n["name"] for n in self.answer("zoo", "list")["networks"]}
        self.assertIn(NET, networks)
        same, other = self.path("same.onnx"), self.path("other.onnx")
        self.answer("zoo", "make", NET, "-o", same)
        self.answer("zoo", "make", NET, "-o", other, "--seed", 2)
        self.assertEqual(same.read_bytes(), self.net.read_bytes())
        self.assertNotEqual(other.read_bytes(), self.net.read_bytes())


if __name__ == "__main__":
    cli_testing.main()
