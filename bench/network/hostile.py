"""What somebody may do to a worker's port who wishes it ill. Ends after SECONDS, or fails where the worker does not take a connection.

hostile.py ADDRESS PORT SECONDS large     messages of gRPC that are said to have 4 GiB, and as many of their bytes as are taken
hostile.py ADDRESS PORT SECONDS many      messages just below the limit of size, on many streams, none of them ever whole
hostile.py ADDRESS PORT SECONDS random    random bytes, on one connection after the other, half of them behind a good beginning
hostile.py ADDRESS PORT SECONDS open      some hundred connections that say a byte now and then, or nothing
"""
import contextlib
import os
import random
import select
import socket
import struct
import sys
import time

kPreface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"  # RFC 9113, 3.4
kData, kHeaders, kSettings, kWindowUpdate = 0x0, 0x1, 0x4, 0x8
kEndHeaders = 0x4
kFrame = 16384        # bytes: the largest that every HTTP/2 server takes
kLimit = 64 << 20     # of a worker's message (protocol/channel.h)
kStreams = 100        # of a connection. Guess: more than a worker has threads is of no use to it
kConnections = 400    # guess; below a process's usual limit of 1024 files
kConnectS = 10        # guess: of a busy machine
kPath = "/mete.worker.v1.Worker/"


def _frame(kind, flags, stream, payload):
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def _field(name, value):
    """A header without compression and tables: RFC 7541, 6.2.2."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def _request(stream, method):
    fields = {":method": "POST", ":scheme": "http", ":path": kPath + method, ":authority": "worker", "te": "trailers",
              "content-type": "application/grpc"}
    return _frame(kHeaders, kEndHeaders, stream, b"".join(_field(*field) for field in fields.items()))


def _message_head(size):
    return b"\0" + struct.pack("!I", size)


def _connect(address, port):
    return socket.create_connection((address, port), timeout=kConnectS)


class _Connection:
    """Sends as much as windows allow. It keeps no account of them by stream: the worker's answers to too much are part of what is tried."""

    def __init__(self, address, port):
        self.socket = _connect(address, port)
        self.socket.sendall(kPreface + _frame(kSettings, 0, 0, b""))
        self.socket.setblocking(False)

    def push(self, data, seconds):
        """Sends it, and throws away what comes. Whether it could within that time."""
        end = time.monotonic() + seconds
        while data and time.monotonic() < end:
            readable, writable, _ = select.select([self.socket], [self.socket], [], 0.1)
            if readable and not self.socket.recv(1 << 16):
                return False
            if writable:
                data = data[self.socket.send(data):]
        return not data

    def close(self):
        self.socket.close()


def large(address, port, end):
    """Far more than the window, which a server may punish by ending the connection: then again."""
    for method in ("Hello", "Serve", "Store", "Time", "Missing", "Feed", "Echo") * 1000:
        connection = _Connection(address, port)
        with contextlib.suppress(OSError), contextlib.closing(connection):
            connection.push(_request(1, method) + _frame(kData, 0, 1, _message_head(0xFFFFFFFF)), 1)
            for _ in range(4096):  # 64 MiB
                if time.monotonic() > end or not connection.push(_frame(kData, 0, 1, bytes(kFrame)), 1):
                    break
        if time.monotonic() > end:
            return


def many(address, port, end):
    connection = _Connection(address, port)
    with contextlib.suppress(OSError), contextlib.closing(connection):
        streams = range(1, 2 * kStreams, 2)
        for stream in streams:
            connection.push(_request(stream, "Time") + _frame(kData, 0, stream, _message_head(kLimit - 1)), 1)
        while time.monotonic() < end:
            for stream in streams:
                if not connection.push(_frame(kData, 0, stream, bytes(kFrame)), 1):
                    return many(address, port, end) if time.monotonic() < end else None


def noise(address, port, end):
    dice = random.Random(7)
    while time.monotonic() < end:
        beginning = dice.choice([b"", b"", kPreface, kPreface + _frame(kSettings, 0, 0, b"") + _request(1, "Serve")])
        with contextlib.suppress(OSError), contextlib.closing(_connect(address, port)) as connection:
            connection.sendall(beginning + os.urandom(dice.randint(1, 1 << dice.randint(1, 16))))
            connection.settimeout(0.05)
            connection.recv(1 << 16)


def half_open(address, port, end):
    """Half of them say nothing, half of them the beginning of a request, a byte at a time."""
    said = kPreface + _frame(kSettings, 0, 0, b"") + _request(1, "Serve")
    connections = [_connect(address, port) for _ in range(kConnections)]
    at = 0
    while time.monotonic() < end:
        for connection in connections[::2]:
            with contextlib.suppress(OSError):  # it was told to go
                connection.send(said[at % len(said):][:1])
        at += 1
        time.sleep(0.05)
    for connection in connections:
        connection.close()


def main(address, port, seconds, what):
    do = {"large": large, "many": many, "random": noise, "open": half_open}[what]
    do(address, int(port), time.monotonic() + float(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
