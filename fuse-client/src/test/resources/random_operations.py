"""Runs random operations on a file of a mount, and compares each result with a copy of the file in memory.

Usage: random_operations.py FILE KIND SEED COUNT MAPS

KIND is weights (a plain file of a fixed size, which O_TRUNC clears), or model (a write stores a part of the gradient, and an fsync adds the gradient to the
weights that a read returns). MAPS is yes if the file can be mapped.
"""

import errno
import mmap
import os
import random
import sys

import numpy as np

path, kind, seed, count, maps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "yes"
rng = random.Random(seed)
noise = np.random.default_rng(seed).integers(0, 256, 1 << 22, np.uint8)
fd = os.open(path, os.O_RDWR)
size = os.fstat(fd).st_size
seen = np.frombuffer(os.pread(fd, size, 0), np.uint8).copy()
stored = seen if kind == "weights" else np.zeros(size, np.uint8)
shared = mmap.mmap(fd, size) if maps else None


def place():
    """Returns the start and the length of a range that can extend past the end of the file."""
    length = rng.choice((1, 7, 512, 4096, 4097, 20000, 262144, 700001))
    length = rng.randint(1, length) if rng.random() < 0.5 else length
    start = rng.randrange(size + 5000) if rng.random() < 0.7 else rng.randrange(size // 4096 + 1) * 4096
    return start, length


def data(length):
    at = rng.randrange(len(noise) - length)
    return noise[at : at + length]


def refused(expected, call, *arguments):
    try:
        call(*arguments)
    except OSError as e:
        assert e.errno == expected, (e, expected)
    else:
        raise AssertionError(f"{call.__name__}{arguments[1:]} succeeded")


def read():
    start, length = place()
    found = os.pread(fd, length, start)
    assert found == seen[start : start + length].tobytes(), ("read", start, length, len(found))


def read_parts():
    start, length = place()
    parts = [bytearray(rng.randint(1, length)) for _ in range(3)]
    found = os.preadv(fd, parts, start)
    expected = seen[start : start + sum(map(len, parts))].tobytes()
    assert b"".join(parts)[:found] == expected, ("read_parts", start, length, found)


def write():
    start, length = place()
    if start >= size:
        refused(errno.ENOSPC, os.pwrite, fd, b"x" * length, start)
        return
    put = data(length)
    written = os.pwrite(fd, put, start)
    assert written == min(length, size - start), ("write", start, length, written)
    stored[start : start + written] = put[:written]


def write_parts():
    start, length = place()
    parts = [data(rng.randint(1, length)) for _ in range(3)]
    if start >= size:
        return
    written = os.pwritev(fd, parts, start)
    put = np.concatenate(parts)[:written]
    assert written == min(sum(map(len, parts)), size - start), ("write_parts", start, length, written)
    stored[start : start + written] = put


def at_position():
    start, length = place()
    assert os.lseek(fd, start, os.SEEK_SET) == start
    found = os.read(fd, length)
    assert found == seen[start : start + length].tobytes(), ("at_position", start, length)
    assert os.lseek(fd, 0, os.SEEK_CUR) == start + len(found)


def other_handle():
    flags = rng.choice((os.O_RDONLY, os.O_RDONLY | os.O_DIRECT, os.O_RDWR, os.O_RDWR | os.O_TRUNC, os.O_WRONLY))
    other = os.open(path, flags)
    try:
        assert os.fstat(other).st_size == size
        if flags & os.O_TRUNC and kind == "weights":
            stored[:] = 0
        if flags & os.O_DIRECT:
            page = mmap.mmap(-1, 8192)
            start = rng.randrange(size // 4096) * 4096
            found = os.preadv(other, [page], start)
            assert page[:found] == seen[start : start + 8192].tobytes(), ("other_handle", start)
    finally:
        os.close(other)


def append():
    other = os.open(path, os.O_WRONLY | os.O_APPEND)
    refused(errno.ENOSPC, os.write, other, b"x")
    os.close(other)


def change_size():
    refused(errno.EPERM, os.ftruncate, fd, rng.randrange(size))
    refused(errno.EPERM, os.truncate, path, size + 1)
    os.ftruncate(fd, size)
    assert os.stat(path).st_size == size


def synchronized():
    if kind == "model":
        seen[:] = seen + stored
        stored[:] = 0


def synchronize():
    rng.choice((os.fsync, os.fdatasync))(fd)
    synchronized()


def load():
    os.fsync(fd)
    synchronized()
    start, length = place()
    assert shared[start : start + length] == seen[start : start + length].tobytes(), ("load", start, length)


def store():
    start, length = place()
    put = data(length)[: max(0, size - start)]
    shared[start : start + len(put)] = put.tobytes()
    shared.flush()
    stored[start : start + len(put)] = put


operations = [(read, 30), (read_parts, 5), (write, 30), (write_parts, 5), (at_position, 5), (other_handle, 2), (append, 1), (change_size, 1)]
operations.append((synchronize, 2 if kind == "model" else 5))
if maps:
    operations.append((load, 1))
if maps and kind == "weights":
    operations.append((store, 2))
kinds, shares = zip(*operations)
done = ""
try:
    for i in range(count):
        operation = rng.choices(kinds, shares)[0]
        done = f"operation {i} ({operation.__name__}), seed {seed}"
        operation()
    os.fsync(fd)
    synchronized()
    assert os.pread(fd, size, 0) == seen.tobytes()
except BaseException:
    print("failed:", done, file=sys.stderr)
    raise
