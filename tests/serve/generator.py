"""Requests whose right answers are known, sent for as long as something else happens to the server. Standard library only.

The right answers are those of `mete run` with the same model and tensor.
"""
import array
import collections
import http.client
import json
import os
import random
import struct
import subprocess
import threading
import time

SHAPE = (1, 3, 32, 32)
ELEMENTS = 3 * 32 * 32
CLOSE = 1e-3  # of the largest score: kernels sum in different orders; answers for other tensors or models are further apart
# What a server may answer to a request that it does not accept.
REFUSALS = (429, 503, 504)


class Case:
    def __init__(self, seed):
        values = random.Random(seed)
        self.data = array.array("f", (values.uniform(-2, 2) for _ in range(ELEMENTS))).tobytes()
        text = json.dumps({"inputs": [{"name": "image", "datatype": "FP32", "shape": SHAPE, "parameters": {"binary_data_size": len(self.data)}}],
                           "parameters": {"binary_data_output": True}}).encode()
        self.body = text + self.data
        self.headers = {"Inference-Header-Content-Length": str(len(text))}
        self.right = collections.defaultdict(list)  # by version

    def add_right(self, mete, model, version, folder):
        path = os.path.join(folder, "image.bin")
        with open(path, "wb") as file:
            file.write(self.data)
        subprocess.run([mete, "run", model, "--input", f"image={path}", "--output", folder, "--tune", "never", "--json"], check=True, capture_output=True)
        with open(os.path.join(folder, "logits.npy"), "rb") as file:
            file.seek(8)
            file.seek(struct.unpack("<H", file.read(2))[0], 1)
            self.right[version].append(array.array("f", file.read()))

    def is_right(self, version, scores):
        return any(is_close(scores, right) for right in self.right.get(version, []))


def is_close(scores, right):
    most = CLOSE * max(map(abs, right))
    return len(scores) == len(right) and all(abs(a - b) <= most for a, b in zip(scores, right))


def scores_of(answer, body):
    """(version, scores) of an answer with one output in bytes."""
    json_bytes = int(answer.headers["Inference-Header-Content-Length"])
    return json.loads(body[:json_bytes])["model_version"], array.array("f", body[json_bytes:])


class Generator:
    """Threads that each send a request when they have the answer to the one before. A request that has no answer is sent again over another
    connection (`again`), or counted: `untold`, if no byte of an answer came, `lost`, if a part of one did.
    """

    def __init__(self, port, model, cases, again=False, threads=4, seed=1):
        self.port, self.path, self.cases, self.again = port, f"/v2/models/{model}/infer", cases, again
        self.right, self.refused, self.resent = 0, 0, 0
        self.wrong, self.lost, self.untold, self.others = [], [], [], []
        self.versions = collections.Counter()
        self.changed = threading.Condition()
        self.ending = False
        self.threads = [threading.Thread(target=self._run, args=(i, random.Random(seed * 1000 + i))) for i in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        with self.changed:
            self.ending = True
        for thread in self.threads:
            thread.join()

    def await_answers(self, more):
        """Returns when so many right answers more have come; False: the generator found a fault before."""
        with self.changed:
            wanted = self.right + more
            self.changed.wait_for(lambda: self.right >= wanted or self.faults())
            return not self.faults()

    def faults(self):
        return self.wrong + self.lost + self.others

    def _run(self, number, choices):
        connection, count = None, 0
        while not self.ending:
            case, count = choices.choice(self.cases), count + 1
            identity = f"00-{number:016x}{count:016x}-0000000000000001-00"
            connection = self._until_answered(connection, case, identity)
        self._closed(connection)

    def _until_answered(self, connection, case, identity):
        while True:
            sent_at = None
            try:
                if connection is None:
                    connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
                connection.request("POST", self.path, case.body, {**case.headers, "traceparent": identity})
                sent_at = time.monotonic()
                answer = connection.getresponse()
            except (OSError, http.client.RemoteDisconnected):  # nothing came
                connection = self._closed(connection)
                if self.again and not self.ending:
                    with self.changed:
                        self.resent += sent_at is not None
                    time.sleep(0.01)  # a server that is not there yet is not asked all the time
                    continue
                with self.changed:
                    self.untold.append((identity, sent_at))
                return connection
            except http.client.HTTPException as problem:
                return self._part(connection, identity, problem)
            try:
                body = answer.read()
            except (OSError, http.client.HTTPException) as problem:
                return self._part(connection, identity, problem)
            self._count(case, identity, answer, body)
            return connection

    def _part(self, connection, identity, problem):
        if self.again:  # by a server that was killed
            with self.changed:
                self.resent += 1
        else:
            with self.changed:
                self.lost.append((identity, repr(problem)))
                self.changed.notify_all()
        return self._closed(connection)

    def _closed(self, connection):
        if connection:
            connection.close()

    def _count(self, case, identity, answer, body):
        with self.changed:
            if answer.status in REFUSALS:
                self.refused += 1
            elif answer.status != 200:
                self.others.append((identity, answer.status, body[:300]))
            else:
                version, scores = scores_of(answer, body)
                self.versions[version] += 1
                if case.is_right(version, scores):
                    self.right += 1
                else:
                    self.wrong.append((identity, version, list(scores)))
            self.changed.notify_all()
