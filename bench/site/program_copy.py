"""A copy of Mete with its libraries for the device alone: the server maps the others, so that these could not leave memory."""
import hashlib
import os
import re
import shutil
import subprocess


def libraries_of(program):
    """The files that the linker finds for it, by their names there."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", told, re.M))


def is_shared(name):
    """What every program of this machine maps, so that no copy makes it cold: the C library, the loader and what belongs to them."""
    return re.match(r"(ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z)\.so)", name) is not None


def own_libraries(program):
    """{name: path}"""
    return {name: path for name, path in libraries_of(program).items() if not is_shared(name)}


def digest(program):
    """Of the program and of its own libraries."""
    made = hashlib.sha256()
    for path in [program, *own_libraries(program).values()]:
        with open(path, "rb") as file:
            made.update(hashlib.file_digest(file, "sha256").digest())
    return made.hexdigest()


def copy(program, folder):
    """(the copy's path, the folder of its libraries, all files of it)"""
    os.makedirs(folder, exist_ok=True)
    files = {program: os.path.join(folder, "mete")}
    files.update((path, os.path.join(folder, name)) for name, path in own_libraries(program).items())
    for source, target in files.items():
        if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
            shutil.copy(os.path.realpath(source), target)
    return files[program], folder, list(files.values())
