"""Links with delay: what is asked of them, and what real ones do. Standard library only. Bars on times are those that a delay must not fall
below; what a busy machine adds is in no bar but of the best of several. Real labs are skipped where they are not permitted, and where the
program tools/delayline was not built."""
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import unittest

kHere = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(kHere))
import lab
import lab_command
import lab_measure
import leftovers
import lines
import links
from lab import Lab, LabError, Line, Loopback
from lab_test import Caller, programs, python, until

# Owns a lab with a delayed link until it is ended from outside.
kOwner = """import signal, sys
sys.path.insert(0, sys.argv[1])
from lab import Lab, Line
with Lab(hosts=2, lines={0: Line(10, 5)}) as made:
    print(made.name, flush=True)
    signal.pause()
"""
# Sends so many datagrams at once, of which nobody answers any.
kBurst = """import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    for _ in range(int(sys.argv[2])): out.sendto(bytes(1000), (sys.argv[1], 9))
"""
kBusyMs = 15  # guess: what the quickest of ten messages has on a machine that is busy


lab_measure.kMessagesS = 0.3


class Settings(unittest.TestCase):
    def test_each_direction_has_its_own(self):
        line = Line((5.85, 20), 30, jitter_ms=(0, 4), queue_bytes=(None, 50000))
        self.assertEqual(line.way(False), {"mbit": 5.85, "delay_ms": 30, "jitter_ms": 0, "queue_bytes": links.kQueueBytes})
        self.assertEqual(line.ways()["down"], {"mbit": 20, "delay_ms": 30, "jitter_ms": 4, "queue_bytes": 50000})

    def test_a_queue_is_a_second_of_the_rate_within_bounds(self):
        self.assertEqual(lines.default_queue(0.13), 16 * 1538)
        self.assertEqual(lines.default_queue(1.1), 137500)
        self.assertEqual(lines.default_queue(100), 262144)

    def test_what_is_asked_follows_from_both_links(self):
        device, server = Line((1, 8), 30, jitter_ms=2), lines.NoLine(100)
        self.assertAlmostEqual(lines.asked_mbit(device, server), 1448 / 1538)
        self.assertAlmostEqual(lines.asked_mbit(server, device), 8 * 1448 / 1538)
        # 64 bytes and 90 of headers at 1 Mb/s are 1.232 ms; 91 bytes of an answer at 8 Mb/s are 0.091 ms.
        least, most = lines.asked_ms(device, server, 64)
        self.assertAlmostEqual(least, 60 + 1.232 + 0.091)
        self.assertAlmostEqual(most, least + 4)
        self.assertAlmostEqual(lines.asked_ms(device, Line(1000, 5), 64)[0], 70 + 1.232 + 0.091 + 245 * 8e-6)
        self.assertEqual(lines.asked_ms(server, server, 64), (0, 0))

    def test_what_is_wrong_is_named(self):
        for wrong, text in ((Line(0, 1), "got 0, expected 0.01 to 1000"), (Line("fast"), "got fast"), (Line((1, 2, 3)), "a pair")):
            with self.assertRaisesRegex(LabError, text):
                Lab(lines={0: wrong})
        with self.assertRaisesRegex(LabError, r"\[lines\] no such host; got 2, expected 0 to 1"):
            Lab(lines={2: Line(1)})
        with self.assertRaisesRegex(lab.NotPermitted, "no delay on the loopback"):
            Loopback(lines={0: Line(1)})

    def test_the_command_line(self):
        self.assertEqual(lab_command._line("0:5.85:30"), (0, Line((5.85, 5.85), 30, 0)))
        self.assertEqual(lab_command._line("1:5.85/20:30:2.5"), (1, Line((5.85, 20), 30, 2.5)))
        for words, text in (("run --line 0 -- true", "--line: got '0'"), ("run --line 5:1:1 -- true", "no such host; got 5"),
                            ("run --line 0:1:1 --delayline no-such-file -- true", "no-such-file")):
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
                lab_command.main(words.split())
            self.assertIn(text, errors.getvalue())

    def test_the_table_shows_what_was_asked(self):
        got = {"mbit": 5.42, "small_us": 60500, "small_mad_us": 80, "large_us": 310000, "asked_mbit": 5.508, "asked_small_us": [60220, 60220]}
        text = lab_measure.table([(0, 1, got), (1, 0, {**got, "asked_small_us": [60000, 64000]})])
        for part in ("5.420", "5.51", "60.50 ms", "60.22 ms", "60.0 to 64.0 ms", "310.00 ms"):
            self.assertIn(part, text)


