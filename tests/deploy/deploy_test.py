"""The files of deploy/: what they start starts and answers here, on ports of this test, and what tools say of them. Standard library only.

What needs systemd, apt or dpkg is skipped with a message where these are not.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
METE = None
LONG_S = int(os.environ.get("METE_TEST_COMMAND_S", 300))
# systemd-analyze security: 0 is best, and above 2 it says "MEDIUM" no more. The unit has 1.4 by systemd 252.
MOST_EXPOSURE = 2


def run(*words, **how):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LONG_S, **how)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def value(words, flag):
    """Of --flag value or --flag=value."""
    for at, word in enumerate(words):
        if word == flag:
            return words[at + 1]
        if word.startswith(flag + "="):
            return word.split("=", 1)[1]
    raise AssertionError(f"{words} has no {flag}")


def instructions(text):
    """[(FROM, rest)...] of a Containerfile, continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in "\n".join(lines).replace("\\\n", " ").split("\n")]


def block(text, key):
    """The items of a list `key:` in the YAML of this folder, which are one a line; tests/deploy/tools_test.py reads all of the file."""
    found = re.search(rf"^( *){key}:\n((?:\1  - .*\n)+)", text, re.MULTILINE)
    return [line.strip().removeprefix("- ") for line in found[2].splitlines()]


