"""A Ray Serve deployment of one model: each replica has a `mete serve` of its own and passes requests on to it.

    serve run mete.ray:app model=/models/resnet50.onnx num_cpus=0.5 min_replicas=2 max_replicas=4

or, in Python, `serve.run(deployment(Settings(model="/models/resnet50.onnx")), route_prefix="/resnet50")`. Clients of the Open Inference
Protocol then ask http://HOST:8000/resnet50/v2/models/resnet50/infer, and photos go to .../classify, as they go to `mete serve`. Other
deployments await `handle.infer.remote(body)` and `handle.classify.remote(photo)`.

Bodies are passed on as they are, over HTTP: gRPC would make Python take a REST body apart and put it together again. There are no bindings of
the library yet, and none are needed here: what a hop over the loopback adds is small beside what Ray's proxy takes.

A replica whose child has died answers 503 with Retry-After to the requests that it has, and ends: Ray notices that at once, sends requests to
the others, and starts a new one. (A health check that fails would be believed after the third time only, and the replica would draw requests
meanwhile, as it refuses them sooner than others answer.) A child that hangs fails health checks. Ray answers 500 to the requests of a replica
that was killed. All of these are safe to send again, as an inference changes nothing.
"""
import dataclasses
import os
import sys
import time

import aiohttp
from ray import serve
from starlette.responses import JSONResponse, Response

from .serve_process import ChildOptions, ServeProcess, is_passed_on, threads_of

# What belongs to a request or an answer and not to its connection.
REQUEST_HEADERS = ("accept", "authorization", "content-type", "inference-header-content-length", "timeout-ms", "traceparent", "tracestate")
ANSWER_HEADERS = ("content-type", "inference-header-content-length", "retry-after", "server-timing", "traceparent", "www-authenticate")
BYTES = "application/octet-stream"
LEAVE_S = 0.2  # guess: by then the requests that a dead child left have their 503


@dataclasses.dataclass(frozen=True)
class Settings:
    """Paths are those of the hosts on which replicas run."""
    model: str  # a file NAME.onnx, or a folder NAME with versions
    num_cpus: float = 1.0  # of a replica, also 0.5; it computes on as many threads, and at least one
    min_replicas: int = 1
    max_replicas: int = 1  # more than min_replicas: Ray scales between them
    max_ongoing_requests: int = 16  # of a replica; others wait in Ray's proxies. Guess: a few for each thread
    target_ongoing_requests: float = 4.0  # of a replica, when Ray scales. Guess: enough to keep it busy
    upscale_delay_s: float = 30.0  # Ray's own default
    downscale_delay_s: float = 600.0  # Ray's own default
    token: str = ""  # a file of `mete keys token`: callers over HTTP must prove that they have it
    drain_s: float = 30.0  # as `mete serve --drain-s`
    health_check_period_s: float = 1.0  # Ray's default of 10 leaves a dead child for as long
    mete: str = "mete"  # the program

    def __post_init__(self):
        if not self.num_cpus > 0:
            raise ValueError(f"[num_cpus] a replica needs a share of a core; got {self.num_cpus}, expected more than 0")
        if not 0 <= self.min_replicas <= self.max_replicas or self.max_replicas < 1:
            raise ValueError(f"[max_replicas] too few; got {self.min_replicas} to {self.max_replicas}, expected 0 or more to as many, and 1 "
                             "at least")
        if self.max_ongoing_requests < 1:
            raise ValueError(f"[max_ongoing_requests] too few; got {self.max_ongoing_requests}, expected 1 at least")


def settings_of(arguments):
    """Settings of `serve run`'s words, which are texts."""
    fields = {field.name: field.type for field in dataclasses.fields(Settings)}
    unknown = sorted(set(arguments) - set(fields))
    if unknown or "model" not in arguments:
        raise ValueError(f"[serve run] {'unknown: ' + ', '.join(unknown) if unknown else 'no model'}; expected model=PATH and some of "
                         + ", ".join(fields))
    return Settings(**{name: fields[name](value) for name, value in arguments.items()})