class RealLines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        can, reason = lab.permitted()
        if can:
            try:
                with Lab(hosts=1, lines={0: Line(10)}):
                    pass
            except LabError as problem:
                can, reason = False, str(problem)
        if not can:
            raise unittest.SkipTest(f"no links with delay here: {reason}")

    def setUp(self):
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        self.addCleanup(lambda: [signal.signal(*pair) for pair in handlers.items()])

    def test_delays_and_rates_are_those_asked_for(self):
        with Lab(hosts=2, lines={0: Line((4, 16), 20)}) as made:
            device, server = made.hosts
            for sender, receiver, mbit in ((device, server, 4), (server, device, 16)):
                got = lab_measure.measure(sender, receiver, 0.5)
                self.assertAlmostEqual(got["asked_mbit"], mbit * 1448 / 1538)
                self.assertGreater(got["small_us"], got["asked_small_us"][0])
                self.assertLess(got["mbit"], mbit)
                self.assertGreater(got["mbit"], 0.2 * mbit)
            self.assertLess(self.quickest_ms(device, server), lines.asked_ms(made.link(device), made.link(server), 64)[1] + kBusyMs)

    def test_two_delays_add_up(self):
        with Lab(hosts=2, lines={0: Line(100, 10), 1: Line(100, 15, jitter_ms=5)}) as made:
            quickest = self.quickest_ms(*made.hosts)
            self.assertGreater(quickest, 50)
            self.assertLess(quickest, 60 + kBusyMs)

    def test_a_link_changes_while_programs_talk(self):
        with Lab(hosts=2, lines={0: Line(100, 40)}) as made:
            device, server = made.hosts
            self.assertGreater(self.quickest_ms(device, server), 80)
            made.line(device, Line(100, 1))
            self.assertLess(self.quickest_ms(device, server), 2 + kBusyMs)
            made.rate(device, 1)
            self.assertEqual(made.link(device), Line(1, 1))
            got = lab_measure.measure(device, server, 0.3)
            self.assertLess(got["mbit"], 1)
            with self.assertRaisesRegex(LabError, "its link has no delay"):
                made.line(server, Line(1))
            with self.assertRaisesRegex(LabError, r"\[up\] 'delay_ms'.*got -1"):
                made.line(device, Line(1, -1))
            self.assertEqual(made.link(device), Line(1, 1))

    def test_a_full_queue_drops(self):
        with Lab(hosts=2, lines={0: Line(0.5, 0, queue_bytes=10000)}) as made:
            device, server = made.hosts
            device.run(python(kBurst, server.address, "60")).check_returncode()
            # 10000 bytes are 9 frames of 1066; 60 more leave the link within a second, which this burst does not take. A frame counts when
            # it has left, so the last of the queue may count after the last that was dropped.
            self.assertTrue(until(lambda: self.up(made)["frames"] >= 9 and sum(self.up(made)[key] for key in ("frames", "dropped")) >= 60),
                            made.line_counts(device))
            self.assertGreater(self.up(made)["dropped"], 0)

    def test_a_cut_link_is_silent_and_connections_outlive_it(self):
        with Lab(hosts=2, lines={0: Line(100, 1)}) as made, Caller(*made.hosts) as caller:
            caller.say("hello")
            self.assertTrue(caller.hears("hello"))
            made.hosts[0].cut()
            before = self.up(made)["frames"]
            caller.say("again")
            self.assertTrue(until(lambda: self.up(made)["frames"] > before))
            self.assertEqual(caller.heard(), "")
            made.hosts[0].mend()
            self.assertTrue(caller.hears("again"))

    def test_nothing_is_left(self):
        with subprocess.Popen(python(kOwner, str(kHere)), stdout=subprocess.PIPE, text=True) as owner:
            name = owner.stdout.readline().strip()
            self.assertEqual(len(programs(name)[0]), 1)  # the line
            owner.kill()
        self.assert_nothing_left(name)

    def test_what_cannot_be_made_leaves_nothing(self):
        for settings, text in ({"lines": {1: Line(10, 5000)}}, "expected 0 to 2000"), \
                              ({"lines": {0: Line(10)}, "delayline": "no-such-file"}, "METE_DELAYLINE"), \
                              ({"lines": {0: Line(10)}, "delayline": "/bin/false"}, "has ended"):
            made = Lab(hosts=2, **settings)
            with self.assertRaisesRegex(LabError, text):
                made.__enter__()
            self.assert_nothing_left(made.name)

    def quickest_ms(self, sender, receiver):
        server = receiver.start([sys.executable, lab_measure.kProgram, "serve", receiver.address], stdout=subprocess.PIPE, text=True)
        with server:
            port = server.stdout.readline().strip()
            done = sender.run([sys.executable, lab_measure.kProgram, "messages", receiver.address, port, "64", "10"])
            receiver.kill(server)
        self.assertEqual(done.returncode, 0, done.stderr)
        return min(map(float, done.stdout.split())) / 1000

    def up(self, made):
        return made.line_counts(made.hosts[0])["up"]

    def assert_nothing_left(self, name):
        self.assertTrue(until(lambda: programs(name) == ([], []) and leftovers.namespaces(name) == []),
                        f"{programs(name)} {leftovers.namespaces(name)}")


if __name__ == "__main__":
    unittest.main()
