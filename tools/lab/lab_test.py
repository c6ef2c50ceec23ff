"""Labs as tests and benchmarks use them, and what is left of them however they end. Standard library only. No bar on times, and on rates
only what a rate must not exceed. Real labs are skipped where they are not permitted."""
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

kHere = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(kHere))
import lab
import lab_command
import lab_measure
import leftovers
import links
from lab import Lab, LabError, Loopback

kLongS = 20  # for what takes milliseconds, on a busy machine

# Answers each line of each caller by the same, one caller after the other.
kEcho = """import os, socket
with socket.create_server((os.environ["METE_LAB_ADDRESS"], 7077)) as server:
    while True:
        with server.accept()[0] as caller, caller.makefile("rwb", 0) as lines:
            for line in lines: lines.write(line)
"""
# Passes lines on to the host whose address is its argument, and the answers back.
kCall = """import socket, sys
with socket.create_connection((sys.argv[1], 7077)) as server, server.makefile("rwb", 0) as lines:
    for line in sys.stdin.buffer.raw:
        lines.write(line)
        sys.stdout.buffer.write(lines.readline())
        sys.stdout.flush()
"""
# Owns a lab until it is ended from outside; its hosts run programs that detach themselves and ignore SIGTERM.
kOwner = """import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background programs ignore it
sys.path.insert(0, sys.argv[1])
import lab
lab.kStopS = 0.1
with getattr(lab, sys.argv[2])(hosts=2) as made:
    for host in made.hosts:
        host.start(["sh", "-c", "trap '' TERM; setsid --fork sleep 1000; sleep 1000"])
    time.sleep(0.2)
    print(made.name, flush=True)
    time.sleep(1000)
"""
# As slowcore: runs its command, says in the end what it did. Its arguments go to the file SLOW_ARGUMENTS.
kFakeSlowCore = f"""#!{sys.executable}
import os, subprocess, sys
with open(os.environ["SLOW_ARGUMENTS"], "a") as file:
    print(*sys.argv[1:5], file=file)
subprocess.run(sys.argv[sys.argv.index("--") + 1:])
print("{{\\n}}", file=sys.stderr)
"""


def until(condition):
    end = time.monotonic() + kLongS
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def programs(name):
    """Those of a lab, and its warden."""
    def command(pid):
        with contextlib.suppress(OSError):
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return []
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
    return ([pid for pid in pids if leftovers.marked(pid) == name],
            [pid for pid in pids if name.encode() in command(pid) and any(word.endswith(b"leftovers.py") for word in command(pid))])


def python(text, *words):
    return [sys.executable, "-c", text, *words]


