#!/usr/bin/python3
"""The smallest learner with numpy. It computes in the mapped buffers of a mount, so no byte is copied.

The gradient is that of the loss |w - 1|^2 / 2: all weights become 1. Usage: learner.py DIR ITERATIONS, where DIR is mounted with
--exchange sync or overlap.
"""

import json
import os
import sys

import numpy as np


def learn(folder, iterations):
    control = os.open(f"{folder}/mapped/control", os.O_RDWR)  # joins
    for iteration in range(1, iterations + 1):
        number = json.loads(os.pread(control, 4096, 0))["set"]
        weights = np.memmap(f"{folder}/mapped/weights.{number}", np.float32, "r")
        gradient = np.memmap(f"{folder}/mapped/gradient.{number}", np.float32, "r+")
        print(f"{iteration}: the first weight is {weights[0]:g}")
        np.subtract(weights, 1, out=gradient)
        os.fsync(control)  # pushes the gradient and pulls the weights
    os.close(control)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        sys.exit(f"usage: {sys.argv[0]} DIR ITERATIONS")
    learn(sys.argv[1], int(sys.argv[2]))
