"""`mete serve` as a process of this host, and requests to it. Standard library only."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading

LONG_S = int(os.environ.get("METE_TEST_COMMAND_S", 300))  # of one command; builds with a sanitizer set more


class Served:
    """A server that listens on loopback when this object is made. Its log is read as it comes: .lines has it as objects of JSON."""

    def __init__(self, mete, repository, *flags, port=0, log="json", env=None, before=None):
        """`before` is called in the server's process before the program begins."""
        words = [mete, "serve", repository, "--listen", f"127.0.0.1:{port}", "--json", "--log", log, *flags]
        self.process = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})}, preexec_fn=before)
        self.lines = []
        self.reader = threading.Thread(target=self._read_log)
        self.reader.start()
        text = ""
        for line in self.process.stdout:
            text += line
            if line.startswith("}"):
                break
        if not text:
            self.__exit__()
            raise RuntimeError(f"mete serve: {self.lines[-3:]}")
        self.started = json.loads(text)
        self.port = int(self.started["listening"].rpartition(":")[2])

    def _read_log(self):
        for line in self.process.stderr:
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                self.lines.append({"text": line})

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, body) over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONG_S)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def load(self, model):
        return self.ask("POST", f"/v2/repository/models/{model}/load")

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=LONG_S)

    def runs(self):
        return self.process.poll() is None

    def said(self):
        """What is in the log, as text."""
        return "\n".join(map(json.dumps, self.lines))

    def rss_kib(self, what="VmRSS"):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(next(line.split()[1] for line in file if line.startswith(what + ":")))

    def forget_peak(self):
        """VmHWM begins anew."""
        with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def end(self, kind=signal.SIGTERM):
        """The exit status; all of the log has been read."""
        self.process.send_signal(kind)
        self.process.wait(LONG_S)
        self.reader.join()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


def answer_of(sock):
    """(status, text) of what a socket receives until the other side closes it; status 0: nothing came."""
    received = b""
    try:
        while piece := sock.recv(1 << 16):
            received += piece
    except ConnectionError:
        pass
    return (int(received.split()[1]) if received.startswith(b"HTTP/1.1 ") else 0), received.decode("latin-1")
