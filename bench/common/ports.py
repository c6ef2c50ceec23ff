"""Ports of this host."""
import socket


def free_port():
    """A port of the loopback on which nothing listens now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]
