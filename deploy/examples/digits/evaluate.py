#!/usr/bin/python3
"""Prints the accuracy of weights on held-out digits, and the difference between the weights of two files."""

import argparse
import json
import sys

import numpy as np

import digits


def compare(a, b):
    """Returns the relative difference ||a - b|| / ||b||, and the largest difference between two weights."""
    difference = a.astype(np.float64) - b.astype(np.float64)
    return {
        "relative": float(np.linalg.norm(difference) / np.linalg.norm(b.astype(np.float64))),
        "largest": float(np.max(np.abs(difference))),
    }


def main():
    arguments = argparse.ArgumentParser(
        description="Print the accuracy of weights as JSON. FILE is a .safetensors file, or a file of plain float32 values such as DIR/weights of a mount."
    )
    arguments.add_argument("file", metavar="FILE", help="the weights")
    arguments.add_argument("--compare", metavar="OTHER", help="also print the difference between FILE and these weights")
    options = arguments.parse_args()

    try:
        weights = digits.read_weights(options.file)
        _, held_out = digits.load()
        result = {"accuracy": round(digits.accuracy(weights, *held_out), 4), "images": len(held_out[1])}
        if options.compare:
            result.update(compare(weights, digits.read_weights(options.compare)))
    except (OSError, ValueError) as error:
        sys.exit(f"evaluate: {error}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
