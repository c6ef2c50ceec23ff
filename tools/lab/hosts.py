"""What a host of a lab is for its users: programs are started on it, its link is cut, mended, slowed."""
import contextlib
import ipaddress
import os
import shutil
import signal
import subprocess
import time

import leftovers
import links
from links import LabError

kEndS = 10  # guess: until a killed program is gone, on a busy machine


class Host:
    """`address` is where the others reach it; every program on it runs on `cores` alone (None: on any)."""

    def __init__(self, lab, index, address, cores):
        self.lab, self.index, self.address, self.cores = lab, index, address, cores

    def start(self, words, log=None, **popen):
        """A subprocess.Popen of the program itself, which ends with the lab. `log` gets what it prints, at the end of the file; more
        words are Popen's own. Without either it prints where we do. It has no stdin and is not in our session, so that Ctrl-C at our
        terminal does not reach it."""
        if log is not None:
            with open(log, "ab") as file:
                return self.start(words, stdout=file, stderr=subprocess.STDOUT, **popen)
        variables = {**(popen.get("env") or os.environ), **self.lab.variables(self)}
        popen = {"start_new_session": True, "stdin": subprocess.DEVNULL, **popen, "env": variables}
        process = subprocess.Popen([*self._way_in(), *map(str, self._found(words))], **popen)
        self.lab.processes.append(process)
        return process

    def run(self, words, timeout=60, **popen):
        """A subprocess.CompletedProcess with its text. After `timeout` seconds it is killed with its children, and there is a
        subprocess.TimeoutExpired."""
        process = self.start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **popen)
        with process:
            try:
                output, errors = process.communicate(timeout=timeout)
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise
            finally:
                self.lab.processes.remove(process)
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def kill(self, process, number=signal.SIGKILL):
        """Sends a signal to the program alone, not to its children. A killed program is gone when this returns."""
        process.send_signal(number)
        if number == signal.SIGKILL:
            process.wait(kEndS)

    def await_port(self, process, port, timeout=20):
        """Returns when a program listens at the host's address and this port."""
        end = time.monotonic() + timeout
        while not (self.lab.inside(process.pid, self) and _listens(process.pid, self.address, port)):
            if process.poll() is not None:
                raise LabError(f"[host {self.index}] the program ended; got exit code {process.returncode}, expected it to listen at "
                               f"{self.address}:{port}; try its log")
            if time.monotonic() > end:
                raise LabError(f"[host {self.index}] nobody listens at {self.address}:{port}; got none in {timeout:g} s")
            time.sleep(0.01)

    def cut(self):
        """Packets from it and to it vanish, and no program is told: connections stay, and go on after mend(). Who connects meanwhile waits,
        or has 'No route to host' after some seconds, as in any network of one segment."""
        self.lab.connect(self, on=False)

    def mend(self):
        self.lab.connect(self, on=True)

    def isolate(self, *, on=True):
        """Packets between hosts that are isolated vanish, as behind cut(); those to and from others pass. `on=False` ends it."""
        self.lab.isolate(self, on=on)

    def _way_in(self):
        """Words in front of a command. Each replaces itself by the next, so that the process is the program in the end."""
        return [*self.lab.entrance(self), *(["taskset", "--cpu-list", ",".join(map(str, self.cores))] if self.cores else [])]

    def _found(self, words):
        if not shutil.which(str(words[0])):
            raise LabError(f"[host {self.index}] no such program; got '{words[0]}'; try its whole path")
        return words


def _listens(pid, address, port):
    """Read from the kernel's table of who listens where `pid` is; asking by a connection would be seen by the program."""
    kListen, ours = "0A", {0, int.from_bytes(ipaddress.ip_address(address).packed, "little")}
    for table in ("tcp", "tcp6"):  # an IPv4 address ends that of IPv6 to which it is mapped
        try:
            with open(f"/proc/{pid}/net/{table}") as file:
                rows = [line.split() for line in file.readlines()[1:]]
        except OSError:
            continue
        for local, state in ((row[1], row[3]) for row in rows):
            at, _, number = local.partition(":")
            if state == kListen and int(number, 16) == port and int(at[-8:], 16) in ours:
                return True
    return False
