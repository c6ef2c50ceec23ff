"""mete on a terminal of 80x24: what it writes, and the screen that comes of it. Standard library only."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time

import cli_testing

ROWS, COLUMNS = 24, 80
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ERASE = "\r\x1b[K"


class OnTerminal:
    """A command with its three streams on a terminal, unless one is given a file. `written`: all that came so far."""

    def __init__(self, *args, env=None, cwd=None, stdout=None, stderr=None, columns=COLUMNS, rows=ROWS):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        self.process = subprocess.Popen([cli_testing.METE, *map(str, args)], stdin=theirs, stdout=stdout or theirs, stderr=stderr or theirs,
                                        env={**environment, "TERM": "xterm", **(env or {})}, cwd=cwd, start_new_session=True)
        os.close(theirs)
        self.written = ""

    def read(self):
        """More of what the command writes; false at its end."""
        try:
            got = os.read(self.ours, 1 << 16)
        except OSError:  # Linux's word for a terminal whose other end is closed
            got = b""
        self.written += got.decode(errors="replace")
        return bool(got)

    def read_until(self, text):
        """Whether the command wrote this before its end. A command that never does is killed, so that its test fails."""
        give_up = time.monotonic() + cli_testing.LONG_S
        while text not in self.written:
            if time.monotonic() > give_up:
                self.process.kill()
            if not self.read():
                return False
        return True

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self):
        while self.read():
            pass
        os.close(self.ours)
        return self.process.wait(timeout=cli_testing.LONG_S)


def on_terminal(*args, **options):
    """The command run to its end: what it wrote, and its exit code."""
    command = OnTerminal(*args, **options)
    code = command.finish()
    return command.written, code


def screen_lines(written):
    """The lines that stay: what was erased again, and colours, are gone."""
    lines = []
    for line in written.replace("\r\n", "\n").split("\n"):
        lines.append(ESCAPE.sub("", line.split(ERASE)[-1]))
    return lines


def progress_of(written):
    """What stood on the line of progress, one after the other."""
    return [ESCAPE.sub("", p) for p in re.findall(r"\r\x1b\[K([^\r\n]+)(?=\r\x1b\[K)", written)]
