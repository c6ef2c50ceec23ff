"""Runs models on workers of this host, as their users do. Standard library only."""
import array
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
from unittest import mock

import cli_testing
from cli_testing import BAD_FILE, CANCELLED, FAILURE, OK, USAGE, Cli, mete
from terminal import OnTerminal

# PATIENT: a device has a minute for its part, however busy this machine is. DIVIDED: and every device gets a part, however fast it is.
PATIENT = ["--deadline", "60000"]
DIVIDED = ["--planner", "layerwise", *PATIENT]
MOST_TRIES = 20  # guess: so many commands one after the other lose a worker only where something is wrong
OWN = '[[device]]\nname = "own"\n'


class Worker:
    """A program that listens on loopback until it is stopped."""

    def __init__(self, *flags, listen="127.0.0.1:0", cores=("--threads", "1")):
        words = [cli_testing.METE, "worker", "--listen", listen, *cores, "--json", *map(str, flags)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("}"):
                break
        self.says = json.loads(text)
        self.address = self.says["listening"]

    def end(self, kind=signal.SIGTERM):
        self.process.send_signal(kind)
        _, self.stderr = self.process.communicate(timeout=cli_testing.LONG_S)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Cut:
    """A way to a worker that carries `most` bytes of the caller's and then no more, in either direction."""

    def __init__(self, address, most):
        self.host, port = address.rsplit(":", 1)
        self.port, self.left = int(port), most
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.full = threading.Event()
        self.lock, self.sockets = threading.Lock(), []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                caller, _ = self.listener.accept()
                worker = socket.create_connection((self.host, self.port))
            except OSError:
                return
            self.sockets += [caller, worker]
            for source, target, counts in ((caller, worker, True), (worker, caller, False)):
                threading.Thread(target=self.carry, args=(source, target), kwargs={"counts": counts}, daemon=True).start()

    def carry(self, source, target, *, counts):
        try:
            while data := source.recv(1 << 16):
                if counts:
                    with self.lock:
                        self.left -= len(data)
                if self.left < 0:
                    self.full.set()
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        for end in [self.listener, *self.sockets]:
            try:
                end.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for it
            except OSError:
                pass
            end.close()


def values(path):
    """The floats of a .npy file."""
    data = path.read_bytes()
    floats = array.array("f")
    floats.frombytes(data[10 + int.from_bytes(data[8:10], "little"):])
    return floats


class Hosts(Cli):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # of callers and workers; nothing is known there
        cls.enterClassContext(mock.patch.dict(os.environ, METE_CACHE=str(cls.root / "cache")))

    def hosts(self, believes, **workers):
        """A devices file with this host, and workers by their names."""
        text = f'name = "loopback"\n{believes}\n{OWN}'
        for name, worker in workers.items():
            text += f'[[device]]\nname = "{name}"\naddress = "{getattr(worker, "address", worker)}"\n'
        return self.path("devices.toml", text.encode())

    def states(self, file, code):
        """What `mete devices` says of each device, by name."""
        done = mete("devices", "--processors", file, "--timeout", min(600, cli_testing.LONG_S), "--json")
        self.assertEqual(done.returncode, code, done.stderr)
        return {d["name"]: d for d in json.loads(done.stdout)["devices"]}

    def undisturbed(self, *words):
        """The answer of a command that has lost no device. gRPC gives up a worker that a busy machine keeps from answering its pings; the command
        is then run again, because nothing is wrong."""
        for _ in range(MOST_TRIES):
            done = mete(*words, "--json")
            self.assertEqual(done.returncode, OK, done.stderr)
            if "the others go on without it" not in done.stderr:
                return json.loads(done.stdout)
        self.fail(f"each of {MOST_TRIES} commands lost a device; the last said: {done.stderr}")


class Together(Hosts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one, cls.two = cls.enterClassContext(Worker()), cls.enterClassContext(Worker())
        text = f'name = "loopback"\ninsecure = true\n{OWN}'
        for name, worker in (("one", cls.one), ("two", cls.two)):
            text += f'[[device]]\nname = "{name}"\naddress = "{worker.address}"\n'
        cls.file = cls.root / "both.toml"
        cls.file.write_text(text)
        done = mete("profile", cls.net, "--processors", cls.file, "--json")
        assert done.returncode == OK, done.stderr
        cls.profile = json.loads(done.stdout)[0]

    def test_a_profile_has_links_and_layers_of_all_devices(self):
        self.assertEqual([d["name"] for d in self.profile["processors"]], ["own", "one", "two"])
        layers = {len(d["us"]) for d in self.profile["processors"]}
        self.assertEqual(len(layers), 1)
        self.assertGreater(layers.pop(), 20)
        self.assertEqual(len(self.profile["links"]), 3)

    def test_links_are_measured_without_a_model(self):
        answer = self.answer("profile", "--processors", self.file)
        self.assertEqual([link["processor"] for link in answer["links"]], ["one", "two"])
        for link in answer["links"]:
            self.assertGreater(link["busy_up_mbit_per_s"], 0)
            self.assertEqual([len(times) for times in link["sizes"]], [5] * 3)
            self.assertGreater(min(min(times.values()) for times in link["sizes"]), 0)
        text = mete("profile", "--processors", self.file).stdout
        for told in ("links measured in", "round trip", "a message of", "512.0 KiB"):
            self.assertIn(told, text)

    def test_plans_go_by_it(self):
        plan = self.answer("plan", self.net, "--processors", self.file)
        self.assertEqual(plan["processors"], ["own", "one", "two"])
        self.assertIn("mete profile has measured", plan["note"])
        self.assertGreaterEqual(plan["beside_best_alone"], 1)
        plain = mete("plan", self.net, "--processors", self.file)
        self.assertEqual(plain.returncode, OK, plain.stderr)
        self.assertIn("loopback", plain.stdout)
        planners = self.answer("simulate", self.net, "--processors", self.file)["planners"]
        self.assertIn("dynamic", [p["planner"] for p in planners])

    def test_objectives_of_plans_are_run(self):
        ask = ["bench", self.net, "--processors", self.file, "--runs", "5"]
        self.fails(USAGE, "[--objective] not an objective for several processors", *ask, "--objective", "latency=30ms")
        self.assertEqual(self.answer(*ask, "--objective", "throughput")["wrong"], 0)
        self.fails(USAGE, "[--planner] legion plans for latency alone", *ask, "--objective", "throughput", "--planner", "legion")
        # Without watts there is no least energy; the caller's own are so many that another device computes all.
        self.fails(USAGE, "[own] has no power figures", *ask, "--objective", "energy")
        watts = [f'idle_w = {{ value = 0.1, source = "test" }}\ncompute_w = {{ value = {w}, source = "test" }}\n' for w in (1000, 1, 1000)]
        parts = self.file.read_text().split("[[device]]\n")
        file = self.path("watts.toml", "[[device]]\n".join([parts[0]] + [p + "\n" + w for p, w in zip(parts[1:], watts)]).encode())
        plan = self.answer("plan", self.net, "--processors", file, "--objective", "energy")
        self.assertIn("Watts are the file's", plan["note"])
        self.assertEqual({plan["processors"][share["processor"]] for group in plan["groups"] for share in group["shares"]}, {"one"})
        done = self.undisturbed("bench", self.net, "--processors", file, "--runs", "5", "--objective", "energy", *PATIENT)
        self.assertEqual((done["wrong"], done["computed_alone"]), (0, 0))
        self.assertAlmostEqual(done["predicted_joules"], plan["joules"])
        self.assertRegex(mete("bench", self.net, "--processors", file, "--runs", "5", "--objective", "energy").stdout, r"[\d.]+ m?J\b")

    def test_what_is_not_measured_says_what_to_do(self):
        other = self.root / "other.toml"
        other.write_text(self.file.read_text().replace('"two"', '"three"'))
        for command in ("plan", "bench", "run"):
            inputs = ["--input", f"{self.input['name']}={self.tensor}"] if command == "run" else []
            self.fails(USAGE, "try mete profile MODEL --processors FILE", command, self.net, "--processors", other, *inputs)

    def run_to(self, folder, *flags):
        """The answer of a run, and its output's values."""
        out = self.path(folder)
        run = self.undisturbed if "--processors" in flags else self.answer
        answer = run("run", self.net, "--input", f"{self.input['name']}={self.tensor}", "--output", out, *flags)
        return answer, values(out / f"{self.output['name']}.npy")

    def apart(self, a, b):
        """The largest difference beside the largest value."""
        self.assertEqual(len(a), len(b))
        return max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b))

    def test_a_divided_run_gives_what_a_plain_one_gives(self):
        _, plain = self.run_to("plain")
        self.assertGreater(len(set(plain)), 100)
        answer, divided = self.run_to("divided", "--processors", self.file, *DIVIDED)
        self.assertIn("own+one+two", answer["processors"]["plan"])
        self.assertLess(self.apart(divided, plain), 1e-4)
        _, planned = self.run_to("planned", "--processors", self.file, *PATIENT)
        self.assertLess(self.apart(planned, plain), 1e-4)

    def test_what_fewer_bits_cost_is_reported(self):
        _, plain = self.run_to("plain")
        for transfer, most in (("f16", 0.02), ("u8", 0.5)):
            answer, outputs = self.run_to(transfer, "--processors", self.file, "--transfer", transfer, *DIVIDED)
            told = answer["processors"]["largest_difference"]
            self.assertEqual(answer["processors"]["transfer"], transfer)
            self.assertGreater(told, 1e-6)
            self.assertLess(told, most)
            self.assertAlmostEqual(self.apart(outputs, plain), told, delta=told / 10)

    def test_bench_checks_all_answers(self):
        result = self.undisturbed("bench", self.net, "--processors", self.file, "--runs", "10", *DIVIDED)
        self.assertEqual((result["wrong"], result["retries"], result["computed_alone"], result["requests"]), (0, 0, 0, 10))
        self.assertLess(result["largest_difference"], 1e-4)
        self.assertEqual([c["processor"] for c in result["computing"]], ["own", "one", "two"])
        plain = mete("bench", self.net, "--processors", self.file, "--runs", "5")
        self.assertEqual(plain.returncode, OK, plain.stderr)
        self.assertIn("home alone", plain.stdout)

    def test_a_worker_that_goes_away_costs_no_answer(self):
        with Worker() as gone, tempfile.TemporaryFile("w+") as answers:
            file = self.hosts("insecure = true", one=self.one, gone=gone)
            self.answer("profile", self.net, "--processors", file)
            bench = OnTerminal("bench", self.net, "--processors", file, "--seconds", 600, *DIVIDED, stdout=answers)
            while self.states(file, OK)["gone"]["deployments"] == 0:
                self.assertIsNone(bench.process.poll())
            gone.process.kill()
            self.assertTrue(bench.read_until("gone is lost, the others go on without it"), bench.written)
            self.assertTrue(bench.read_until("request "), bench.written)  # requests are counted
            bench.interrupt()
            self.assertEqual(bench.finish(), CANCELLED, bench.written)
            answers.seek(0)
            self.assertRegex(answers.read(), r"\b0 wrong")

    def excluded(self, flag, other, command, *more):
        done = mete(command, self.net, "--processors", self.file, *more, *other)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        pair = fr"(\[{flag}\] excludes {other[0]}|\[{other[0]}\] excludes {flag})"
        self.assertRegex(done.stderr, f"^mete: error: {pair}; got both, expected one of them; try 'mete {command} --help'$")

    def test_what_needs_this_device_alone_is_refused_with_devices(self):
        for command in ("run", "bench"):
            for other in (["--explain"], ["--profile"], ["--trace", "t.json"]):
                self.excluded("--processors", other, command)
        self.excluded("--processors", ["--warmup", "3"], "bench")
        self.excluded("--beside", ["--on-command"], "bench", "--beside", "legion")
        for other in (["--seconds", "3"], ["--lanes", "2"], ["--deadline", "9"]):
            self.excluded("--beside", other, "bench", "--beside", "legion")
        self.fails(USAGE, "[--cores] needs --check", "profile", self.net, "--processors", self.file, "--cores", "0")
        self.fails(USAGE, "--transfer", "bench", self.net, "--transfer", "f16")
        self.fails(USAGE, "--transfer", "bench", self.net, "--processors", self.file, "--transfer", "f64")
        self.fails(USAGE, "--planner", "bench", self.net, "--processors", self.file, "--planner", "nobody")
        self.fails(USAGE, "--deadline", "bench", self.net, "--processors", self.file, "--deadline", "0")

    def test_workers_of_a_file_are_asked(self):
        states = self.states(self.file, OK)
        self.assertEqual(list(states), ["own", "one", "two"])
        self.assertEqual((states["own"]["there"], states["own"]["state"]), (True, "this device"))
        one = states["one"]
        self.assertEqual((one["there"], one["address"], one["threads"], one["problem"]), (True, self.one.address, 1, None))
        self.assertEqual(one["version"], self.answer("--version")["version"])
        self.assertGreater(one["round_trip_ms"], 0)
        plain = mete("devices", "--processors", self.file)
        self.assertEqual((plain.returncode, len(plain.stdout.splitlines())), (OK, 4), plain.stderr)
        self.fails(USAGE, "--toml", "devices", "--toml", "--processors", self.file)

    def test_who_is_not_there_is_told_with_the_others(self):
        file = self.hosts("insecure = true", one=self.one, closed="127.0.0.1:1")
        states = self.states(file, FAILURE)
        self.assertTrue(states["one"]["there"])
        self.assertFalse(states["closed"]["there"])
        self.assertIn("[closed] cannot be reached", states["closed"]["problem"])
        self.assertIn("try whether 'mete worker' runs there", states["closed"]["problem"])
        plain = mete("devices", "--processors", file)
        self.assertEqual(plain.returncode, FAILURE)
        self.assertIn("1 of 2 workers cannot be used: closed", plain.stderr)
        self.fails(FAILURE, "[closed] cannot be reached", "profile", self.net, "--processors", file)

    def test_who_hangs_is_not_waited_for(self):
        with Worker() as hangs:
            hangs.process.send_signal(signal.SIGSTOP)
            done = mete("devices", "--processors", self.hosts("insecure = true", hangs=hangs), "--timeout", "1", "--json")
        self.assertEqual(done.returncode, FAILURE, done.stderr)
        states = {d["name"]: d["state"] for d in json.loads(done.stdout)["devices"]}
        self.assertEqual(states, {"own": "this device", "hangs": "no answer"})

    def test_the_others_are_told_though_one_hangs(self):
        with Worker() as hangs:
            hangs.process.send_signal(signal.SIGSTOP)
            states = self.states(self.hosts("insecure = true", hangs=hangs, one=self.one), FAILURE)
        self.assertEqual({name: state["there"] for name, state in states.items()}, {"own": True, "hangs": False, "one": True})

    def test_a_worker_that_dies_while_it_is_measured_is_an_error(self):
        for most in (0, 1 << 16):  # nothing is known of it yet; the link is being measured
            with Worker() as dies:
                way = Cut(dies.address, most)
                file = self.hosts("insecure = true", dies=way)
                words = [cli_testing.METE, "profile", str(self.net), "--processors", str(file)]
                profile = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                while not way.full.wait(0.1):
                    self.assertIsNone(profile.poll())
                dies.process.kill()
                way.close()
                _, stderr = profile.communicate()
            self.assertEqual(profile.returncode, FAILURE, stderr)
            self.assertIn("[dies] ", stderr)
            self.assertNotIn("assertion", stderr)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "a worker with two processors needs two cores")
