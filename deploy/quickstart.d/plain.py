#!/usr/bin/python3
"""The same training in one process without modeldisk, to compare the learners' result with."""

import argparse
import collections
import json
import pathlib
import time

import numpy as np

import digits


def train(learners, iterations, batch, learning_rate, delay=0):
    """Returns the weights after `iterations` steps, each along the mean of all learners' gradients.

    These are gradients of the weights of `delay` steps before, or of the initial ones as long as there are no others.
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
    arguments.add_argument("file", metavar="FILE", help="file for the final weights, raw float32")
    arguments.add_argument("--learners", type=int, default=2, help="mini-batches an iteration; default: %(default)s")
    arguments.add_argument("--iterations", type=int, default=digits.ITERATIONS, help="default: %(default)s")
    arguments.add_argument("--batch", type=int, default=digits.BATCH, help="images a mini-batch; default: %(default)s")
    arguments.add_argument("--lr", type=float, default=digits.LEARNING_RATE, help="learning rate; default: %(default)s")
    arguments.add_argument(
        "--delay", type=int, default=0, help="age in steps of the weights that a gradient is computed on; default: %(default)s"
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
