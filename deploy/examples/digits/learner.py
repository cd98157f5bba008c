#!/usr/bin/python3
"""A learner that uses only a file. Each iteration reads the weights, writes the gradient, and calls fsync."""

import argparse
import json
import os
import pathlib
import signal
import sys
import time

import numpy as np

import digits


# The numpy types for `mount --dtype`. numpy has no bfloat16, which is the upper half of a float32.
STORED = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}


def dtype(model):
    """Returns the type of the values in the file of a mounted model: f32, bf16 or f16."""
    try:
        return os.getxattr(model, "user.modeldisk.dtype").decode()
    except OSError:
        return "f32"


def widened(values):
    """Returns stored values as float32."""
    return (values.astype(np.uint32) << 16).view(np.float32) if values.dtype == np.uint16 else values.astype(np.float32, copy=False)


def store(values, out):
    """Stores float32 values in an array of another type. Rounds to the nearest value, and ties to the even one."""
    if out.dtype == np.uint16:
        bits = values.view(np.uint32)
        out[:] = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    else:
        out[:] = values


class ModelFile:
    """The file of a mounted model. A read returns weights. A write pushes a gradient."""

    def __init__(self, path):
        self.path = path
        self.fd = os.open(path, os.O_RDWR)
        stored = np.dtype(STORED[dtype(path)])
        size = os.fstat(self.fd).st_size
        if size < stored.itemsize * digits.WEIGHTS or size % stored.itemsize:
            os.close(self.fd)
            raise ValueError(f"{path} has {size} bytes, but the digits model needs {stored.itemsize * digits.WEIGHTS}")
        # A mounted model can be larger than the digits model. The gradient of the additional weights is zero.
        self.stored = np.zeros(size // stored.itemsize, stored)
        self.gradient = np.zeros(self.stored.size, np.float32)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def read(self, weights):
        view = memoryview(weights).cast("B")
        done = 0
        while done < len(view):
            count = os.preadv(self.fd, [view[done:]], done)
            if count == 0:
                raise OSError(f"{self.path} ended after {done} of {len(view)} bytes")
            done += count

    def write(self, gradient):
        view = memoryview(gradient).cast("B")
        done = 0
        while done < len(view):
            done += os.pwrite(self.fd, view[done:], done)

    def begin(self):
        """Begins an iteration. Returns its weights, and the array for its gradient."""
        self.read(self.stored)
        return widened(self.stored), self.gradient

    def end(self, gradient):
        if self.stored.dtype != np.float32:
            store(gradient, self.stored)
            gradient = self.stored
        self.write(gradient)
        os.fsync(self.fd)


class MappedModel:
    """The mapped buffers of a mounted model. The learner computes in the memory that the mount exchanges with the shards."""

    def __init__(self, control):
        self.fd = os.open(control, os.O_RDWR)
        folder, count = control.parent, len(list(control.parent.glob("weights.*")))
        stored = STORED[dtype(folder.parent / "model")]
        self.sets = [
            (np.memmap(folder / f"weights.{n}", stored, "r"), np.memmap(folder / f"gradient.{n}", stored, "r+"))
            for n in range(count)
        ]
        # With float32, the learner computes in the mapped gradient itself.
        self.gradient = None if stored == np.float32 else np.zeros(self.sets[0][1].size, np.float32)
        self.iteration = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def begin(self):
        weights, gradient = self.sets[self.iteration % len(self.sets)]
        return widened(weights), gradient if self.gradient is None else self.gradient

    def end(self, gradient):
        if self.gradient is not None:
            store(gradient, self.sets[self.iteration % len(self.sets)][1])
        os.fsync(self.fd)
        self.iteration += 1


def read_partition(path):
    """Reads the file `partition` of the mount. Returns (the rank of this learner, the number of parts)."""
    partition = json.loads(path.read_text())
    if partition["rank"] is None:
        raise ValueError(f"{path} gives this learner no part of the images: {partition}")
    return partition["rank"], partition["of"]


def batches(training, partition, size):
    """Yields an endless sequence of mini-batches. Calls `partition` before each one, because other learners can join or leave."""
    part = None
    while True:
        before, part = part, partition()
        if part != before:
            mine = digits.batches(*training, *part, size)
        yield next(mine)


def learn(model, partition, iterations, batch, progress=lambda **_: None):
    """Trains on one part of the images. Each iteration calls `partition`, which returns (the part from 0, the number of parts)."""
    training, held_out = digits.load()
    start = time.monotonic()
    for iteration, (images, labels) in zip(range(1, iterations + 1), batches(training, partition, batch)):
        weights, gradient = model.begin()
        loss = digits.gradient(weights, images, labels, gradient)
        model.end(gradient)
        if iteration == 1 or iteration % 10 == 0 or iteration == iterations:
            progress(
                iteration=iteration,
                loss=round(loss, 6),
                accuracy=round(digits.accuracy(weights, *held_out), 4),
                seconds=round(time.monotonic() - start, 3),
            )


def part_of(text):
    """Parses the text I/N. Returns (I - 1, N)."""
    part, parts = (int(number) for number in text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError
    return part - 1, parts


def stop(number, _):
    # The exception SystemExit also interrupts a read or write that waits for other learners.
    sys.exit(128 + number)


def main():
    arguments = argparse.ArgumentParser(
        description="Train the digits model. After SIGTERM or SIGINT, exits at once with status 128 + the number of the signal."
    )
    arguments.add_argument(
        "--file",
        required=True,
        type=pathlib.Path,
        metavar="DIR/model",
        help="the mounted model; with DIR/mapped/control, the learner maps the buffers of the mount instead of reading and writing",
    )
    arguments.add_argument(
        "--part",
        type=part_of,
        metavar="I/N",
        help="always train on part I of N of the images, such as 1/2; default: the part that DIR/partition names in each iteration",
    )
    arguments.add_argument("--iterations", type=int, default=digits.ITERATIONS, help="the number of iterations; default: %(default)s")
    arguments.add_argument("--batch", type=int, default=digits.BATCH, help="the number of images in a mini-batch; default: %(default)s")
    arguments.add_argument("--progress", metavar="FILE", help="the file to which a line of JSON is appended every 10 iterations")
    options = arguments.parse_args()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)

    def progress(**line):
        if options.progress:
            with open(options.progress, "a") as lines:
                lines.write(json.dumps(line) + "\n")

    def partition():
        return options.part or read_partition((options.file.parent.parent if maps else options.file.parent) / "partition")

    maps = options.file.name == "control"
    try:
        with (MappedModel if maps else ModelFile)(options.file) as model:
            learn(model, partition, options.iterations, options.batch, progress)
    except (OSError, ValueError) as error:
        sys.exit(f"learner.py: {error}")


if __name__ == "__main__":
    main()
