"""The screen of mete top, in a pseudo-terminal that pyte (python/requirements.txt) shows: at several sizes, its keys, its end.

By hand, to look at a screen: python3 tests/cli/top_screen_test.py --mete build/release/mete --show MODEL|SERVER [FLAG...]
"""
import fcntl
import os
import signal
import struct
import sys
import termios
import time
import unittest

import pyte

import cli_testing
from cli_testing import CANCELLED, FAILURE, OK, Cli
from terminal import OnTerminal
from top_test import MODELS, Served, telling

QUICK = ["--interval", "0.05"]
TITLE = "mete top"


class Terminal(pyte.Screen):
    """With the two sequences of ECMA-48 that ncurses sends and pyte lacks."""

    def scroll_up(self, count=1):
        self.at_top(self.delete_lines, count)

    def scroll_down(self, count=1):
        self.at_top(self.insert_lines, count)

    def at_top(self, change, count):
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        change(count)
        self.cursor.x, self.cursor.y = x, y


class Stream(pyte.Stream):
    csi = {**pyte.Stream.csi, "S": "scroll_up", "T": "scroll_down"}
    events = pyte.Stream.events | {"scroll_up", "scroll_down"}


def is_whole(lines):
    """Nothing overlaps or wraps, and nothing is being drawn: the title is above, the keys are below, and the columns of tables end below each
    other."""
    header = next((i for i, line in enumerate(lines) if line.startswith("model ")), None)
    aligned = header is None or header + 2 >= len(lines) or len(lines[header]) == len(lines[header + 1])
    return lines[0].startswith(TITLE) and lines[-1].startswith("q ends") and aligned


class OnScreen:
    """A `mete top` in a terminal of these sizes."""

    def __init__(self, *args, rows=24, columns=80, env=None):
        self.screen = Terminal(columns, rows)
        self.stream = Stream(self.screen)
        self.fed = 0
        # the terminal gets its size before the program begins
        quick = [] if "--interval" in args else QUICK
        self.command = OnTerminal("top", *args, *quick, columns=columns, rows=rows, env={"LC_ALL": "C.UTF-8", "TERM": "screen-256color", **(env or {})})
        self.was = self.settings()

    def settings(self):
        return termios.tcgetattr(self.command.ours)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def read(self):
        more = self.command.read()
        self.stream.feed(self.command.written[self.fed:])
        self.fed = len(self.command.written)
        return more

    def until(self, holds):
        """Reads until the screen is whole and its lines hold. A command that never gets there is killed, so that its test fails."""
        give_up = time.monotonic() + cli_testing.LONG_S
        while not (is_whole(self.lines()) and holds(self.lines())):
            if time.monotonic() > give_up:
                self.command.process.kill()
            if not self.read():
                raise AssertionError(f"the screen never got there:\n{self.text()}")
        return self.lines()

    def until_shown(self, text):
        return self.until(lambda lines: any(text in line for line in lines))

    def press(self, keys):
        os.write(self.command.ours, keys.encode())

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.command.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.command.process.send_signal(signal.SIGWINCH)  # the kernel sends it to a terminal's owner, which this session has not

    def end(self):
        """The exit code; the rest of what was written is on the screen."""
        while self.read():
            pass
        return self.command.process.wait(cli_testing.LONG_S)