class OfOneWorker(Hosts):
    def test_an_entry_without_processors_has_all_that_the_worker_offers(self):
        two = ("--processors", ",".join(f"cpu:{core}" for core in sorted(os.sched_getaffinity(0))[:2]))
        names = ["own"] + [f"pi/{name}" for name in two[1].split(",")]
        with Worker(cores=two) as pi:
            file = self.hosts("insecure = true", pi=pi)
            self.assertEqual([link["processor"] for link in self.answer("profile", "--processors", file)["links"]], names[1:])
            profile = self.answer("profile", self.net, "--processors", file)[0]
            self.assertEqual([d["name"] for d in profile["processors"]], names)
            self.assertEqual([d["memory"] and d["memory"]["device"] for d in profile["processors"]], [None, "pi", "pi"])
            self.assertEqual(self.answer("plan", self.net, "--processors", file)["processors"], names)
            result = self.undisturbed("bench", self.net, "--processors", file, "--runs", "5", *DIVIDED)
            self.assertEqual(result["wrong"], 0)
        with Worker(listen=pi.address):  # one processor, of another name
            done = mete("bench", self.net, "--processors", file, "--runs", "5", "--json")
            self.assertEqual((done.returncode, json.loads(done.stdout)["wrong"]), (OK, 0), done.stderr)
            for name in names[1:]:
                self.assertIn(f"{name} cannot serve, the others go on without it", done.stderr)


    def test_a_plan_that_decides_the_threads_of_a_worker_is_refused(self):
        with Worker() as pi:
            file, saved = self.hosts("insecure = true", pi=pi), self.root / "saved.json"
            self.answer("profile", self.net, "--processors", file)
            self.answer("bench", self.net, "--processors", file, "--runs", "1", *DIVIDED, "--save-plan", saved)
            plan = json.loads(saved.read_text())
            shares = [share for group in plan["groups"] for share in group["shares"]]
            home = next(share["threads"] for share in shares if share["processor"] == 0)
            of_worker = [share for share in shares if share["processor"] == 1]
            self.assertEqual([share for share in of_worker if "threads" in share], [])
            of_worker[0]["threads"] = home
            saved.write_text(json.dumps(plan))
            self.fails(BAD_FILE, "has the threads of steps for pi; expected none for a worker", "bench", self.net, "--processors", file, "--plan", saved)


