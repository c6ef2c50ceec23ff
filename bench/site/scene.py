"""The lab of the experiment: a device on a core that is slowed from outside, behind one link or another, and a server on another core."""
import contextlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_root = os.path.normpath(os.path.join(_here, "..", ".."))
sys.path[:0] = [_here, os.path.join(_here, "..", "common"), os.path.join(_root, "tools", "lab")]
import device
import lab
import pages
from site_links import kLinks

kPort, kWorkerPort = 8080, 8081
kRecipe = 'resize = {size}\nchannels = "bgr"\nmean = [104, 117, 123]\n'  # as Caffe's own classifier: stretched, means of ImageNet


class Scene:
    """`program` is the device's copy of Mete. `folder` keeps caches of device and server."""

    def __init__(self, flags, program, libraries, program_files, folder):
        self.flags, self.program, self.libraries, self.program_files, self.folder = flags, program, libraries, program_files, folder
        self.stack = contextlib.ExitStack()
        self.cache = os.path.join(folder, "device")
        self.first_cache = os.path.join(folder, "first")

    def __enter__(self):
        flags, names = self.flags, self.flags.links
        lines = {i: kLinks[name].line() for i, name in enumerate(names) if kLinks[name].line()}
        self.lab = self.stack.enter_context(lab.Lab(hosts=len(names) + 1, mbit=1000, cores=[flags.cores[0]] * len(names) + [flags.cores[1]],
                                                    slow={flags.cores[0]: flags.speed} if flags.speed < 1 else {}, lines=lines))
        self.devices = dict(zip(names, self.lab.hosts))
        self.server = self.lab.hosts[-1]
        self.address = f"{self.server.address}:{kPort}"
        try:
            self._start_server()
            self.networks = {name: self.stack.enter_context(open(self.lab.network_of(host), "rb"))
                             for name, host in self.devices.items()}
            self.sites = {name: self._site(name) for name in names}
            self.sites_with_worker = {name: self._site(name, f"{self.server.address}:{kWorkerPort}") for name in names}
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *problem):
        return self.stack.__exit__(*problem)

    def _start_server(self):
        command = ["env", f"METE_CACHE={self.folder}/server", self.flags.mete, "serve", os.path.join(self.folder, "models"), "--listen", self.address,
                   "--worker-listen", f"{self.server.address}:{kWorkerPort}", "--insecure", "--log", "none"]
        self.server_process = self.server.start(command, log=os.path.join(self.folder, "server.txt"))
        self.server.await_port(self.server_process, kPort, timeout=120)

    def _site(self, name, worker=""):
        path = os.path.join(self.folder, f"site-{name}{'-worker' if worker else ''}.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(kLinks[name].site(name, self.address, worker))
        return path

    def start(self, model, photo, link, way, cache=None, sites=None, **more):
        """A device's process, which has answered its first photo. `sites`: their files by link (default: those without a worker, so that nothing is
        cut)."""
        variables = {"METE_CACHE": cache or self.cache, "LD_LIBRARY_PATH": self.libraries, **self.lab.variables(self.devices[link])}
        command = device.words(self.program, model.device, photo, (sites or self.sites)[link], way)
        return device.Device(command, self.networks[link], {self.flags.cores[0]}, variables, **more)

    def files(self, model, cache):
        """All that a start reads."""
        return [*self.model_files(model, cache), *self.program_files]

    @staticmethod
    def model_files(model, cache):
        return [model.device, model.device.replace(".onnx", ".toml"), *pages.files_in(cache)]
