"""Which pages of files are in memory, and how files leave it: as src/profile/starts/file_pages.h has it."""
import ctypes
import mmap
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
kTries = 3  # as there: pages may still wait in a core's list of those that were just used


def in_memory(path):
    """How many of its pages are there."""
    size = os.path.getsize(path)
    if not size:
        return 0
    with open(path, "rb") as file:
        at = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
        if at in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), "mmap", path)
        try:
            vector = ctypes.create_string_buffer((size + mmap.PAGESIZE - 1) // mmap.PAGESIZE)
            if _libc.mincore(at, size, vector):
                raise OSError(ctypes.get_errno(), "mincore", path)
            return sum(page & 1 for page in vector.raw)
        finally:
            _libc.munmap(at, size)


def pages_of(paths):
    return sum(in_memory(path) for path in paths)


def evict(paths):
    """Asks the kernel to let go of the files; returns the pages that stay, as those that a process maps do."""
    for _ in range(kTries):
        for path in paths:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
        left = pages_of(paths)
        if not left:
            return 0
    return left


def read_through(paths):
    for path in paths:
        with open(path, "rb") as file:
            while file.read(1 << 20):
                pass


def files_in(folder):
    return [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
