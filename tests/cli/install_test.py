"""Installs into a fresh prefix, and builds and runs the example against it: by find_package and by pkg-config.

Where --most-bytes is given, what is installed has no debug symbols, and the shared library may be no larger than that.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cli_testing
from cli_testing import png
from worker_test import Worker

parser = argparse.ArgumentParser()
for name in ("build", "example", "compiler", "sanitize", "cmake", "toolchain", "sysroot", "emulator", "most-bytes"):
    parser.add_argument("--" + name, default="")
options = parser.parse_args()

root = pathlib.Path(options.build).resolve() / "install_test"
prefix = root / "prefix"
flags = [f"-fsanitize={options.sanitize}"] if options.sanitize else []
toolchain = [f"-DCMAKE_TOOLCHAIN_FILE={options.toolchain}"] if options.toolchain else []
sysroot = [f"--sysroot={options.sysroot}"] if options.sysroot else []
emulator = options.emulator.split()  # empty: what is built runs here


def run(*args, env=None):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, args))}\n{done.stdout}{done.stderr}")
    return done.stdout


def find(name):
    found = sorted(prefix.rglob(name))
    if not found:
        sys.exit(f"{name} is not installed")
    return found[0]


shutil.rmtree(root, ignore_errors=True)
run(options.cmake, "--install", options.build, "--prefix", prefix, *(["--strip"] if options.most_bytes else []))
for name in ("mete.1", "_mete", "mete.fish", "engine.h", "image.h", "mete-config.cmake", "peers/run.sh", "peers/compare.py", "common/spread.py"):
    find(name)
mete = find("bin/mete")
model, picture = root / "net.onnx", root / "picture.png"
find("libexec/mete-gpus")
if not emulator:  # the program finds the child that it runs, whatever that finds here
    machine = json.loads(run(mete, "machine", "--json", env={"METE_CACHE": str(root / "cache"), "METE_GPU": "on"}))
    if any("mete-gpus" in reason for reason in machine["gpus_left_out"]):
        sys.exit(f"the installed program does not run mete-gpus; got {machine['gpus_left_out']}")
run(*emulator, mete, "zoo", "make", "squeezenet1.1", "-o", model)
picture.write_bytes(png(64, 48))

run(options.cmake, "-S", options.example, "-B", root / "by_cmake", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.compiler}",
    f"-DCMAKE_CXX_FLAGS={' '.join(flags)}", *toolchain)
run(options.cmake, "--build", root / "by_cmake")
by_cmake = run(*emulator, root / "by_cmake" / "classify", model, picture)

library = find("libmete.so").parent
if options.most_bytes:
    got, most = find("libmete.so").stat().st_size, int(options.most_bytes)
    print(f"libmete.so: {got} bytes without debug symbols, at most {most}")
    if got > most:
        sys.exit(f"[libmete.so] too large; got {got} bytes, expected at most {most}; try size on the objects of mete_shared's folders")
words = run("pkg-config", "--cflags", "--libs", "mete", env={"PKG_CONFIG_PATH": str(find("mete.pc").parent)}).split()
program = root / "by_pkg_config"
run(options.compiler, "-std=c++20", *flags, *sysroot, pathlib.Path(options.example) / "main.cc", "-o", program, *words)
by_pkg_config = run(*emulator, program, model, picture, env={"LD_LIBRARY_PATH": str(library)})

# A program with a pool: its second run takes the plan that the first one has written.
examples = pathlib.Path(options.example).resolve().parent
run(options.cmake, "-S", examples / "pool", "-B", root / "pool", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.compiler}",
    f"-DCMAKE_CXX_FLAGS={' '.join(flags)}", *toolchain)
run(options.cmake, "--build", root / "pool")
cores = sorted(os.sched_getaffinity(0))[:2]
plan, pool = root / "plan.json", ",".join(f"cpu:{core}" for core in cores)
first, second = (run(*emulator, root / "pool" / "pool", model, pool, plan).splitlines() for _ in range(2))
print("\n".join(first))
if first[:-1] != second[:-1] or len([line for line in first if line.startswith("processor cpu:")]) != len(cores):
    sys.exit(f"the example of a pool does not run its plan again; got {second}, expected {first}")
networks = sorted(prefix.rglob("libmete_network.so"))
if networks and not emulator:  # the program reaches a worker through the library of the network
    if options.most_bytes:
        print(f"libmete_network.so: {networks[0].stat().st_size} bytes without debug symbols")
    cli_testing.METE, hosts, far = mete, root / "hosts.toml", root / "far.json"
    os.environ["METE_CACHE"] = str(root / "cache")
    with Worker() as worker:
        hosts.write_text(f'name = "loopback"\ninsecure = true\n[[device]]\nname = "own"\n[[device]]\nname = "far"\naddress = "{worker.address}"\n')
        run(mete, "profile", model, "--processors", hosts)
        run(mete, "bench", model, "--processors", hosts, "--planner", "layerwise", "--keep-plan", "--runs", 1, "--save-plan", far)
        answer = run(root / "pool" / "pool", model, hosts, far)
    if "on own+far" not in answer:
        sys.exit(f"the example of a pool does not compute with the worker; got {answer}, expected a plan with own+far")

models = examples.parent / "models"
digit = run(*emulator, root / "by_cmake" / "classify", models / "digits.onnx", models / "digit.png")
if digit != "class 5\n":
    sys.exit(f"the example is wrong about models/digit.png; got {digit}, expected class 5")

print(by_cmake, by_pkg_config)
if not by_cmake.startswith("class ") or by_cmake != by_pkg_config:
    sys.exit("the two builds do not agree")
