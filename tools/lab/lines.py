"""Links of a lab that have a delay: a program (tools/delayline) is the cable between the host's device and the switch's port."""
import contextlib
import dataclasses
import json
import os
import subprocess

import leftovers
import links
from links import LabError

kMbit = (0.01, 1000)  # as the program: guess; beyond that it is the limit, and not the link
kAnswerS = 10  # guess: until the program answers, on a busy machine
kEndS = 3  # guess: until it ends after its stdin
# What may wait for the link: 1 s of the rate, as modems have it, but at least 16 frames and at most what a switch's port queues. Guesses.
kQueueS, kLeastQueueFrames = 1, 16

kPayloadBytes = 1448  # of a frame of 1538 on a wire: 94.1 % of the rate is a TCP stream's
kHeaderBytes = 14 + 20 + 32 + links.kWireBytes  # of a frame around a message: Ethernet, IP, TCP with time stamps


@dataclasses.dataclass(frozen=True)
class Line:
    """A host's link. Each value is one number for both directions, or a pair (up, down); up is what the host sends.

    mbit         rate in Mb/s of frames as they are on a wire
    delay_ms     from the host to the switch, or back: two hosts with 30 ms each have a round trip of 120 ms
    jitter_ms    at most this much more, evenly distributed for each frame; frames keep their order and none is lost
    queue_bytes  that may wait for the link; frames beyond that are dropped. None: 1 s of the rate, 24608 to 262144 bytes
    """
    mbit: object
    delay_ms: object = 0
    jitter_ms: object = 0
    queue_bytes: object = None

    def way(self, down):
        """The program's settings of one direction."""
        def one(value):
            if not isinstance(value, (tuple, list)):
                return value
            if len(value) != 2:
                raise LabError(f"[line] a number or a pair (up, down); got {value}")
            return value[down]
        mbit = one(self.mbit)
        if not isinstance(mbit, (int, float)) or not kMbit[0] <= mbit <= kMbit[1]:
            raise LabError(f"[line] a rate is out of range; got {mbit}, expected {kMbit[0]} to {kMbit[1]} Mb/s")
        queue = one(self.queue_bytes)
        return {"mbit": mbit, "delay_ms": one(self.delay_ms), "jitter_ms": one(self.jitter_ms),
                "queue_bytes": default_queue(mbit) if queue is None else queue}

    def ways(self):
        return {"up": self.way(False), "down": self.way(True)}


def default_queue(mbit):
    return max(kLeastQueueFrames * links.kFrameBytes, min(links.kQueueBytes, round(mbit * 1e6 / 8 * kQueueS)))


@dataclasses.dataclass(frozen=True)
class NoLine:
    """A link without delay. The first frames after a pause take no time on it (links.kLeastBurst)."""
    mbit: float

    def ways(self):
        return dict.fromkeys(("up", "down"), {"mbit": self.mbit, "delay_ms": 0, "jitter_ms": 0})


def asked_mbit(sender, receiver):
    """What a TCP stream over the links of two hosts gets at most."""
    return min(sender.ways()["up"]["mbit"], receiver.ways()["down"]["mbit"]) * kPayloadBytes / links.kFrameBytes


def asked_ms(sender, receiver, size):
    """(least, most) of a message of one frame with `size` bytes over the links of two hosts, and its answer of 1 byte."""
    there, back = ((sender, "up", size), (receiver, "down", size)), ((receiver, "up", 1), (sender, "down", 1))
    ways = [(link.ways()[way], payload) for link, way, payload in there + back if isinstance(link, Line)]
    least = sum(way["delay_ms"] + (kHeaderBytes + payload) * 8e-3 / way["mbit"] for way, payload in ways)
    return least, least + sum(way["jitter_ms"] for way, _ in ways)


class DelayLine:
    """The program between a host and its port. The devices are there while it runs; it ends with its stdin, which only we hold."""

    def __init__(self, program, lab, host, port, line):
        """`host` and `port`: each a namespace and the name of the device that is made in it."""
        if not os.access(program, os.X_OK):
            raise LabError(f"[line] no program at '{program}'; try 'make release', or its path in METE_DELAYLINE")
        words = [word for namespace, device in (host, port) for word in (links.file_of(namespace), device)]
        self.process = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        start_new_session=True, env={**os.environ, leftovers.kMark: lab})
        try:
            self.change(line)
        except BaseException:
            self.close()
            raise

    def change(self, line):
        self.ways = line.ways()
        self._ask(self.ways)

    def counts(self):
        """{"up": {"frames", "bytes", "dropped", "latest_us"}, "down": the same} since the lab was made."""
        return self._ask({})

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(kEndS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def _ask(self, command):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        text = self.process.stdout.readline()  # the program answers or ends
        answer = json.loads(text) if text else {"error": self._why_ended()}
        if "error" in answer:
            raise LabError(answer["error"])
        return answer

    def _why_ended(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(kAnswerS)
        text = self.process.stderr.read() if self.process.poll() is not None else "no answer"
        return f"[line] the delay line has ended; got '{text.strip()[-300:]}', expected it to go on"
