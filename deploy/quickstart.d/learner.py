#!/usr/bin/python3
"""A learner: each iteration reads the weights, writes its gradient, and ends with fsync. It uses only a file."""

import argparse
import json
import os
import signal
import sys
import time

import numpy as np

import digits


class ModelFile:
    """The mounted model: reads return weights, writes push a gradient. (Python retries after EINTR.)"""

    def __init__(self, path):
        self.path = path
        self.fd = os.open(path, os.O_RDWR)
        size = os.fstat(self.fd).st_size
        if size < 4 * digits.WEIGHTS or size % 4:
            os.close(self.fd)
            raise ValueError(f"{path} has {size} bytes; the digits model has {4 * digits.WEIGHTS}")
        # The file may be longer than the model, whose last block is padded.
        self.floats = size // 4

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

    def fsync(self):
        os.fsync(self.fd)


def learn(model, part, parts, iterations, batch, progress=lambda **_: None):
    """Trains for some iterations on part `part` of `parts`, counted from 0."""
    training, held_out = digits.load()
    weights = np.zeros(model.floats, np.float32)
    gradient = np.zeros(model.floats, np.float32)
    start = time.monotonic()
    for iteration, (images, labels) in zip(range(1, iterations + 1), digits.batches(*training, part, parts, batch)):
        model.read(weights)
        loss = digits.gradient(weights, images, labels, gradient)
        model.write(gradient)
        model.fsync()
        if iteration == 1 or iteration % 10 == 0 or iteration == iterations:
            progress(
                iteration=iteration,
                loss=round(loss, 6),
                accuracy=round(digits.accuracy(weights, *held_out), 4),
                seconds=round(time.monotonic() - start, 3),
            )


def part_of(text):
    """Parses 1/2 to (0, 2)."""
    part, parts = (int(number) for number in text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError
    return part - 1, parts


def stop(number, _):
    # SystemExit also ends a read or write that waits for the other learners.
    sys.exit(128 + number)


def main():
    arguments = argparse.ArgumentParser(
        description="Learn to read digits. SIGTERM and SIGINT end it at once, with status 128 + the signal's number."
    )
    arguments.add_argument("--file", required=True, metavar="DIR/model", help="the mounted model")
    arguments.add_argument("--part", type=part_of, default=(0, 1), metavar="I/N", help="number of this learner and of all learners, as 1/2")
    arguments.add_argument("--iterations", type=int, default=digits.ITERATIONS, help="default: %(default)s")
    arguments.add_argument("--batch", type=int, default=digits.BATCH, help="images a mini-batch; default: %(default)s")
    arguments.add_argument("--progress", metavar="FILE", help="append a line of JSON every 10 iterations")
    options = arguments.parse_args()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)

    def progress(**line):
        if options.progress:
            with open(options.progress, "a") as lines:
                lines.write(json.dumps(line) + "\n")

    try:
        with ModelFile(options.file) as model:
            learn(model, *options.part, options.iterations, options.batch, progress)
    except (OSError, ValueError) as error:
        sys.exit(f"learner {options.part[0] + 1}/{options.part[1]}: {error}")


if __name__ == "__main__":
    main()
