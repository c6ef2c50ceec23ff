"""What a link between two hosts does, with plain sockets: bytes of a stream a second, and the time of a message there and back.

link_speed.py serve ADDRESS              prints its port and serves one caller after the other until it is ended
link_speed.py stream ADDRESS PORT SECONDS SKIP_S MBIT  prints Mb/s as the receiver saw it, without the first SKIP_S; of MBIT at most (0: any)
link_speed.py messages ADDRESS PORT BYTES COUNT      prints microseconds, one line a message; the answer is 1 byte
"""
import socket
import struct
import sys
import time

kConnectS = 10  # guess: only a link that is cut takes so long
kChunk = 1 << 16
# What comes: s, a stream until it is closed for writing, and the ms that do not count; m, messages, and how long one is.
kHeader = struct.Struct("!cQ")
kMaxPacingRate = 47  # SO_MAX_PACING_RATE of asm-generic/socket.h, which Python lacks; of IP packets, in bytes a second
kPacketShare = 1500 / 1448  # of a packet's payload
# Bytes that are written before the network has taken them, at most: a stream over a slow link ends soon after its time. Guess: at 1000 Mb/s
# they last for 1 ms.
kUnsentBytes = 128 << 10
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


def _serve_stream(connection, skip_s):
    """Counts what comes after the first bytes, and after `skip_s` more, so that neither connecting nor TCP's slow start is in the rate."""
    end = None
    while end is None or time.perf_counter() < end:
        if not connection.recv(kChunk):
            break
        end = end or time.perf_counter() + skip_s
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
                    _serve_stream(connection, size * 1e-3)
                elif kind == b"m":
                    _serve_messages(connection, size)


def _connect(address, port, kind, size):
    connection = socket.create_connection((address, port), timeout=kConnectS)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(kHeader.pack(kind, size))
    return connection


def stream_mbit(address, port, seconds, skip_s, most_mbit):
    data = bytes(kChunk)
    with _connect(address, port, b"s", round(skip_s * 1000)) as connection:
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, kUnsentBytes)
        if most_mbit:
            connection.setsockopt(socket.SOL_SOCKET, kMaxPacingRate, round(most_mbit * 125000 * kPacketShare))
        end = time.monotonic() + skip_s + seconds
        while time.monotonic() < end:
            connection.send(data)
        connection.shutdown(socket.SHUT_WR)
        total, took = kSeen.unpack(connection.recv(kSeen.size, socket.MSG_WAITALL))
    return total * 8e-6 / took


def message_us(address, port, size, count):
    times, data = [], bytes(size)
    with _connect(address, port, b"m", size) as connection:
        connection.settimeout(None)
        for _ in range(count):
            start = time.perf_counter()
            connection.sendall(data)
            receive(connection, 1)
            times.append((time.perf_counter() - start) * 1e6)
    return times


def main(words):
    if len(words) == 2 and words[0] == "serve":
        serve(words[1])
    elif len(words) == 6 and words[0] == "stream":
        print(f"{stream_mbit(words[1], int(words[2]), *map(float, words[3:])):.3f}")
    elif len(words) == 5 and words[0] == "messages":
        print("\n".join(f"{us:.1f}" for us in message_us(words[1], *map(int, words[2:]))))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
