"""The command line of tools/lab."""
import argparse
import contextlib
import itertools
import json
import re
import signal
import subprocess
import sys

import lab
import lab_measure
import leftovers
from output import kFailure, kSuccess, kUsage, say, write_json

kHelp = """Real hosts on one machine, to try what runs on several devices: each host is a network namespace with an address of its own,
joined to the others by a link of a given rate, and its programs run on a core of their own, which may be slowed.
Needs root; nothing outside the lab is changed, and nothing is left when it ends."""

kRunHelp = """Runs COMMAND on host 0, and ends the lab when it ends. In its environment, and of all programs:
  METE_LAB_ADDRESSES  the hosts' addresses, with commas: 10.77.0.1,10.77.0.2
  METE_LAB_ADDRESS    the own one
Programs on other hosts are started before by --start; a shell reads them, so quote the variables."""

kExamples = """Examples:
  lab.py run --hosts 2 -- bash                        look around: ip address, tc -s qdisc
  lab.py run --hosts 2 --cores 0,1 --slow 1:0.4 \\
      --start 1 'mete worker --listen $METE_LAB_ADDRESS:7077 --insecure' -- bash
  lab.py measure --hosts 2 --mbit 100 --cores 0,1     what the links really give
  lab.py measure --line 0:5.85/20:30                  an uplink of LTE: a round trip of 60 ms
  lab.py clean                                        what killed labs left behind

Exit codes: of run the command's own (128 + signal where one ended it), else
  0  success
  1  failure: not permitted, a core that cannot be slowed, a host that does not answer
  2  usage"""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        where = "" if message.startswith("[") else "[usage] "
        say(f"lab.py: error: {where}{message}" + ("" if "; try" in message else "; try 'lab.py --help'"))
        sys.exit(kUsage)


def main(words=None):
    flags = _flags(sys.argv[1:] if words is None else words)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))  # leaves the lab on its way
    try:
        return flags.do(flags)
    except lab.LabError as problem:
        say(f"lab.py: error: {problem}")
        return kFailure
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _flags(words):
    raw = argparse.RawDescriptionHelpFormatter
    parser = _Parser(prog="lab.py", description=kHelp, epilog=kExamples, formatter_class=raw)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    run = commands.add_parser("run", help="a command on host 0", description=kRunHelp, epilog=kExamples, formatter_class=raw,
                              usage="lab.py run [OPTIONS] -- COMMAND ARGS...")
    _add_settings(run)
    run.add_argument("--start", nargs=2, action="append", default=[], metavar=("HOST", "COMMAND"),
                     help="on this host meanwhile; repeatable")
    run.add_argument("command", nargs="+", metavar="COMMAND", help="with its arguments, behind --")
    run.set_defaults(do=_run)
    measure = commands.add_parser("measure", help="rates and times of the links",
                                  description="Streams and messages between host 0 and each other, both ways, one after the other.")
    _add_settings(measure)
    measure.add_argument("--seconds", type=_number(0.1, 600), default=2, metavar="S", help="of each stream (2)")
    measure.add_argument("--json", metavar="FILE", help="the figures; - for stdout, in place of the table")
    measure.set_defaults(do=_measure)
    clean = commands.add_parser("clean", help="removes what killed labs left behind",
                                description="Ends the programs of labs whose owner is gone, and removes their hosts. So does each new lab.")
    clean.set_defaults(do=_clean)
    return _checked(parser, parser.parse_args(words))