class Caller:
    """A program on one host that has a connection to the echo of another."""

    def __init__(self, sender, receiver):
        self.echo = receiver.start(python(kEcho))
        receiver.await_port(self.echo, 7077)
        self.process = sender.start(python(kCall, receiver.address), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.set_blocking(self.process.stdout.fileno(), False)

    def __enter__(self):
        return self

    def __exit__(self, *_problem):
        for process in (self.process, self.echo):
            process.kill()
            process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def say(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def heard(self):
        return (self.process.stdout.read() or b"").decode().strip()

    def hears(self, text):
        return until(lambda: self.heard() == text)


class Arguments(unittest.TestCase):
    def wrong(self, code, words, *parts):
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            try:
                self.assertEqual(lab_command.main(words.split()), code)
            except SystemExit as end:
                self.assertEqual(end.code, code)
        self.assertRegex(errors.getvalue(), r"(?m)^lab\.py: error: \[")
        for part in parts:
            self.assertIn(part, errors.getvalue())

    def setUp(self):
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        self.addCleanup(lambda: [signal.signal(*pair) for pair in handlers.items()])

    def test_what_is_wrong_is_named(self):
        self.wrong(2, "", "[usage]", "lab.py --help")
        self.wrong(2, "run", "COMMAND")
        self.wrong(2, "run --hosts 0 -- true", "--hosts", "got '0'")
        self.wrong(2, "run --mbit nan -- true", "--mbit", "got 'nan'")
        self.wrong(2, "run --cores 0 -- true", "[cores]", "got 1, expected 2")
        self.wrong(2, "run --cores 0,99999 -- true", "[cores]", "got 99999")
        self.wrong(2, "run --cores a -- true", "--cores", "got 'a'")
        self.wrong(2, "run --slow 0 -- true", "--slow", "got '0'")
        self.wrong(2, "run --slow 0:0.5 -- true", "[slow]", "no host has this core")
        self.wrong(2, "run --cores 0,0 --slow 0:2 -- true", "[slow]", "got 2")
        self.wrong(2, "run --start 2 true -- true", "[--start]", "got '2', expected 0 to 1")
        self.wrong(1, "run --loopback -- no-such-program", "[host 0]", "no-such-program")
        self.wrong(1, "run --loopback --cores 0,0 --slow 0:0.5 --slowcore no-such-file -- true", "[slow]", "no-such-file", "METE_SLOWCORE")
        self.wrong(1, "measure --hosts 1", "[--hosts]")

    def test_help(self):
        for words in (["--help"], ["run", "--help"], ["measure", "--help"], ["clean", "--help"]):
            with contextlib.redirect_stdout(io.StringIO()) as text, self.assertRaises(SystemExit) as end:
                lab_command.main(words)
            self.assertEqual(end.exception.code, 0)
            self.assertIn("lab.py", text.getvalue())

    def test_cores_of_hosts(self):
        self.assertEqual(lab_command._cores("0,1"), [[0], [1]])
        self.assertEqual(lab_command._cores("0-2,5"), [[0, 1, 2], [5]])


class Permission(unittest.TestCase):
    def asked(self, *words, **variables):
        text = f"import sys; sys.path.insert(0, {str(kHere)!r}); import lab; print(*lab.permitted())"
        done = subprocess.run([*words, *python(text)], capture_output=True, text=True, env={**os.environ, **variables})
        if done.returncode != 0:
            self.skipTest(f"Python, or the sources, cannot be had by others here: {done.stderr.strip()[-200:]}")
        return done.stdout

    def test_a_missing_tool_is_named(self):
        answer = self.asked(PATH="/nowhere")
        self.assertIn("False [lab] no program", answer)
        self.assertIn("install-deps.sh", answer)

    @unittest.skipIf(os.geteuid() != 0, "needs root to be somebody else")
    def test_somebody_without_rights_has_a_reason(self):
        answer = self.asked("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
        self.assertTrue(answer.startswith("False [") and "try as root" in answer, answer)


class AnyLab:
    """What holds for both kinds; `make` is one of them."""

    def test_programs_meet_by_their_addresses(self):
        with self.make(hosts=3) as made:
            self.assertEqual(len({host.address for host in made.hosts}), 3)
            for sender, receiver in ((0, 1), (1, 2), (2, 0)):
                with Caller(made.hosts[sender], made.hosts[receiver]) as caller:
                    caller.say("hello")
                    self.assertTrue(caller.hears("hello"))

    def test_run_tells_what_the_program_said(self):
        with self.make(hosts=2) as made:
            done = made.hosts[1].run(["sh", "-c", "echo $METE_LAB_ADDRESS; echo $METE_LAB_ADDRESSES >&2; exit 3"])
        self.assertEqual((done.returncode, done.stdout.strip()), (3, made.hosts[1].address))
        self.assertEqual(done.stderr.strip().split(","), [host.address for host in made.hosts])

    def test_run_ends_children_too(self):
        with self.make(hosts=1) as made:
            start = time.monotonic()
            with self.assertRaises(subprocess.TimeoutExpired):
                made.hosts[0].run(["sh", "-c", "sleep 1000 & sleep 1000"], timeout=0.2)
            self.assertLess(time.monotonic() - start, kLongS)
            self.assertTrue(until(lambda: programs(made.name)[0] == []))

    def test_programs_are_pinned(self):
        core = max(os.sched_getaffinity(0))
        with self.make(hosts=2, cores=[core, [core]]) as made:
            for host in made.hosts:
                done = host.run(python("import os; print(*os.sched_getaffinity(0))"))
                self.assertEqual(done.stdout.split(), [str(core)], done.stderr)

    def test_kill_and_what_follows(self):
        with self.make(hosts=1) as made, tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log.txt")
            process = made.hosts[0].start(["sh", "-c", "trap 'echo asked' USR1; echo there; while :; do sleep 0.01; done"], log=log)
            self.assertTrue(until(lambda: "there" in pathlib.Path(log).read_text()))
            made.hosts[0].kill(process, signal.SIGUSR1)
            self.assertTrue(until(lambda: "asked" in pathlib.Path(log).read_text()))
            made.hosts[0].kill(process)
            self.assertEqual(process.returncode, -signal.SIGKILL)

    def test_a_program_that_ends_is_not_waited_for(self):
        with self.make(hosts=1) as made:
            with self.assertRaisesRegex(LabError, "got exit code 4"):
                made.hosts[0].await_port(made.hosts[0].start(["sh", "-c", "exit 4"]), 7077)
            with self.assertRaisesRegex(LabError, "nobody listens"):
                made.hosts[0].await_port(made.hosts[0].start(["sleep", "1000"]), 7077, timeout=0.1)
            with self.assertRaisesRegex(LabError, "no such program"):
                made.hosts[0].start(["no-such-program"])

    def test_an_exception_leaves_nothing(self):
        with self.assertRaises(ZeroDivisionError), self.make(hosts=2) as made:
            made.hosts[1].start(["sh", "-c", "trap '' TERM; setsid --fork sleep 1000"]).wait()
            self.assertEqual(len(programs(made.name)[0]), 1)
            raise ZeroDivisionError
        self.assert_nothing_left(made.name)

    def test_slow_cores_are_slow_while_the_lab_is_there(self):
        core = max(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as folder:
            program, arguments = os.path.join(folder, "slowcore"), os.path.join(folder, "arguments")
            pathlib.Path(program).write_text(kFakeSlowCore)
            os.chmod(program, 0o755)
            os.environ["SLOW_ARGUMENTS"] = arguments
            with self.make(hosts=1, cores=[[core]], slow={core: 0.4}, slowcore=program) as made:
                self.assertEqual(pathlib.Path(arguments).read_text(), f"--core {core} --speed 0.4\n")
                self.assertIsNone(made.slowed[core].process.poll())
            self.assertEqual((made.slowed[core].process.poll(), made.slowed[core].report), (0, {}))

    def test_a_signal_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.owner() as (owner, name):
                owner.send_signal(number)
                owner.wait()
            self.assert_nothing_left(name)

    def test_the_next_lab_removes_what_nobody_could(self):
        with self.owner() as (owner, name):
            for pid in [*programs(name)[1], owner.pid]:
                os.kill(pid, signal.SIGKILL)
            owner.wait()
            self.assertEqual(len(programs(name)[0]), 6)
            with self.make(hosts=1):
                self.assert_nothing_left(name)

    def test_the_command_line(self):
        words = [sys.executable, str(kHere / "lab.py"), "run", *self.flags, "--start", "1", "echo there; sleep 1000", "--", "sh", "-c"]
        done = subprocess.run([*words, "sleep 0.3; echo $METE_LAB; exit 7"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 7, done.stderr)
        there, name = done.stdout.split()
        self.assertEqual(there, "there")
        self.assert_nothing_left(name)
        self.assertEqual(subprocess.run([*words, "kill -9 $$"], capture_output=True).returncode, 128 + 9)

    @contextlib.contextmanager
    def owner(self):
        """A process with a lab, and the lab's name."""
        with subprocess.Popen(python(kOwner, str(kHere), self.make.__name__), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as process:
            try:
                yield process, process.stdout.readline().strip()
            finally:
                process.kill()

    def assert_nothing_left(self, name):
        self.assertTrue(until(lambda: programs(name) == ([], []) and leftovers.namespaces(name) == []),
                        f"{programs(name)} {leftovers.namespaces(name)}")


class Loopbacks(AnyLab, unittest.TestCase):
    make, flags = Loopback, ["--loopback"]

    def test_it_says_what_it_has_not(self):
        with Loopback(reason="not permitted") as made:
            self.assertFalse(made.real)
            self.assertIn("no rates", made.note)
            self.assertIn("not permitted", made.note)
            with self.assertRaises(lab.NotPermitted):
                made.rate(made.hosts[0], 10)
            with self.assertRaises(lab.NotPermitted):
                made.hosts[0].cut()


class RealLabs(AnyLab, unittest.TestCase):
    make, flags = Lab, []

    @classmethod
    def setUpClass(cls):
        can, reason = lab.permitted()
        if not can:
            raise unittest.SkipTest(f"no real hosts here: {reason}")

    def test_nobody_else_is_there(self):
        """Two labs have the same addresses, and neither meets the other, nor the machine that they are on."""
        with Lab(hosts=1) as one, Lab(hosts=2) as two:
            self.assertEqual(one.hosts[0].address, two.hosts[0].address)
            with Caller(two.hosts[1], two.hosts[0]) as caller:
                caller.say("hello")
                self.assertTrue(caller.hears("hello"))
                ask = python(f"import socket; socket.create_connection(({two.hosts[0].address!r}, 7077), timeout=1)")
                self.assertIn("refused", one.hosts[0].run(ask).stderr)
            devices = one.hosts[0].run(["cat", "/proc/net/dev"]).stdout
            self.assertIn("eth0:", devices)
            self.assertNotIn("port0:", pathlib.Path("/proc/net/dev").read_text())

    def test_rates_are_limits(self):
        with Lab(hosts=2, mbit=100) as made:
            for mbit in (100, 50):
                for host in made.hosts:
                    made.rate(host, mbit)
                for sender, receiver in (made.hosts, made.hosts[::-1]):
                    got = lab_measure.measure(sender, receiver, 0.3)
                    self.assertLess(got["mbit"], mbit)
                    self.assertGreater(got["mbit"], 0.2 * mbit)
                    self.assertGreater(got["large_us"], (lab_measure.kLargeBytes - 8000) * 8 / mbit)
            with self.assertRaisesRegex(LabError, "out of range"):
                made.rate(made.hosts[0], 0)

    def test_a_cut_link_is_silent_and_connections_outlive_it(self):
        with Lab(hosts=3) as made, Caller(made.hosts[0], made.hosts[1]) as caller, Caller(made.hosts[0], made.hosts[2]) as other:
            made.hosts[1].cut()
            caller.say("hello")
            other.say("still here")
            self.assertTrue(other.hears("still here"))
            time.sleep(0.3)
            self.assertEqual(caller.heard(), "")
            self.assertIsNone(caller.process.poll())
            made.hosts[1].mend()
            self.assertTrue(caller.hears("hello"))

    def test_isolated_hosts_reach_all_others(self):
        with Lab(hosts=3) as made, Caller(made.hosts[1], made.hosts[2]) as caller, Caller(made.hosts[0], made.hosts[1]) as other:
            caller.say("connected")
            self.assertTrue(caller.hears("connected"))
            for host in made.hosts[1:]:
                host.isolate()
            caller.say("hello")
            other.say("still here")
            self.assertTrue(other.hears("still here"))
            time.sleep(0.3)
            self.assertEqual(caller.heard(), "")
            made.hosts[2].isolate(on=False)
            self.assertTrue(caller.hears("hello"))

    def test_a_port_elsewhere_does_not_count(self):
        with Lab(hosts=2) as made:
            echo = made.hosts[0].start(python(kEcho))
            made.hosts[0].await_port(echo, 7077)
            with self.assertRaisesRegex(LabError, "nobody listens"):
                made.hosts[1].await_port(made.hosts[1].start(["sleep", "1000"]), 7077, timeout=0.1)

    def test_what_cannot_be_made_leaves_nothing(self):
        made = Lab(hosts=2, mbit=0.001)
        with self.assertRaises(LabError):
            made.__enter__()
        self.assert_nothing_left(made.name)


if __name__ == "__main__":
    unittest.main()