class Screen(Cli):
    def watch(self, *args, **options):
        top = OnScreen(*(args or (self.net, "--threads", 2)), **options)
        self.addCleanup(top.command.process.kill)
        return top

    def restored(self, top):
        """The other screen of the terminal is back, the cursor is seen, and keys are echoed again."""
        self.assertIn("\x1b[?1049l", top.command.written)
        self.assertGreater(top.command.written.rindex("\x1b[?1049l"), top.command.written.rindex("\x1b[?1049h"))
        shown = max(top.command.written.rfind(s) for s in ("\x1b[?25h", "\x1b[?12l\x1b[?25h", "\x1b[34h\x1b[?25h"))
        self.assertGreater(shown, top.command.written.rindex("\x1b[?25l"))

    def test_a_terminal_of_usual_size(self):
        top = self.watch()
        lines = top.until(lambda lines: any(line.startswith("thread 0") and "%" in line for line in lines))
        text = "\n".join(lines)
        for shown in ("session of net.onnx", "req/s", "median", "p99", "busy", "MiB now", "activations", "█"):
            self.assertIn(shown, text)
        top.press("q")
        self.assertEqual(top.end(), OK)
        self.restored(top)
        self.assertEqual(top.command.written.count("\x1b[?1049h"), 1)

    def test_a_small_terminal_and_other_sizes(self):
        top = self.watch(rows=12, columns=40)
        top.until(lambda lines: any(line.startswith("net") for line in lines))
        for rows, columns in ((24, 80), (50, 200), (12, 40), (3, 20)):
            top.resize(rows, columns)
            self.assertEqual(len(top.until(lambda lines: True)), rows)
        top.press("\x1b")
        self.assertEqual(top.end(), OK)
        self.restored(top)

    def test_keys_scroll_sort_explain_and_pause(self):
        top = self.watch(rows=8)
        first = top.until(lambda lines: any("scroll (0 of" in line for line in lines))[1]
        top.press("j")
        top.until_shown("scroll (1 of")
        self.assertNotEqual(top.lines()[1], first)
        top.press("\x1bOA")  # the arrow up, as a terminal sends it to a program that reads keys
        top.until_shown("scroll (0 of")
        top.press("G")
        top.until_shown("thread 1")
        top.press("g")
        top.until_shown("scroll (0 of")
        top.press("\x1b[1;3Q")  # a key with Alt that nobody knows is no Escape
        top.press("p")
        top.until_shown("paused")
        top.press("p")
        top.until(lambda lines: not any("paused" in line for line in lines))
        top.resize(40, 80)
        top.press("?")
        top.until_shown("sorts by the next figure")
        top.press("?")
        top.until(lambda lines: any(line.startswith("thread 1") and "%" in line for line in lines))
        top.press("s")
        top.until_shown("busy▼")
        top.press("q")
        self.assertEqual(top.end(), OK)

    def test_an_interrupt_restores_the_terminal(self):
        for kind in (signal.SIGINT, signal.SIGTERM):
            top = self.watch()
            top.until_shown("req/s")
            top.command.process.send_signal(kind)
            self.assertEqual(top.end(), OK)
            self.restored(top)
        top = self.watch(self.net, "--count", 1000000)
        top.until_shown("req/s")
        top.command.interrupt()
        self.assertEqual(top.end(), CANCELLED)
        self.restored(top)
        self.assertIn("interrupted", top.command.written[top.command.written.rindex("\x1b[?1049l"):])

    def test_a_count_ends_it(self):
        top = self.watch(self.net, "--count", 3)
        self.assertEqual(top.end(), OK)
        self.restored(top)

    def test_colours_only_where_they_are_wanted(self):
        def coloured(**env):
            top = self.watch(env=env)
            top.until(lambda lines: any("█" in line for line in lines))
            top.press("q")
            self.assertEqual(top.end(), OK)
            return "\x1b[32m" in top.command.written or "\x1b[33m" in top.command.written
        self.assertTrue(coloured())
        self.assertFalse(coloured(NO_COLOR="1"))
        self.assertFalse(coloured(TERM="vt220"))

    def test_a_locale_without_unicode_has_other_bars(self):
        top = self.watch(env={"LC_ALL": "C"})
        lines = top.until(lambda lines: any("#" in line for line in lines))
        self.assertTrue("\n".join(lines).isascii())
        top.press("q")
        self.assertEqual(top.end(), OK)

    def test_terminals_that_cannot_be_drawn_on(self):
        top = self.watch(self.net, "--count", 1, env={"TERM": "dumb"})
        self.assertEqual(top.end(), OK)
        self.assertIn("requests/s", top.command.written)
        self.assertNotIn("\x1b[", top.command.written)
        top = self.watch(self.net, env={"TERM": "no-such-terminal"})
        self.assertEqual(top.end(), FAILURE)
        self.assertIn("TERM=no-such-terminal", " ".join(top.command.written.split()))

    def test_hostile_names_stay_text(self):
        hostile = 'a\\"b\x1b]0;title\x07\x9b31m' + "n" * 300
        text = f'mete_build_info{{version="\x1b[2J"}} 1\nmete_requests_total{{model="{hostile}",version="1",outcome="OK"}} 1\n'
        with telling(text) as (_, address):
            top = self.watch(address)
            lines = top.until(lambda lines: any(line.startswith('a"b?]0;title??31mnn') for line in lines))
            self.assertTrue(any("…" in line for line in lines))
            self.assertNotIn("]0;title\x07", top.command.written)
            self.assertEqual(top.screen.title, "")
            top.press("q")
            self.assertEqual(top.end(), OK)

    def test_a_server_that_goes_away(self):
        repository = self.path("models")
        repository.mkdir()
        (repository / "digits.onnx").write_bytes((MODELS / "digits.onnx").read_bytes())
        flags = ["--slots", "1", "--threads", "1", "--tune", "never"]
        with Served(cli_testing.METE, repository, *flags, log="none") as server:
            top = self.watch(f"http://127.0.0.1:{server.port}")
            top.until(lambda lines: any(line.startswith("digits 1") for line in lines))
            server.end()
            top.until_shown("no answer")
            with Served(cli_testing.METE, repository, *flags, log="none", port=server.port):
                top.until(lambda lines: not any("no answer" in line for line in lines))
            top.press("q")
            self.assertEqual(top.end(), OK)
        self.restored(top)


def show(words):
    """Prints the screen of a command after some seconds, at two sizes."""
    for rows, columns in ((24, 80), (12, 40)):
        top = OnScreen(*words, rows=rows, columns=columns)
        until = time.monotonic() + 3
        while time.monotonic() < until and top.read():
            pass
        print("\n".join(f"|{line:{columns}}|" for line in top.lines()))
        top.press("q")
        top.end()


if __name__ == "__main__":
    rest = cli_testing.read_arguments()
    if "--show" in rest:
        show(rest[rest.index("--show") + 1:])
    else:
        unittest.main(argv=[sys.argv[0], *rest])