def _add_settings(parser):
    parser.add_argument("--hosts", type=_number(1, lab.links.kMostHosts, int), default=2, metavar="N", help="how many (2)")
    parser.add_argument("--mbit", type=_number(*lab.links.kMbit), default=100, metavar="R",
                        help="rate of each link, each way, in Mb/s (100)")
    parser.add_argument("--line", type=_line, action="append", default=[], metavar="HOST:MBIT[/DOWN]:MS[:JITTER]",
                        help="this host's link has a delay each way in ms, and a rate of its own, or two (what it sends/what it gets); "
                        "repeatable")
    parser.add_argument("--delayline", metavar="FILE", help="the program for that (METE_DELAYLINE, or build/release/delayline)")
    parser.add_argument("--cores", type=_cores, metavar="0,1", help="a core for each host, or several: 0-1,2-3 (default: any)")
    parser.add_argument("--slow", type=_slow, action="append", default=[], metavar="CORE:SPEED",
                        help="a core that has only this share of its speed, for every program; repeatable")
    parser.add_argument("--slowcore", metavar="FILE", help="the program that slows it (METE_SLOWCORE, or build/release/slowcore)")
    parser.add_argument("--loopback", action="store_true", help="without namespaces: no rates, and no need to be root")


def _number(least, most, kind=float):
    def parsed(text):
        with contextlib.suppress(ValueError):
            if least <= kind(text) <= most:
                return kind(text)
        raise argparse.ArgumentTypeError(f"got '{text}', expected {least} to {most}")
    return parsed


def _cores(text):
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise argparse.ArgumentTypeError(f"got '{text}', expected a core for each host, as 0,1 or 0-1,2-3")
    ends = [tuple(map(int, part.split("-"))) for part in text.split(",")]
    return [list(range(end[0], end[-1] + 1)) for end in ends]


def _slow(text):
    found = re.fullmatch(r"(\d+):(\d*\.?\d+)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"got '{text}', expected a core and its speed, as 1:0.4")
    return int(found[1]), float(found[2])


def _line(text):
    number = r"(\d*\.?\d+)"
    found = re.fullmatch(rf"(\d+):{number}(?:/{number})?:{number}(?::{number})?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"got '{text}', expected a host, its rate and its delay, as 0:5.85:30, or 0:5.85/20:30:5")
    host, up, down, delay, jitter = found.groups()
    return int(host), lab.Line((float(up), float(down or up)), float(delay), float(jitter or 0))


def _checked(parser, flags):
    for host, _ in getattr(flags, "start", []):
        if not host.isdecimal() or int(host) >= flags.hosts:
            parser.error(f"[--start] no such host; got '{host}', expected 0 to {flags.hosts - 1}")
    if hasattr(flags, "hosts"):
        try:
            kind = lab.Loopback if flags.loopback else lab.Lab
            flags.lab = kind(flags.hosts, flags.mbit, flags.cores, dict(flags.slow), flags.slowcore, dict(flags.line), flags.delayline)
        except lab.LabError as problem:
            parser.error(str(problem))
    return flags


def _run(flags):
    with flags.lab as made:
        _tell(made)
        for host, command in flags.start:
            made.hosts[int(host)].start(["sh", "-c", command])
        return _exit_code(made.hosts[0].start(flags.command, start_new_session=False, stdin=None))


def _exit_code(process):
    """Ctrl-C at a terminal reaches the command too, which may have something to say before it ends; a second one is for us."""
    try:
        process.wait()
    except KeyboardInterrupt:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(lab.kStopS)
        raise
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def _measure(flags):
    if flags.hosts < 2:
        raise lab.LabError("[--hosts] nothing to measure between; got 1, expected 2 or more")
    rows = []
    with flags.lab as made:
        _tell(made)
        first = made.hosts[0]
        for a, b in itertools.chain.from_iterable(((first, other), (other, first)) for other in made.hosts[1:]):
            rows.append((a.index, b.index, lab_measure.measure(a, b, flags.seconds)))
    if flags.json:
        write_json(flags.json, [{"from": a, "to": b, **got} for a, b, got in rows])
    if flags.json != "-":
        print(lab_measure.table(rows))
    return kSuccess


def _clean(_flags):
    found = leftovers.remove_abandoned()
    for name, problem in found.items():
        print(f"{name}: {problem or 'removed'}")
    if not found:
        print("nothing to clean")
    return kFailure if any(found.values()) else kSuccess


def _tell(made):
    if made.note:
        say(f"lab.py: note: {made.note}")
    for core, slowed in made.slowed.items():
        say(f"lab.py: note: core {core} has {slowed.speed:g} of its speed")
