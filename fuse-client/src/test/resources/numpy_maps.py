"""Maps the files model and weights with numpy.memmap, and reads and writes them with numpy.

Usage: numpy_maps.py DIR MAPS

All bytes of the weights are 5. MAPS is yes if the files can be mapped such that stores reach the file (MAP_SHARED).
"""

import errno
import os
import sys

import numpy as np

directory, maps = sys.argv[1] + "/", sys.argv[2] == "yes"
size = os.stat(directory + "weights").st_size


def fails(expected, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except OSError as e:
        assert e.errno == expected, (e, expected)
    else:
        raise AssertionError(f"{call}{arguments} succeeded")


def all_bytes(name, value):
    return (np.fromfile(directory + name, np.uint8) == value).all()


for name in ("model", "weights"):
    path = directory + name
    assert all_bytes(name, 5) and len(np.fromfile(path, np.uint8)) == size
    private = np.memmap(path, np.uint8, "c")
    assert (private == 5).all()
    private[:] = 7
    assert all_bytes(name, 5), "stores into a private map do not reach the file"
    # numpy tries to extend the file, because it is shorter than the array.
    fails(errno.ENOSPC, np.memmap, path, np.uint8, "r+", shape=size + 1)
    if not maps:
        for mode in ("r", "r+"):
            fails(errno.ENODEV, np.memmap, path, np.uint8, mode)
        continue
    assert (np.memmap(path, np.uint8, "r") == 5).all()
    part = np.memmap(path, np.uint8, "r", offset=5000, shape=(3, 1000))
    assert part.shape == (3, 1000) and (part == 5).all()

if maps:
    model = np.memmap(directory + "model", np.uint8, "r+")
    model[100] = 9
    fails(errno.EIO, model.flush)
    assert all_bytes("model", 5), "stores into a map of the model are discarded"

    weights = np.memmap(directory + "weights", np.uint8, "r+")
    weights[:100] = 6
    weights[size - 1] = 8
    weights.flush()
    found = np.fromfile(directory + "weights", np.uint8)
    assert (found[:100] == 6).all() and (found[100 : size - 1] == 5).all() and found[size - 1] == 8

    new = np.memmap(directory + "weights", np.uint8, "w+", shape=size)
    assert (new == 0).all(), "a new array consists of zeros"
    new[:] = 4
    new.flush()
    assert all_bytes("weights", 4)

np.full(size, 3, np.uint8).tofile(directory + "weights")
assert all_bytes("weights", 3)
