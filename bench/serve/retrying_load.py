"""Clients that ask a server of models without pause, send again what failed, and look at every answer. Standard library only."""
import dataclasses
import http.client
import json
import random
import struct
import threading
import time
import urllib.parse

TOLERANCE = 1e-4  # of a value: kernels that another start chose round otherwise
GIVE_UP_S = 60  # a request without an answer by then is lost
RETRY_S = 0.02  # guess: the first pause; each further one is twice as long
MOST_RETRY_S = 0.5


@dataclasses.dataclass
class Question:
    """A request of one f32 tensor, and the right values of its answer."""
    body: bytes
    header_length: int
    right: tuple = ()


@dataclasses.dataclass
class Answered:
    begun_s: float  # by time.monotonic()
    ended_s: float
    tries: int
    outcome: str  # right, wrong or lost
    problems: tuple = ()  # what each failed try said


def question(metadata, seed):
    """Of a model's metadata (v2/models/M) with one input; -1 in its shape becomes 1."""
    (tensor,) = metadata["inputs"]
    shape = [max(1, size) for size in tensor["shape"]]
    count = 1
    for size in shape:
        count *= size
    chance = random.Random(seed)
    data = struct.pack(f"<{count}f", *(chance.uniform(-1, 1) for _ in range(count)))
    header = json.dumps({
        "inputs": [{"name": tensor["name"], "datatype": "FP32", "shape": shape, "parameters": {"binary_data_size": len(data)}}],
        "outputs": [{"name": metadata["outputs"][0]["name"], "parameters": {"binary_data": True}}]}).encode()
    return Question(header + data, len(header))


def values_of(body, header_length):
    data = body[int(header_length):]
    return struct.unpack(f"<{len(data) // 4}f", data)


def same(values, right):
    return len(values) == len(right) and all(abs(a - b) <= TOLERANCE for a, b in zip(values, right))


class Caller:
    """One connection to http://HOST:PORT/PREFIX, kept open."""

    def __init__(self, url, model):
        parts = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=GIVE_UP_S)
        self.target = f"{parts.path.rstrip('/')}/v2/models/{model}/infer"

    def values(self, question):
        """Values of one answer; OSError or http.client.HTTPException where there is none."""
        try:
            self.connection.request("POST", self.target, question.body, {
                "Content-Type": "application/octet-stream", "Inference-Header-Content-Length": str(question.header_length)})
            answer = self.connection.getresponse()
            body = answer.read()
        except BaseException:
            self.connection.close()  # the next request opens another
            raise
        if answer.status != 200:
            raise ConnectionError(f"{answer.status}: {body[:200].decode(errors='replace')}")
        return values_of(body, answer.headers["Inference-Header-Content-Length"])

    def ask(self, question):
        """Sends again until there is an answer, or GIVE_UP_S is over."""
        begun, problems, pause = time.monotonic(), [], RETRY_S
        while time.monotonic() < begun + GIVE_UP_S:
            try:
                outcome = "right" if same(self.values(question), question.right) else "wrong"
                return Answered(begun, time.monotonic(), len(problems) + 1, outcome, tuple(problems))
            except (OSError, http.client.HTTPException) as problem:
                problems.append(f"{type(problem).__name__} {problem}")
                time.sleep(pause)
                pause = min(2 * pause, MOST_RETRY_S)
        return Answered(begun, time.monotonic(), len(problems), "lost", tuple(problems))


class Load:
    """with Load(...) as load: requests are under way until the end of the block, and load.answered has them all behind it."""

    def __init__(self, url, model, questions, clients):
        self.answered, self._stop = [], threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(Caller(url, model), questions, k)) for k in range(clients)]

    def _run(self, caller, questions, number):
        chance = random.Random(number)
        while not self._stop.is_set():
            self.answered.append(caller.ask(chance.choice(questions)))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def per_s(answered, begin_s, end_s):
    """Right answers a second that ended in [begin_s, end_s)."""
    return sum(begin_s <= a.ended_s < end_s and a.outcome == "right" for a in answered) / (end_s - begin_s)


def longest_gap_s(answered, begin_s, end_s):
    """The longest time in [begin_s, end_s) without the end of any right answer."""
    ends = sorted(a.ended_s for a in answered if a.outcome == "right" and begin_s <= a.ended_s < end_s)
    return max(b - a for a, b in zip([begin_s, *ends], [*ends, end_s]))
