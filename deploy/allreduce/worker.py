#!/usr/bin/python3
"""One of two processes that exchange gradients, through a mounted model or with an allreduce of PyTorch.

Reads commands from the standard input, one a line, and prints a JSON answer to each:

prepare        stores the gradient of the next exchange
exchange TIME  waits until the monotonic clock shows TIME, exchanges, checks the result, and answers with the seconds it took
overlap N C    runs N iterations with C seconds of computation each, and answers with the seconds that each iteration waited
"""

import argparse
import datetime
import json
import os
import pathlib
import sys
import time

import numpy as np

LEARNERS = 2
# The gradients are small whole numbers, so that all sums are exact.
VALUES = 8
# `overlap` checks only every STRIDE-th weight, because a check of all weights would take longer than a computation.
STRIDE = 1021
# The shard subtracts the mean of the gradients from the weights (sgd:lr=1). The mean is this multiple of the base values.
MEAN_FACTOR = sum(range(1, LEARNERS + 1)) / LEARNERS


def values(count):
    return (np.arange(count, dtype=np.uint32) % VALUES).astype(np.float32)


class Mapped:
    """A learner that computes in the buffers of a mount."""

    def __init__(self, options):
        folder = options.mount / "mapped"
        self.control = os.open(folder / "control", os.O_RDWR)
        sets = len(list(folder.glob("weights.*")))
        self.weights = [np.memmap(folder / f"weights.{n}", np.float32, "r") for n in range(sets)]
        self.gradients = [np.memmap(folder / f"gradient.{n}", np.float32, "r+") for n in range(sets)]
        self.base = values(len(self.weights[0]))
        self.own = self.base * (options.rank + 1)
        self.exchanges = 0

    def prepare(self):
        np.copyto(self.gradients[self.exchanges % len(self.gradients)], self.own)

    def exchange(self):
        os.fsync(self.control)
        self.exchanges += 1

    def check(self, stride=1):
        """Checks the current weights of the learner. With two sets of buffers, they do not contain the last exchange yet."""
        weights = self.weights[self.exchanges % len(self.weights)][::stride]
        rounds = max(0, self.exchanges - len(self.weights) + 1)
        expected = self.base[::stride] * (-MEAN_FACTOR * rounds)
        if not np.array_equal(weights, expected):
            at = int(np.flatnonzero(weights != expected)[0])
            raise ValueError(
                f"after {rounds} rounds, weight {at * stride} is {weights[at]}, but it must be {expected[at]}"
            )

    def overlap(self, iterations, seconds):
        """Returns the seconds for which each iteration waits in fsync, after the computation."""
        waits = []
        for _ in range(iterations):
            end = time.monotonic() + seconds
            self.check(STRIDE)
            self.prepare()
            time.sleep(max(0, end - time.monotonic()))
            begun = time.monotonic()
            self.exchange()
            waits.append(time.monotonic() - begun)
        self.check()
        return waits


class Allreduce:
    """A process that sums its gradient with that of the other process: gloo over the loopback interface."""

    def __init__(self, options):
        # Imported here, because a learner of modeldisk does not need PyTorch.
        import torch
        import torch.distributed

        self.torch = torch
        os.environ["GLOO_SOCKET_IFNAME"] = "lo"
        torch.distributed.init_process_group(
            "gloo",
            init_method=f"file://{options.rendezvous}",
            rank=options.rank,
            world_size=LEARNERS,
            timeout=datetime.timedelta(seconds=60),
        )
        base = values(options.bytes // 4)
        self.own = torch.from_numpy(base * (options.rank + 1))
        self.sum = torch.from_numpy(base * sum(range(1, LEARNERS + 1)))
        self.tensor = torch.empty_like(self.own)

    def prepare(self):
        self.tensor.copy_(self.own)

    def exchange(self):
        self.torch.distributed.all_reduce(self.tensor)

    def check(self):
        if not self.torch.equal(self.tensor, self.sum):
            raise ValueError("the allreduce did not return the sum of the gradients")


def answer(member, command):
    if command[0] == "prepare":
        member.prepare()
        return "prepared"
    if command[0] == "overlap":
        return member.overlap(int(command[1]), float(command[2]))
    time.sleep(max(0, float(command[1]) - time.monotonic()))
    begun = time.monotonic()
    member.exchange()
    seconds = time.monotonic() - begun
    member.check()
    return seconds


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rank", type=int, required=True, help="the number of the process, 0 or 1")
    way = arguments.add_mutually_exclusive_group(required=True)
    way.add_argument("--mount", type=pathlib.Path, metavar="DIR", help="the mounted model")
    way.add_argument("--rendezvous", metavar="FILE", help="the file through which the processes of PyTorch find each other")
    arguments.add_argument("--bytes", type=int, help="with --rendezvous: the size of the gradient")
    options = arguments.parse_args()
    try:
        member = Mapped(options) if options.mount else Allreduce(options)
        print(json.dumps("open"), flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(member, line.split())), flush=True)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"worker.py: {error}")


if __name__ == "__main__":
    main()
