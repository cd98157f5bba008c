#!/usr/bin/python3
"""Trains the digits model in one process without modeldisk, for comparison with the result of the learners."""

import argparse
import collections
import json
import pathlib
import time

import numpy as np

import digits


def train(learners, iterations, batch, learning_rate, delay=0):
    """Returns the weights after `iterations` steps. A step uses the mean of the gradients of all learners.

    The gradients of a step are computed from the weights `delay` steps earlier. The first steps use the initial weights.
    """
    training, _ = digits.load()
    parts = [digits.batches(*training, part, learners, batch) for part in range(learners)]
    weights = digits.initial_weights()
    gradients = np.zeros((learners, digits.WEIGHTS), np.float32)
    seen = collections.deque(maxlen=delay + 1)
    for _ in range(iterations):
        seen.append(weights.copy())
        for gradient, part in zip(gradients, parts):
            digits.gradient(seen[0], *next(part), gradient)
        weights -= np.float32(learning_rate) * gradients.mean(axis=0)
    return weights


def main():
    arguments = argparse.ArgumentParser(description="Train the digits model in one process, without modeldisk.")
    arguments.add_argument("file", metavar="FILE", help="the file to which the final weights are written as plain float32 values")
    arguments.add_argument("--learners", type=int, default=2, help="the number of learners to simulate, each with a mini-batch in every iteration; default: %(default)s")
    arguments.add_argument("--iterations", type=int, default=digits.ITERATIONS, help="the number of iterations; default: %(default)s")
    arguments.add_argument("--batch", type=int, default=digits.BATCH, help="the number of images in a mini-batch; default: %(default)s")
    arguments.add_argument("--lr", type=float, default=digits.LEARNING_RATE, help="learning rate; default: %(default)s")
    arguments.add_argument(
        "--delay", type=int, default=0, help="the age, in steps, of the weights from which a gradient is computed; default: %(default)s"
    )
    options = arguments.parse_args()

    start = time.monotonic()
    weights = train(options.learners, options.iterations, options.batch, options.lr, options.delay)
    seconds = round(time.monotonic() - start, 3)
    pathlib.Path(options.file).write_bytes(weights.tobytes())
    _, held_out = digits.load()
    print(json.dumps({"accuracy": round(digits.accuracy(weights, *held_out), 4), "seconds": seconds}))


if __name__ == "__main__":
    main()