def deployment_options(settings):
    """What Ray is told."""
    options = {
        "ray_actor_options": {"num_cpus": settings.num_cpus},
        "max_ongoing_requests": settings.max_ongoing_requests,
        "health_check_period_s": settings.health_check_period_s,
        "graceful_shutdown_timeout_s": settings.drain_s + 10,  # guess: the child ends within 5 s after its drain
    }
    if settings.min_replicas == settings.max_replicas:
        return {**options, "num_replicas": settings.max_replicas}
    scaling = ("min_replicas", "max_replicas", "target_ongoing_requests", "upscale_delay_s", "downscale_delay_s")
    return {**options, "autoscaling_config": {name: getattr(settings, name) for name in scaling}}


def child_options(settings):
    return ChildOptions(threads=threads_of(settings.num_cpus), most_requests=settings.max_ongoing_requests, drain_s=settings.drain_s,
                        token_file=settings.token, mete=settings.mete)


def target_of(scope):
    """Path and query below the deployment's prefix, as they were sent (an ASGI scope)."""
    path = scope.get("raw_path", scope["path"].encode()).decode("latin-1").partition("?")[0]
    path = path.removeprefix(scope.get("root_path", "").rstrip("/"))
    query = scope.get("query_string", b"").decode("latin-1")
    return path, path + ("?" + query if query else "")


def chosen(headers, names):
    return {name: headers[name] for name in names if name in headers}


def leave():
    """Ends this process, without whatever else might wait for requests."""
    print("mete.ray: `mete serve` has ended, and so does this replica", file=sys.stderr, flush=True)
    time.sleep(LEAVE_S)
    os._exit(1)


class Replica:
    def __init__(self, settings):
        self.child = ServeProcess(settings.model, child_options(settings), on_death=leave)
        self.session = None  # made where the event loop runs

    def http(self):
        if self.session is None:  # as many connections as Ray lets requests in
            self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False,
                                                 timeout=aiohttp.ClientTimeout(total=None))
        return self.session

    async def ask(self, method, target, headers, body):
        """(status, headers, body); ConnectionError where the child does not answer, as it has died or ends."""
        try:
            async with self.http().request(method, self.child.address + target, headers=headers, data=body or None) as answer:
                return answer.status, answer.headers, await answer.read()
        except aiohttp.ClientError as problem:
            raise ConnectionError(f"[{self.child.name}] this replica's server does not answer: {problem}; try again") from problem

    async def __call__(self, request):
        path, target = target_of(request.scope)
        if not is_passed_on(request.method, path):
            return JSONResponse({"error": f"[{request.method} {path}] not here; expected v2, health, and the metadata, infer and classify of a "
                                          "model; try the server itself for loads and figures"}, status_code=404)
        try:
            status, headers, body = await self.ask(request.method, target, chosen(request.headers, REQUEST_HEADERS), await request.body())
        except ConnectionError as problem:
            return JSONResponse({"error": str(problem)}, status_code=503, headers={"Retry-After": "1"})
        return Response(body, status_code=status, headers=chosen(headers, ANSWER_HEADERS))

    async def infer(self, body, header_length=None):
        """The answer's body to a request's; with `header_length` bytes of JSON before binary tensors. For handles."""
        headers = {"content-type": BYTES if header_length is not None else "application/json"}
        if header_length is not None:
            headers["inference-header-content-length"] = str(header_length)
        return await self._of_model("infer", headers, body)

    async def classify(self, picture):
        """The answer's body (JSON) to a photo's bytes. For handles."""
        return await self._of_model("classify", {"content-type": BYTES}, picture)

    async def _of_model(self, verb, headers, body):
        status, _, answer = await self.ask("POST", f"/v2/models/{self.child.name}/{verb}", {**headers, **self.child.authorization()}, body)
        if status != 200:
            raise RuntimeError(f"[{self.child.name}] {verb} failed with {status}: {answer.decode(errors='replace')}")
        return answer

    def processes(self):
        """(this replica, its server), for those who look at them or measure. For handles."""
        return os.getpid(), self.child.pid

    async def check_health(self):
        """Called by Ray, which replaces this replica where it raises."""
        if not self.child.alive():
            raise RuntimeError(f"[{self.child.name}] `mete serve` has ended")
        await self.ask("GET", "/v2/health/live", {}, b"")

    def __del__(self):
        """Called by Ray when no request is left, and by Python; a second close does nothing."""
        if child := getattr(self, "child", None):
            child.close()


def deployment(settings):
    """The application, for serve.run."""
    return serve.deployment(Replica).options(name="mete", **deployment_options(settings)).bind(settings)


def app(arguments):
    """For `serve run mete.ray:app NAME=VALUE...`"""
    return deployment(settings_of(arguments))
