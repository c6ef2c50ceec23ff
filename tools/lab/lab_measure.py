"""What the links of a lab really give: measured by programs on its hosts."""
import os
import re
import statistics
import sys

import links

kProgram = os.path.join(os.path.dirname(os.path.abspath(__file__)), "link_speed.py")
kSmallBytes, kLargeBytes = 64, 100000
kSmallCount, kLargeCount = 300, 20  # for a median; 20 ms, and 0.2 s at 100 Mb/s. Guess
kLongS = 60  # guess: what is cut off or very slow


def measure(sender, receiver, seconds):
    """{"mbit", "small_us", "small_mad_us", "large_us"} of a link one way: a stream of some seconds as the receiver saw it, and medians of
    messages of 64 and 100000 bytes, each answered by one byte."""
    server = receiver.start([sys.executable, kProgram, "serve", receiver.address], stdout=-1, text=True)
    try:
        port = server.stdout.readline().strip()
        mbit = _ask(sender, seconds, "stream", receiver.address, port, seconds)[0]
        small = _ask(sender, 0, "messages", receiver.address, port, kSmallBytes, kSmallCount)
        large = _ask(sender, 0, "messages", receiver.address, port, kLargeBytes, kLargeCount)
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    middle = statistics.median(small)
    return {"mbit": mbit, "small_us": middle, "small_mad_us": statistics.median(abs(us - middle) for us in small),
            "large_us": statistics.median(large)}


def table(rows):
    """Of (sender, receiver, what measure() gave)."""
    lines = [f"{'from':>4} {'to':>4} {'Mb/s':>8} {f'{kSmallBytes} B there and back':>28} {f'{kLargeBytes} B and an answer':>24}"]
    for a, b, got in rows:
        small = f"{got['small_us']:.0f} us (+- {got['small_mad_us']:.0f})"
        lines.append(f"{a:>4} {b:>4} {got['mbit']:>8.1f} {small:>28} {got['large_us'] / 1000:>21.2f} ms")
    return "\n".join(lines)


def _ask(host, seconds, *words):
    done = host.run([sys.executable, kProgram, *words], timeout=seconds + kLongS)
    if done.returncode != 0:
        raise links.LabError(f"[host {host.index}] {words[0]} to {words[1]} cannot be measured; got '{done.stderr.strip()[-200:]}'")
    return [float(word) for word in re.findall(r"\S+", done.stdout)]