class Believed(Hosts):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for keys in ("keys", "foreign"):
            made = mete("keys", "make", cls.root / keys, "laptop", "pi-1")
            assert made.returncode == OK, made.stderr
        for token in ("token", "other"):
            made = mete("keys", "token", cls.root / token)
            assert made.returncode == OK, made.stderr

    def refused(self, file, text):
        state = self.states(file, FAILURE)["pi-1"]
        self.assertFalse(state["there"])
        self.assertIn(text, state["problem"])

    def test_certificates(self):
        with Worker("--keys", self.root / "keys" / "pi-1") as worker:
            self.assertEqual(worker.says["proof"], "certificates")
            file = self.hosts('keys = "foreign/laptop"', **{"pi-1": worker})
            self.refused(file, "certificate verify failed; try certificates of one authority")
            self.fails(USAGE, "certificate verify failed", "profile", self.net, "--processors", file)
            for believes in ("insecure = true", 'token = "token"'):
                self.refused(self.hosts(believes, **{"pi-1": worker}), "try keys in the devices file")
            other = self.hosts('keys = "keys/laptop"', **{"pi-2": worker})
            self.assertIn("Peer name pi-2 is not in peer certificate", self.states(other, FAILURE)["pi-2"]["problem"])
            right = self.hosts('keys = "keys/laptop"', **{"pi-1": worker})
            self.assertTrue(self.states(right, OK)["pi-1"]["there"])
            self.answer("profile", self.net, "--processors", right)
            result = self.undisturbed("bench", self.net, "--processors", right, "--runs", "5", *DIVIDED)
            self.assertEqual((result["wrong"], result["computed_alone"]), (0, 0))

    def test_a_worker_without_tls_is_not_talked_to_where_it_is_expected(self):
        with Worker() as worker:
            self.refused(self.hosts('keys = "keys/laptop"', **{"pi-1": worker}), "it speaks no TLS")

    def test_tokens(self):
        with Worker("--token", self.root / "token") as worker:
            self.assertEqual(worker.says["proof"], "token")
            for believes in ('token = "other"', "insecure = true"):
                file = self.hosts(believes, **{"pi-1": worker})
                self.refused(file, "the token is missing or wrong")
                self.fails(USAGE, "the token is missing or wrong", "profile", self.net, "--processors", file)
            right = self.hosts('token = "token"', **{"pi-1": worker})
            self.assertTrue(self.states(right, OK)["pi-1"]["there"])
            self.answer("profile", self.net, "--processors", right)
            result = self.undisturbed("bench", self.net, "--processors", right, "--runs", "5", *DIVIDED)
            self.assertEqual((result["wrong"], result["computed_alone"]), (0, 0))

    def test_who_is_lost_for_its_keys_is_told_and_the_answer_is_right(self):
        with Worker("--keys", self.root / "keys" / "pi-1") as worker:
            self.answer("profile", self.net, "--processors", self.hosts('keys = "keys/laptop"', **{"pi-1": worker}))
            file = self.hosts('keys = "foreign/laptop"', **{"pi-1": worker})
            done = mete("bench", self.net, "--processors", file, "--runs", "5", "--json", *DIVIDED)
        self.assertEqual(done.returncode, OK, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual((result["wrong"], result["computed_alone"]), (0, 5))
        self.assertIn("pi-1 cannot serve, the others go on without it", done.stderr)
        self.assertIn("certificate verify failed", done.stderr)


class Files(Hosts):
    def test_problems_of_devices_files_are_told_at_once(self):
        for command in (["profile", self.net], ["bench", self.net], ["devices"]):
            self.fails(BAD_FILE, "none.toml", *command, "--processors", self.root / "none.toml")
            self.fails(BAD_FILE, "bad.toml", *command, "--processors", self.path("bad.toml", b"name = "))
        pi = '[[device]]\nname = "pi"\n'
        there = pi + 'address = "127.0.0.1:9"\n'
        for believes, devices, problem in (
                ("insecure = true", OWN + pi, "is a second device without an address, so that the pool has two roots"),
                ("insecure = true", OWN + pi + 'address = "pi"\n', "got 'pi', expected HOST:PORT"),
                ("insecure = true", OWN.replace("own", "pi") + pi + 'address = "a:1"\n', "another device has this name"),
                ("insecure = true", OWN + 'address = "a:1"\n', "the first device is this one and has no address"),
                ("", OWN + pi + 'address = "a:1"\n', "is said 0 times, expected once"),
                ('token = "a"\nkeys = "b"', OWN, "is said 2 times, expected once"),
                ("insecure = true\ncolour = 1", OWN, "colour")):
            file = self.path("odd.toml", f'name = "odd"\n{believes}\n{devices}'.encode())
            self.fails(BAD_FILE, problem, "devices", "--processors", file)
        self.fails(BAD_FILE, "ca.pem", "devices", "--processors", self.path("keys.toml", f'name = "k"\nkeys = "none"\n{OWN}{there}'.encode()))
        self.fails(BAD_FILE, "[" + str(self.root / "none"), "devices", "--processors",
                   self.path("token.toml", f'name = "k"\ntoken = "none"\n{OWN}{there}'.encode()))


class Alone(Hosts):
    def test_signals_are_its_normal_end(self):
        for kind in (signal.SIGTERM, signal.SIGINT):
            with Worker() as worker:
                self.assertEqual(worker.end(kind), OK)
                self.assertEqual(worker.stderr, "")

    def test_it_says_with_how_many_threads_it_computes(self):
        done = subprocess.Popen([cli_testing.METE, "worker", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        line = done.stdout.readline()
        done.terminate()
        done.communicate(timeout=cli_testing.LONG_S)
        self.assertRegex(line, r"^listening on 127\.0\.0\.1:\d+, [1-9]\d* threads?, for callers on this host, without a proof of who they are; Ctrl-C ends it$")

    def test_a_port_that_is_taken_is_an_error(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            self.fails(FAILURE, f"[{address}] cannot be listened on", "worker", "--listen", address)

    def test_an_address_that_other_hosts_reach_needs_a_proof_of_callers(self):
        self.fails(USAGE, "callers have to prove nothing", "worker", "--listen", "0.0.0.0:0")
        with Worker("--insecure", listen="0.0.0.0:0") as open_to_all:
            self.assertEqual(open_to_all.end(), OK)
            self.assertIn("every program that reaches 0.0.0.0:0 may compute here", open_to_all.stderr)

    def test_bad_command_lines(self):
        for listen in ("nonsense", "127.0.0.1", ":7077", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:http"):
            self.fails(USAGE, f"got '{listen}', expected HOST:PORT", "worker", "--listen", listen)
        self.fails(USAGE, "excludes", "worker", "--keys", "a", "--token", "b")
        self.fails(BAD_FILE, "ca.pem", "worker", "--keys", self.root / "none")
        self.fails(BAD_FILE, "cannot open the file", "worker", "--token", self.root / "none")
        self.fails(BAD_FILE, "not a token", "worker", "--token", self.path("short", b"short\n"))
        self.fails(USAGE, "--memory-gib", "worker", "--memory-gib", "0")
        self.fails(USAGE, "--name", "worker", "--name", "pi")


if __name__ == "__main__":
    cli_testing.main()