class Deploy(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "models").mkdir()
        for name in ("digits.onnx", "digits.toml", "digits.labels.txt"):
            shutil.copy(ROOT / "models" / name, self.folder / "models" / name)

    @contextlib.contextmanager
    def started(self, words, environment=None):
        """A command of `mete serve` with its folder and addresses exchanged for this test's; its address over HTTP. It ends by SIGTERM, with 0."""
        words = [re.sub(r"^(/srv/models|/mnt/models|/models)$", str(self.folder / "models"), word) for word in words]
        words = [re.sub(r"0\.0\.0\.0:\d+", "127.0.0.1:0", word) for word in words]
        self.assertEqual((words[0].rpartition("/")[2], words[1]), ("mete", "serve"))
        self.assertIn(str(self.folder / "models"), words)
        with subprocess.Popen([METE, *words[1:], "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **(environment or {})}) as child:
            try:
                text = ""
                while not text.endswith("\n}\n"):
                    line = child.stdout.readline()
                    self.assertTrue(line, "it ended")
                    text += line
                yield json.loads(text)
                child.terminate()
                child.communicate(timeout=LONG_S)
                self.assertEqual(child.returncode, 0)
            finally:
                child.kill()

    def classified(self, address, headers=None):
        request = urllib.request.Request(address + "/v2/models/digits/classify", (ROOT / "models" / "digit.png").read_bytes(),
                                         {"Content-Type": "image/png", **(headers or {})})
        with urllib.request.urlopen(request, timeout=LONG_S) as answer:
            return json.load(answer)["outputs"][0]["data"][0]


class Units:
    """What holds of every unit; `name` is its file's."""

    def setUp(self):
        super().setUp()
        self.unit = (DEPLOY / f"{self.name}.service").read_text()

    def words(self):
        return re.search(r"^ExecStart=(.*)$", self.unit, re.MULTILINE)[1].split()

    def analyze(self, *words):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        file = self.folder / f"{self.name}.service"
        file.write_text(self.unit.replace(self.words()[0], METE))
        return run("systemd-analyze", *words, file)

    def test_systemd_understands_it(self):
        done = self.analyze("verify")
        told = [line for line in done.stderr.splitlines() if self.name in line]  # of other units it tells, too
        self.assertEqual((done.returncode, told), (0, []), done.stderr)

    def test_it_is_as_closed_as_systemd_suggests(self):
        done = self.analyze("security", "--offline=true", f"--threshold={10 * MOST_EXPOSURE}")
        if "unrecognized option" in done.stderr:
            self.skipTest("this systemd-analyze looks at no files")
        self.assertEqual(done.returncode, 0, done.stdout[-200:] + done.stderr)


class WorkerUnit(Units, Deploy):
    name = "mete-worker"

    def test_its_command_starts_with_the_keys_of_its_credentials(self):
        self.assertEqual(run(METE, "keys", "make", self.folder / "keys", "laptop", "pi-1=127.0.0.1").returncode, 0)
        credentials = self.folder / "credentials"
        credentials.mkdir()
        for name, path in re.findall(r"^LoadCredential=(\S+):(\S+)$", self.unit, re.MULTILINE):
            shutil.copy(self.folder / "keys" / "pi-1" / pathlib.Path(path).name, credentials / name)
        words = [word.replace("${CREDENTIALS_DIRECTORY}", str(credentials)).replace("0.0.0.0:7077", "127.0.0.1:0") for word in self.words()]
        with subprocess.Popen([METE, *words[1:], "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "METE_CACHE": str(self.folder / "cache")}) as child:
            try:
                self.assertIn("listening", child.stdout.readline() + child.stdout.readline())
                child.terminate()
                child.communicate(timeout=LONG_S)
                self.assertEqual(child.returncode, 0)
            finally:
                child.kill()


class ServerUnit(Units, Deploy):
    name = "mete-serve"

    def test_its_command_serves_those_who_have_the_token(self):
        self.assertEqual(run(METE, "keys", "token", self.folder / "token").returncode, 0)
        words = [word.replace("${CREDENTIALS_DIRECTORY}", str(self.folder)) for word in self.words()]
        with self.started(words, {"METE_CACHE": str(self.folder / "cache")}) as said:
            token = (self.folder / "token").read_text().strip()
            self.assertEqual(self.classified(said["listening"], {"Authorization": f"Bearer {token}"}), "5")
            with self.assertRaisesRegex(urllib.error.HTTPError, "401"):
                self.classified(said["listening"])

    def test_systemd_waits_for_the_drain(self):
        stop_s = int(re.search(r"^TimeoutStopSec=(\d+)$", self.unit, re.MULTILINE)[1])
        self.assertGreater(stop_s, float(value(self.words(), "--drain-s")) + 2)


class Container(Deploy):
    lines = instructions((DEPLOY / "Containerfile").read_text())

    def of(self, name):
        return [rest for instruction, rest in self.lines if instruction == name]

    def packages(self):
        (install,) = [rest for rest in self.of("RUN") if "apt-get install" in rest]
        words = install.split("apt-get install", 1)[1].split("&&")[0].split()
        return [word for word in words if not word.startswith("-")]

    def test_its_command_serves(self):
        words = json.loads(self.of("ENTRYPOINT")[0])
        with self.started(words + ["--insecure"]) as said:
            self.assertEqual(self.classified(said["listening"]), "5")

    def test_its_health_check_says_whether_models_are_ready(self):
        (check,) = self.of("HEALTHCHECK")
        port = free_port()
        words = [word.replace("127.0.0.1/8080", f"127.0.0.1/{port}") for word in json.loads(check.split("CMD ", 1)[1])]
        self.assertIn(str(port), words[-1])
        self.assertNotEqual(run(*words).returncode, 0)  # nobody listens
        listen = ["mete", "serve", "/models", "--listen", f"127.0.0.1:{port}", "--log", "none"]
        with self.started(listen):
            self.assertEqual(run(*words).returncode, 0)
        (self.folder / "models" / "digits.onnx").write_bytes(b"no model")
        with self.started(listen):
            self.assertNotEqual(run(*words).returncode, 0)

    def test_it_copies_what_a_build_needs(self):
        context = self.folder / "src"
        copied = [rest.split() for rest in self.of("COPY") if not rest.startswith("--from")]
        for *sources, target in copied:
            for source in sources:
                into = context / target
                (shutil.copytree if source.endswith("/") else shutil.copy)(ROOT / source, self.made(into, source), **(
                    {"dirs_exist_ok": True} if source.endswith("/") else {}))
        (build,) = [rest for rest in self.of("RUN") if "cmake" in rest]
        configure, compile_it = build.split("&&")
        done = run(*shlex.split(configure), cwd=context)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(shlex.split(compile_it)[:4], ["cmake", "--build", "--preset", "release"])
        done = run("ninja", "-C", "build/release", "-n", value(compile_it.split(), "--target"), cwd=context)  # all its sources are there
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def made(self, into, source):
        (into if source.endswith("/") or str(into).endswith("/") else into.parent).mkdir(parents=True, exist_ok=True)
        into.mkdir(exist_ok=True)
        return into if source.endswith("/") else into / pathlib.Path(source).name

    def is_debian_12(self):
        release = pathlib.Path("/etc/os-release")
        if not release.exists() or 'VERSION_ID="12"' not in release.read_text() or not shutil.which("apt-get"):
            self.skipTest("this is not Debian 12")

    def test_debian_has_its_packages(self):
        self.is_debian_12()
        done = run("apt-get", "install", "--simulate", "--no-install-recommends", *self.packages())
        if "Unable to locate" in done.stderr and not list(pathlib.Path("/var/lib/apt/lists").glob("*Packages*")):
            self.skipTest("apt has no lists of packages here")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_its_packages_have_the_programs_libraries(self):
        self.is_debian_12()
        shown = run("readelf", "-d", METE)
        if shown.returncode != 0:
            self.skipTest("readelf is not installed")
        needed = re.findall(r"NEEDED.*\[(.*)\]", shown.stdout)
        if any("san.so" in name for name in needed):
            self.skipTest("a sanitizer's libraries are in no image")
        self.assertGreater(len(needed), 5)
        where = dict(re.findall(r"^\t(\S+) => (\S+)", run("ldd", METE).stdout, re.MULTILINE))
        files = [os.path.realpath(where[name]) for name in needed if name in where]
        owners = {line.split(":")[0] for line in run("dpkg", "-S", *files).stdout.splitlines()}
        always = {"libc6", "libstdc++6", "libgcc-s1"}  # packages in C++ depend on them
        brought = re.findall(r"[\w.+-]+(?= \(|,|$)", run("dpkg-query", "-W", "-f", "${Depends}, ", *self.packages()).stdout)
        self.assertEqual(owners - always - set(self.packages()) - set(brought), set())


class KServe(Deploy):
    text = (DEPLOY / "kserve-runtime.yaml").read_text()

    def words(self):
        return block(self.text, "command") + block(self.text, "args")

    def test_its_command_serves_over_http_and_grpc(self):
        with self.started(self.words()) as said:
            self.assertEqual(self.classified(said["listening"]), "5")
            host, port = said["grpc"].rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=LONG_S):
                pass
            for path in re.findall(r"path: (/v2/\S+)", self.text):  # of the probes
                with urllib.request.urlopen(said["listening"] + path, timeout=LONG_S) as answer:
                    self.assertEqual(answer.status, 200)

    def test_it_has_as_many_threads_as_cores(self):
        limits = self.text[self.text.index("limits:"):]
        self.assertEqual(value(self.words(), "--threads"), re.search(r'cpu: "(\d+)"', limits)[1])

    def test_kubernetes_waits_for_the_drain(self):
        self.assertLess(float(value(self.words(), "--drain-s")) + 2, 30)  # terminationGracePeriodSeconds where a pod says nothing


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mete", required=True, metavar="FILE")
    flags, rest = parser.parse_known_args()
    METE = str(pathlib.Path(flags.mete).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
