"""One `mete serve` as a child of this process, for one model, on the loopback. Standard library only; Linux, as `setpriv` starts the child.

The child ends when this process ends, however that happens, and drains when close() asks it to. What a process that was killed leaves behind is a
folder of links in the folder for temporary files.
"""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

MODEL_FILES = {".onnx", ".tflite", ".caffemodel", ".prototxt"}
MOST_QUEUE = 100000  # that `mete serve --queue` takes
KILL_S = 5  # guess: after the drain's time the child writes its last answers and ends


class StartFailed(RuntimeError):
    """The child did not come up; the text has what it said."""


@dataclasses.dataclass(frozen=True)
class ChildOptions:
    """What a child is started with."""
    threads: int = 1
    most_requests: int = 16  # that callers may have under way here at a time; none of them is refused
    drain_s: float = 30
    token_file: str = ""  # of `mete keys token`; empty: callers need none
    mete: str = "mete"  # the program
    start_s: float = 300  # guess: a large network's first start ever packs its weights and measures kernels


def model_name(model):
    """How callers name it: digits for models/digits.onnx and for a folder models/digits of versions."""
    path = pathlib.Path(model)
    return path.stem if path.suffix in MODEL_FILES else path.name


def threads_of(num_cpus):
    """Whole threads within a share of cores, and at least one: two replicas of 0.5 have one each, and take turns."""
    return max(1, int(num_cpus))


def files_for(model):
    """{link's name below the repository: target} of a repository that serves this model alone.

    `model` is a file NAME.onnx or NAME.caffemodel, or a folder NAME with versions. Beside a file stand its preprocessing, its labels and its
    weights, under names that only the model knows, so all files of the folder are linked but other models and what describes these.
    """
    path = pathlib.Path(model).resolve()
    if path.is_dir():
        return {path.name: path}
    if not path.is_file() or path.suffix not in MODEL_FILES:
        raise StartFailed(f"[{model}] no such model; expected a file NAME.onnx, or a folder with versions (1/model.onnx)")
    siblings = [file for file in path.parent.iterdir() if file.is_file()]
    others = {file.stem for file in siblings if file.suffix in MODEL_FILES} - {path.stem}
    return {file.name: file for file in siblings if not (file.suffix in MODEL_FILES | {".toml"} and file.stem in others)}


def command_for(options, repository):
    queue = min(-(-options.most_requests // options.threads), MOST_QUEUE)
    words = [options.mete, "serve", str(repository), "--listen", "127.0.0.1:0", "--json", "--log", "none", "--threads", str(options.threads),
             "--slots", str(options.threads), "--queue", str(queue), "--drain-s", f"{options.drain_s:g}"]
    return words + (["--token", options.token_file] if options.token_file else [])


def address_in(text):
    """The address in what `mete serve --json` prints, or None while the text is not whole."""
    try:
        return json.loads(text)["listening"]
    except json.JSONDecodeError:
        return None


class ServeProcess:
    """The child, and the folder that it serves. Made when the model is ready; close() drains it. Methods may be called by any thread."""

    def __init__(self, model, options=ChildOptions(), on_death=None):
        """`on_death` is called, by a thread of this object, when the child ends without close()."""
        self.name, self.options, self._on_death = model_name(model), options, on_death
        self._folder = tempfile.TemporaryDirectory(prefix="mete-serve-")
        self._child, self._problem = None, None
        self._begun, self._closing, self._ended = threading.Event(), threading.Event(), threading.Event()
        try:
            for name, target in files_for(model).items():
                os.symlink(target, os.path.join(self._folder.name, name))
            self.token = pathlib.Path(options.token_file).read_text().strip() if options.token_file else ""
            self._start()
            self.address = self._read_address()
            self._check_model()
        except BaseException:
            self.close(0)
            raise

    def _start(self):
        # Linux tells a child of the end of the *thread* that started it, so this one lives as long as the child.
        self._owner = threading.Thread(target=self._own, name="mete serve", daemon=True)
        self._owner.start()
        self._begun.wait()
        if self._problem:
            raise self._problem

    def _own(self):
        # Ray blocks SIGINT in threads of its workers. A child would inherit that, and `mete serve` could not be stopped.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
        words = command_for(self.options, self._folder.name)
        try:
            program = shutil.which(words[0])
            if not program:
                raise StartFailed(f"[{words[0]}] no such program; expected `mete`; try its whole path")
            self._child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", program, *words[1:]], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, text=True)
        except (OSError, StartFailed) as problem:
            self._problem = problem
            return
        finally:
            self._begun.set()
        self._child.wait()
        self._folder.cleanup()
        self._ended.set()
        if self._on_death and not self._closing.is_set():
            self._on_death()

    def _read_address(self):
        late = threading.Timer(self.options.start_s, self._child.kill)
        late.start()
        try:
            text = ""
            for line in self._child.stdout:
                text += line
                if address := address_in(text):
                    return address
        finally:
            late.cancel()
        raise StartFailed(f"[mete serve] it ended with {self._child.wait()} before it listened, within {self.options.start_s:g} s; "
                          "its own words stand above")

    def _check_model(self):
        status, body = self.get(f"/v2/models/{self.name}")
        if status != 200:
            raise StartFailed(f"[{self.name}] it is not served: {body}")

    def get(self, target, timeout_s=10):
        """(status, text)"""
        request = urllib.request.Request(self.address + target, headers=self.authorization())
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def authorization(self):
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def pid(self):
        return self._child.pid

    def alive(self):
        return self._child is not None and self._child.poll() is None

    def close(self, drain_s=None):
        """Lets the child answer what it accepted, then ends it. A second call does nothing."""
        self._closing.set()
        if self.alive():
            self._child.terminate()
            limit_s = (self.options.drain_s if drain_s is None else drain_s) + KILL_S
            if not self._ended.wait(limit_s):
                self._child.kill()
                self._ended.wait()
        if self._child:
            self._child.stdout.close()
        else:
            self._folder.cleanup()


def is_passed_on(method, path):
    """Whether a replica answers it. What would change or describe one replica of several is refused: loads, figures, the page."""
    if re.fullmatch(r"/v2(/|/health/(live|ready)/?)?", path):
        return method == "GET"
    model = re.fullmatch(r"/v2/models/(?!stats/?$)[^/]+(?:/versions/[^/]+)?(?:/([a-z]+))?/?", path)
    if not model:
        return False
    return method == {"infer": "POST", "classify": "POST"}.get(model[1], "GET") and model[1] in (None, "ready", "infer", "classify")
