"""What the links of a lab really give: measured by programs on its hosts."""
import math
import os
import re
import statistics
import sys

import lines
import links

kProgram = os.path.join(os.path.dirname(os.path.abspath(__file__)), "link_speed.py")
kSmallBytes, kLargeBytes = 64, 100000
kSmallCount, kLargeCount = (10, 300), (3, 20)  # for a median: at least, and at most where kMessagesS is enough. Guess
kMessagesS = 3  # of the messages of a size. Guess
kSlowStartTrips = 10  # round trips until a stream has its rate: a window of 10 frames doubles some 7 times. Guess
kPace = 1.02  # guess: above 1, as the link is what limits, and so little that its queue holds for seconds
kLongS = 60  # guess: what is cut off or very slow


def measure(sender, receiver, seconds):
    """{"mbit", "small_us", "small_mad_us", "large_us"} of a link one way: a stream of some seconds as the receiver saw it, and medians of
    messages of 64 and 100000 bytes, each answered by one byte. And what was asked for (but on a loopback): "asked_mbit", what a TCP stream
    gets, and "asked_small_us", the least and the most that a message takes by rates, delays and jitter. A stream over links with delay is
    sent at kPace of what they can carry: a count that begins behind a lost frame would have all that waited for it."""
    ends = _ends(sender, receiver)
    asked = _asked(ends)
    trip_s = asked.get("asked_small_us", (0, 0))[1] * 1e-6
    large_s = kLargeBytes * 8e-6 / asked.get("asked_mbit", math.inf) + trip_s
    server = receiver.start([sys.executable, kProgram, "serve", receiver.address], stdout=-1, text=True)
    try:
        port = server.stdout.readline().strip()
        skip_s = kSlowStartTrips * trip_s
        mbit = _ask(sender, seconds + skip_s, "stream", receiver.address, port, seconds, skip_s, kPace * asked["asked_mbit"] if trip_s else 0)[0]
        small = _ask(sender, 0, "messages", receiver.address, port, kSmallBytes, _count(kSmallCount, trip_s))
        large = _ask(sender, 0, "messages", receiver.address, port, kLargeBytes, _count(kLargeCount, large_s))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    middle = statistics.median(small)
    return {"mbit": mbit, "small_us": middle, "small_mad_us": statistics.median(abs(us - middle) for us in small),
            "large_us": statistics.median(large), **asked}


def _ends(sender, receiver):
    """The links of both; nothing on a loopback."""
    ends = [host.lab.link(host) for host in (sender, receiver)]
    return [] if None in ends else ends


def _asked(ends):
    if not ends:
        return {}
    return {"asked_mbit": lines.asked_mbit(*ends), "asked_small_us": [ms * 1e3 for ms in lines.asked_ms(*ends, kSmallBytes)]}


def _count(bounds, each_s):
    least, most = bounds
    return max(least, min(most, round(kMessagesS / each_s))) if each_s else most


def table(rows):
    """Of (sender, receiver, what measure() gave)."""
    text = [f"{'from':>4} {'to':>4} {'Mb/s':>8} {'asked':>8} {f'{kSmallBytes} B there and back':>26} {'asked':>16} "
             f"{f'{kLargeBytes} B and an answer':>24}"]
    for a, b, got in rows:
        small = f"{got['small_us'] / 1000:.2f} ms (+- {got['small_mad_us'] / 1000:.2f})"
        asked = f"{got['asked_mbit']:.3g}" if "asked_mbit" in got else "-"
        text.append(f"{a:>4} {b:>4} {got['mbit']:>8.{1 if got['mbit'] >= 10 else 3}f} {asked:>8} {small:>26} {_span(got):>16} "
                     f"{got['large_us'] / 1000:>21.2f} ms")
    return "\n".join(text)


def _span(got):
    """`-` where links have no delay: their rates do not slow one frame."""
    least, most = (us / 1000 for us in got.get("asked_small_us", (0, 0)))
    if most == 0:
        return "-"
    return f"{least:.2f} ms" if least == most else f"{least:.1f} to {most:.1f} ms"


def _ask(host, seconds, *words):
    done = host.run([sys.executable, kProgram, *words], timeout=seconds + kLongS)
    if done.returncode != 0:
        raise links.LabError(f"[host {host.index}] {words[0]} to {words[1]} cannot be measured; got '{done.stderr.strip()[-200:]}'")
    return [float(word) for word in re.findall(r"\S+", done.stdout)]
