#!/usr/bin/env python3
"""Real hosts on one machine: network namespaces, links of a given rate, and a core for each. docs/lab.md tells how to use it.

    with Lab(hosts=2, mbit=100, cores=[0, 1], slow={1: 0.4}) as lab:
        worker = lab.hosts[1].start(["mete", "worker", ...], log="worker.txt")
        print(lab.hosts[0].run(["mete", "run", ...]).stdout)

All processes that were started have ended, and all that was made is gone, when the context is left or when this process ends, however
it ends. One thread at a time.
"""
import contextlib
import dataclasses
import itertools
import os
import signal
import subprocess
import sys
import time

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path += [folder for folder in (_here, os.path.join(_root, "bench", "common"), os.path.join(_root, "bench", "cores"))
             if folder not in sys.path]
import leftovers
import links
from hosts import Host
from lines import DelayLine, Line, NoLine
from links import LabError
from slowcore import NotSlow, SlowCore

kSlowCore = os.path.join(_root, "build", "release", "slowcore")
kDelayLine = os.path.join(_root, "build", "release", "delayline")
kStopS = 3  # guess: from SIGTERM to SIGKILL, when a lab ends

_counts = itertools.count()


class NotPermitted(LabError):
    """Namespaces, or something else that this kind of lab needs, are not to be had here."""


def permitted():
    """(True, ""), or (False, the reason) where there can be no Lab. It tries, with a lab of one host; some 50 ms."""
    try:
        with Lab(hosts=1):
            return True, ""
    except LabError as problem:
        return False, str(problem)


def lab_or_loopback(**settings):
    """A Lab, or where that is not permitted a Loopback; its `note` says why. For tests that can do without a real network."""
    can, reason = permitted()
    return Lab(**settings) if can else Loopback(**settings, reason=reason)


