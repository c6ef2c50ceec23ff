"""A switch and the links of hosts to it, in network namespaces of their own, by ip, tc and bridge. Needs root; knows no processes.

Each host's namespace has one device, eth0, whose other end is a port of a bridge in the switch's namespace. Nothing of it is in the
namespace of who made it, so labs cannot meet each other, nor the machine's network: all have the same addresses.
"""
import os
import shutil
import subprocess

kTools = ("ip", "tc", "bridge", "nsenter", "setsid", "taskset")
kPath = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"  # where Debian has some of them, and users have not
kNetwork = "10.77.0"
kMostHosts = 250  # of this network; guess that nobody has the cores for more
kMbit = (0.1, 10000)  # guess: below, one frame takes 0.1 s; above, a core does not get bytes through fast enough

# A frame of 1514 bytes has 24 more on a wire: preamble 8, checksum 4, gap 12. So a TCP stream with time stamps gets 1448/1538 of the rate,
# 94.1 of 100 Mb/s, as on real Ethernet.
kWireBytes = 24
kFrameBytes = 1514 + kWireBytes
# What may pass at once after a pause. Its least is two frames: with one, the time from a timer to its handler is lost each time (89 Mb/s
# instead of 94 measured). More would let messages pass faster than a wire does: a burst of 32 KB gave 10 KB in 0.12 ms instead of 0.8.
# 0.25 ms is how late a timer may be without loss; with both cores busy, or one slowed, it was still 93 to 94 Mb/s.
kLeastBurst, kBurstS = 2 * kFrameBytes, 0.25e-3
kQueueBytes = 256 << 10  # of each port, as small switches have: 20 ms at 100 Mb/s. More than that is dropped. Guess


class LabError(RuntimeError):
    """Its text is `[where] what; got X, expected Y; try Z`."""


def missing_tool(tools):
    return next((tool for tool in tools if not shutil.which(tool, path=kPath)), None)


def file_of(namespace):
    return f"/run/netns/{namespace}"


def address(index):
    return f"{kNetwork}.{index + 1}"


def make_switch(namespace):
    _batch("ip", None, [f"netns add {namespace}"])
    _batch("ip", namespace, ["link add name switch type bridge stp_state 0", "link set dev switch up"])


def add_cable(namespace, switch, index):
    """The host's device, and the switch's port that is its other end."""
    _batch("ip", None, [f"link add name port{index} netns {switch} type veth peer name eth0 netns {namespace}"])


def make_host(namespace, switch, index, cable=add_cable):
    """Without its rate. Segments are not joined on the way: the rate is that of frames, and one frame passes before the next. `cable`
    makes both devices."""
    frames = "gso_max_segs 1 addrgenmode none"  # and no IPv6, which would send of its own accord
    _batch("ip", None, [f"netns add {namespace}"])
    cable(namespace, switch, index)
    _batch("ip", namespace, ["link set dev lo up", f"address add {address(index)}/24 dev eth0",
                             f"link set dev eth0 address {_hardware_address(index)} {frames} up"])
    _batch("ip", switch, [f"link set dev port{index} {frames} master switch up"])
    # The same on all machines; a namespace may choose it whatever the machine's own is. So near, cubic does as it does.
    _check(["nsenter", f"--net={file_of(namespace)}", "sh", "-c", "echo reno > /proc/sys/net/ipv4/tcp_congestion_control"])


def introduce(namespace, index, others):
    """The host knows where the other hosts are, so that it need not ask: over a long link, that would be one more round trip in front of a
    first connection, which no router far away costs."""
    _batch("ip", namespace, [f"neighbour replace {address(other)} lladdr {_hardware_address(other)} dev eth0 nud permanent"
                             for other in others if other != index])


def _hardware_address(index):
    return f"02:4d:65:74:65:{index:02x}"  # of those that anybody may give out (the bit 2 of the first byte)


def remove(namespace):
    """What is gone already is no error: somebody else may clean up at the same time."""
    if os.path.exists(file_of(namespace)):
        done = _call(["ip", "netns", "delete", namespace])
        if done.returncode != 0 and os.path.exists(file_of(namespace)):
            raise LabError(f"[{namespace}] the namespace cannot be removed; got '{_reason(done)}'; try as root")


def set_rate(namespace, switch, index, mbit):
    """Each way, as a cable has it: the host's own end limits what it sends, the switch's what it is sent."""
    if not kMbit[0] <= mbit <= kMbit[1]:
        raise LabError(f"[mbit] a link's rate is out of range; got {mbit:g}, expected {kMbit[0]} to {kMbit[1]}")
    burst = max(kLeastBurst, round(mbit * 1e6 / 8 * kBurstS))
    limit = f"root tbf rate {round(mbit * 1e6)}bit burst {burst} limit {kQueueBytes + burst} overhead {kWireBytes}"
    _batch("tc", namespace, [f"qdisc replace dev eth0 {limit}"])
    _batch("tc", switch, [f"qdisc replace dev port{index} {limit}"])


def connect(switch, index, *, on):
    """Off, the switch drops what comes from the host and for it. The host's device is up meanwhile, so no program is told."""
    _batch("bridge", switch, [f"link set dev port{index} state {3 if on else 0}"])  # forwarding, disabled


def isolate(switch, index, *, on):
    """The switch drops what isolated hosts send each other, and nothing else."""
    _batch("bridge", switch, [f"link set dev port{index} isolated {'on' if on else 'off'}"])


def _batch(tool, namespace, lines):
    _check([tool, *(["-netns", namespace] if namespace else []), "-batch", "-"], "\n".join(lines) + "\n")


def _check(words, text=None):
    done = _call(words, text)
    if done.returncode != 0:
        raise LabError(f"[{words[0]}] '{(text or ' '.join(words)).strip()}' failed; got '{_reason(done)}'; "
                       "try as root (CAP_NET_ADMIN and CAP_SYS_ADMIN)")


def _call(words, text=None):
    try:
        variables = {**os.environ, "PATH": kPath, "LC_ALL": "C"}
        return subprocess.run(words, input=text, capture_output=True, text=True, timeout=60, env=variables)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise LabError(f"[{words[0]}] cannot be run; got '{problem}'; try tools/install-deps.sh") from None


def _reason(done):
    lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip() and not line.startswith("Command failed")]
    return lines[0].strip() if lines else f"exit code {done.returncode}"
