"""Between a caller and a worker: passes bytes on, and from SIGUSR1 to SIGUSR2 damages what comes by.

fault_proxy.py ADDRESS PORT TO_PORT flip BYTES    turns over a byte, somewhere in every so many, each way
fault_proxy.py ADDRESS PORT TO_PORT cut BYTES     ends each connection after so many, in the middle of whatever it is
"""
import asyncio
import contextlib
import random
import signal
import socket
import struct
import sys

kChunk = 1 << 16
kSeed = 5  # any: runs differ by what passes when


class Damage:
    """Where the next damage is, in bytes of a stream."""

    def __init__(self, kind, every):
        self.kind, self.every, self.on, self.random = kind, every, False, random.Random(kSeed)

    def next_at(self):
        return self.every if self.kind == "cut" else self.random.randint(1, 2 * self.every)

    def flipped(self, data, at):
        """A bit at `at`, any of the eight."""
        return data[:at] + bytes([data[at] ^ 1 << self.random.randrange(8)]) + data[at + 1:]


async def _pass_on(damage, reader, writer):
    """Until either end is closed; True where it is to be cut."""
    left = damage.next_at()
    while data := await reader.read(kChunk):
        while damage.on and left <= len(data):
            if damage.kind == "cut":
                writer.write(data[:left])
                return
            data = damage.flipped(data, left - 1)
            left += damage.next_at()
        left = left - len(data) if damage.on else damage.next_at()
        writer.write(data)
        await writer.drain()


def _reset(writer):
    """As a cable does that is pulled: what is in buffers is gone."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()


async def _connect(damage, address, to_port, reader, writer):
    try:
        far_reader, far_writer = await asyncio.open_connection(address, to_port)
    except OSError:
        return _reset(writer)
    ways = [asyncio.create_task(_pass_on(damage, reader, far_writer)), asyncio.create_task(_pass_on(damage, far_reader, writer))]
    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in ways:
        way.cancel()
    await asyncio.gather(*ways, return_exceptions=True)
    _reset(writer)
    _reset(far_writer)


async def main(address, port, to_port, kind, every):
    damage, loop = Damage(kind, int(every)), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, setattr, damage, "on", True)
    loop.add_signal_handler(signal.SIGUSR2, setattr, damage, "on", False)
    server = await asyncio.start_server(lambda r, w: _connect(damage, address, int(to_port), r, w), address, int(port))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