class _AnyLab:
    """What both kinds have in common: `hosts`, programs, slowed cores (`slowed`: core -> SlowCore, whose report is there in the end)."""
    real = None
    note = ""

    def __init__(self, hosts=2, mbit=100, cores=None, slow=None, slowcore=None, lines=None, delayline=None):
        """`cores`: for each host a core, or several in a list. `slow`: speeds of cores, 0.05 to 0.95, by the kernel's number of the core;
        these are slow for every program of the machine. `slowcore`: that program. `lines`: by the host's number the Line that its link is,
        in place of one of `mbit` without delay. `delayline`: the program for that."""
        self.name, self.processes, self.slowed, self._stack = leftovers.new_name(next(_counts)), [], {}, contextlib.ExitStack()
        self.mbit, self._slow, self._slowcore = mbit, dict(slow or {}), slowcore or os.environ.get("METE_SLOWCORE") or kSlowCore
        self.lines, self._delayline = dict(lines or {}), delayline or os.environ.get("METE_DELAYLINE") or kDelayLine
        if not 1 <= hosts <= links.kMostHosts:
            raise LabError(f"[hosts] got {hosts}, expected 1 to {links.kMostHosts}")
        self.hosts = [Host(self, i, self._address(i), on) for i, on in enumerate(_cores_of_hosts(hosts, cores))]
        _check_slow(self._slow, self.hosts)
        _check_lines(self.lines, hosts)

    def __enter__(self):
        try:
            self._check_tools()
            leftovers.remove_abandoned()
            self._stack.callback(leftovers.start_warden(self.name).close)
            self._stack.callback(leftovers.remove, self.name)
            self._make()
            self._slow_down()
            self._stack.callback(self._stop_programs)
            return self
        except BaseException:
            self._stack.close()
            raise

    def __exit__(self, *problem):
        return self._stack.__exit__(*problem)

    def variables(self, host):
        """What a host's programs find in their environment."""
        return {leftovers.kMark: self.name, "METE_LAB_ADDRESS": host.address,
                "METE_LAB_ADDRESSES": ",".join(each.address for each in self.hosts)}

    def _check_tools(self):
        tool = links.missing_tool(self._tools)
        if tool:
            raise NotPermitted(f"[lab] no program '{tool}' in PATH; got '{os.environ.get('PATH', '')}'; try tools/install-deps.sh")

    def _slow_down(self):
        for core, speed in self._slow.items():
            if not os.access(self._slowcore, os.X_OK):
                raise LabError(f"[slow] no program at '{self._slowcore}'; try 'make release', or its path in METE_SLOWCORE")
            try:
                self.slowed[core] = self._stack.enter_context(SlowCore(self._slowcore, core, speed))
            except NotSlow as problem:
                raise LabError(str(problem)) from None

    def _stop_programs(self):
        """Asks them to end; those that have not ended by then are killed with the rest."""
        for process in self.processes:
            process.send_signal(signal.SIGTERM)  # nothing where it has ended
        end = time.monotonic() + kStopS
        for process in self.processes:
            try:
                process.wait(max(0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Lab(_AnyLab):
    """Hosts in namespaces of their own, joined by a switch. Needs root. Labs do not disturb each other, but for cores that they share."""
    real = True
    _tools = links.kTools

    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self._cables, self._rates = {}, {}  # DelayLines, and rates of links without, by the hosts' numbers

    def rate(self, host, mbit):
        """Of its link from now on, each way."""
        if host.index in self._cables:
            self.line(host, dataclasses.replace(self.lines[host.index], mbit=mbit))
        else:
            links.set_rate(self._namespace(host.index), self._switch, host.index, mbit)
            self._rates[host.index] = mbit

    def link(self, host):
        """What was asked for: its Line, or NoLine(mbit)."""
        return self.lines.get(host.index) or NoLine(self._rates[host.index])

    def line(self, host, line):
        """What its link is from now on. Frames on their way arrive as they would have. Of hosts that were made with a Line."""
        self._cable(host).change(line)
        self.lines[host.index] = line

    def line_counts(self, host):
        """{"up": {"frames", "bytes", "dropped", "latest_us"}, "down": the same} of its link, as the switch got them and the host:
        `latest_us` is how late the latest frame was."""
        return self._cable(host).counts()

    def _cable(self, host):
        if host.index not in self._cables:
            raise LabError(f"[host {host.index}] its link has no delay; got lines of {sorted(self._cables)}; try lines= when the lab is made")
        return self._cables[host.index]

    def connect(self, host, *, on):
        links.connect(self._switch, host.index, on=on)

    def isolate(self, host, *, on):
        links.isolate(self._switch, host.index, on=on)

    def entrance(self, host):
        return ["nsenter", f"--net={self.network_of(host)}", "--"]

    def network_of(self, host):
        """The file of its network namespace, for setns."""
        return links.file_of(self._namespace(host.index))

    def inside(self, pid, host):
        """Whether a program that was started on it has got there yet."""
        return leftovers.is_inside(pid, self._namespace(host.index))

    @property
    def _switch(self):
        return f"{self.name}-switch"

    def _namespace(self, index):
        return f"{self.name}-{index}"

    def _address(self, index):
        return links.address(index)

    def _make(self):
        try:
            links.make_switch(self._switch)
        except LabError as problem:
            raise NotPermitted(f"{problem}, or a Loopback") from None
        for host in self.hosts:
            delayed = host.index in self.lines
            links.make_host(self._namespace(host.index), self._switch, host.index, self._add_line if delayed else links.add_cable)
            if not delayed:
                self.rate(host, self.mbit)
        if self.lines:
            for host in self.hosts:
                links.introduce(self._namespace(host.index), host.index, range(len(self.hosts)))

    def _add_line(self, namespace, switch, index):
        line = DelayLine(self._delayline, self.name, (namespace, "eth0"), (switch, f"port{index}"), self.lines[index])
        self._cables[index] = line
        self._stack.callback(line.close)


class Loopback(_AnyLab):
    """The same without namespaces: each host is an address of this machine's loopback. Programs are pinned and cores are slowed, but links
    have no rate and cannot be cut. Needs no rights, but for slowed cores."""
    real = False
    _tools = ("setsid", "taskset")

    def __init__(self, *args, reason="", **settings):
        self._base = (os.getpid() * 16 + next(_counts)) % (254 * 256)  # guess that no two at once are equal
        super().__init__(*args, **settings)
        if self.lines:
            raise NotPermitted(f"[lines] no delay on the loopback; got lines of hosts {sorted(self.lines)}; try a Lab")
        self.note = "hosts are addresses of the loopback: no rates, no cuts" + (f" ({reason})" if reason else "")

    def rate(self, host, mbit):
        raise NotPermitted(f"[host {host.index}] no rate on the loopback; got {mbit:g} Mb/s; try a Lab")

    def link(self, _host):
        return None

    def connect(self, host, *, on):
        raise NotPermitted(f"[host {host.index}] no link on the loopback to {'mend' if on else 'cut'}; try a Lab")

    def isolate(self, host, *, on):
        raise NotPermitted(f"[host {host.index}] no switch on the loopback to isolate it by; got {on}; try a Lab")

    def entrance(self, _host):
        return []

    def inside(self, _pid, _host):
        return True

    def _address(self, index):
        return f"127.{1 + self._base // 256}.{self._base % 256}.{index + 1}"

    def _make(self):
        pass


def _cores_of_hosts(hosts, cores):
    """A list of cores for each host, or None."""
    if cores is None:
        return [None] * hosts
    if len(cores) != hosts:
        raise LabError(f"[cores] a core for each host; got {len(cores)}, expected {hosts}")
    each = [[on] if isinstance(on, int) else list(on) for on in cores]
    for core in itertools.chain(*each):
        if not os.path.exists(f"/sys/devices/system/cpu/cpu{core}"):
            raise LabError(f"[cores] no such core; got {core}, expected 0 to {os.cpu_count() - 1}")
    return each


def _check_slow(slow, hosts):
    used = set(itertools.chain(*(host.cores or [] for host in hosts)))
    for core, speed in slow.items():
        if core not in used:
            raise LabError(f"[slow] no host has this core; got {core}, expected one of {sorted(used)}; try cores=")
        if not 0.05 <= speed <= 0.95:  # slowcore's own limits
            raise LabError(f"[slow] a speed is out of range; got {speed:g}, expected 0.05 to 0.95")


def _check_lines(lines, hosts):
    for index, line in lines.items():
        if index not in range(hosts):
            raise LabError(f"[lines] no such host; got {index}, expected 0 to {hosts - 1}")
        line.ways()


if __name__ == "__main__":
    import lab_command
    sys.exit(lab_command.main())
