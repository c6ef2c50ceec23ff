"""Builds the program and the library without the network, where neither gRPC nor OpenSSL can be found, and runs them. Standard library only."""
import argparse
import os
import pathlib
import subprocess
import sys
import unittest

OPTIONS = None  # main() sets it
UNSUPPORTED, USAGE = 4, 2


def run(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)


class WithoutNetwork(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("gRPC", "OpenSSL")]
        for words in ([OPTIONS.cmake, "-G", "Ninja", "-S", OPTIONS.source, "-B", OPTIONS.build, "-DCMAKE_BUILD_TYPE=Release", "-DMETE_TESTS=OFF",
                       f"-DCMAKE_CXX_COMPILER={OPTIONS.compiler}", "-DMETE_NETWORK=OFF", *absent],
                      [OPTIONS.cmake, "--build", OPTIONS.build, "-j", os.cpu_count(), "--target", "mete_cli", "mete_shared"]):
            environment = {**os.environ, "CCACHE_BASEDIR": str(OPTIONS.source), "CCACHE_NOHASHDIR": "1"}  # as in CMakePresets.json
            done = run(*words, env=environment)
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        cls.program = pathlib.Path(OPTIONS.build) / "mete"

    def test_needs_neither_grpc_nor_openssl(self):
        for file in (self.program, next(pathlib.Path(OPTIONS.build).rglob("libmete.so"))):
            needed = run("ldd", file).stdout
            self.assertIn("libprotobuf", needed)
            for library in ("grpc", "libssl", "libcrypto"):
                self.assertNotIn(library, needed, file)

    def test_computes(self):
        models = pathlib.Path(OPTIONS.source) / "models"
        done = run(self.program, "run", models / "digits.onnx", models / "digit.png", "--tune", "never")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"score +label\n +5 ")

    def test_plans_for_boards_that_a_file_describes(self):
        boards = pathlib.Path(OPTIONS.source) / "boards" / "rk3399x6.toml"
        done = run(self.program, "plan", pathlib.Path(OPTIONS.source) / "models" / "digits.onnx", "--processors", boards)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_refuses_what_it_lacks(self):
        hosts = pathlib.Path(OPTIONS.build) / "hosts.toml"
        hosts.write_text('name = "hosts"\ninsecure = true\n[[device]]\nname = "here"\n[[device]]\nname = "far"\naddress = "127.0.0.1:9"\n')
        model = pathlib.Path(OPTIONS.source) / "models" / "digits.onnx"
        for words in (["bench", model, "--processors", hosts], ["profile", model, "--processors", hosts], ["plan", model, "--processors", hosts]):
            done = run(self.program, *words)
            self.assertEqual(done.returncode, UNSUPPORTED, done.stderr)
            self.assertIn("[--processors] this program was built without the network", done.stderr)
        for words, lacks in ((["--worker", "127.0.0.1:9"], "the network"), (["127.0.0.1:9"], "the server of models")):
            done = run(self.program, "top", *words)
            self.assertEqual(done.returncode, UNSUPPORTED, done.stderr)
            self.assertIn(f"this program was built without {lacks}", " ".join(done.stderr.split()))
        self.assertEqual(run(self.program, "worker").returncode, USAGE)
        self.assertNotIn("worker", run(self.program, "--help").stdout)


def main():
    global OPTIONS
    parser = argparse.ArgumentParser()
    for name in ("source", "build", "cmake", "compiler"):
        parser.add_argument("--" + name, required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
