"""What a link between two hosts does, with plain sockets: bytes of a stream a second, and the time of a message there and back.

link_speed.py serve ADDRESS              prints its port and serves one caller after the other until it is ended
link_speed.py stream ADDRESS PORT SECONDS            prints Mb/s as the receiver saw it
link_speed.py messages ADDRESS PORT BYTES COUNT      prints microseconds, one line a message; the answer is 1 byte
"""
import socket
import struct
import sys
import time

kConnectS = 10  # guess: only a link that is cut takes so long
kChunk = 1 << 16
kHeader = struct.Struct("!cQ")  # what comes (s: a stream until it is closed for writing, m: messages), and how long one is
kSeen = struct.Struct("!Qd")    # bytes and seconds of a stream


def receive(connection, size):
    """`size` bytes, or fewer where the other end is closed before."""
    left = size
    while left > 0:
        part = len(connection.recv(min(left, kChunk)))
        if part == 0:
            break
        left -= part
    return size - left


def _read_header(connection):
    data = connection.recv(kHeader.size, socket.MSG_WAITALL)
    return kHeader.unpack(data) if len(data) == kHeader.size else (b"", 0)


def _serve_stream(connection):
    """Counts from the first bytes on, so that neither connecting nor what the sender still has in its buffers is in the rate."""
    receive(connection, 1)
    start, total = time.perf_counter(), 0
    while part := len(connection.recv(kChunk)):
        total += part
    connection.sendall(kSeen.pack(total, time.perf_counter() - start))


def _serve_messages(connection, size):
    while receive(connection, size) == size:
        connection.sendall(b"a")


def serve(address):
    with socket.create_server((address, 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            connection, _ = server.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                kind, size = _read_header(connection)
                if kind == b"s":
                    _serve_stream(connection)
                elif kind == b"m":
                    _serve_messages(connection, size)


def _connect(address, port, kind, size):
    connection = socket.create_connection((address, port), timeout=kConnectS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(kHeader.pack(kind, size))
    return connection


def stream_mbit(address, port, seconds):
    data = bytes(kChunk)
    with _connect(address, port, b"s", 0) as connection:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        total, took = kSeen.unpack(connection.recv(kSeen.size, socket.MSG_WAITALL))
    return total * 8e-6 / took


def message_us(address, port, size, count):
    times, data = [], bytes(size)
    with _connect(address, port, b"m", size) as connection:
        for _ in range(count):
            start = time.perf_counter()
            connection.sendall(data)
            receive(connection, 1)
            times.append((time.perf_counter() - start) * 1e6)
    return times


def main(words):
    if len(words) == 2 and words[0] == "serve":
        serve(words[1])
    elif len(words) == 4 and words[0] == "stream":
        print(f"{stream_mbit(words[1], int(words[2]), float(words[3])):.3f}")
    elif len(words) == 5 and words[0] == "messages":
        print("\n".join(f"{us:.1f}" for us in message_us(words[1], *map(int, words[2:]))))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
