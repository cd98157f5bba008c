#!/usr/bin/python3
"""A learner in PyTorch. It trains the network of fashion.py through a mount, with its part of the images.

It needs the package modeldisk: the Debian package installs it, and in a source tree, PYTHONPATH=deploy/python finds it.
"""

import argparse
import json
import pathlib
import sys

import torch

import fashion
import modeldisk


def learn(mount, rounds, batch):
    """Trains until the round number `rounds`. After each round, yields its number and loss."""
    net, images = fashion.network(), fashion.Images("train")
    with modeldisk.Learner(net, mount) as learner:
        while (part := fashion.partition(mount))[0] <= rounds:
            number, rank, of = part
            pictures, kinds = images.batch(number - 1, rank, of, batch)
            loss = torch.nn.functional.cross_entropy(net(pictures), kinds)
            loss.backward()
            learner.step()
            yield {"round": number, "loss": round(loss.item(), 4)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--mount", required=True, type=pathlib.Path, metavar="DIR", help="the mounted model")
    arguments.add_argument("--rounds", type=int, required=True, help="the number of rounds")
    arguments.add_argument("--batch", type=int, default=32, help="the number of images in a mini-batch; default: %(default)s")
    options = arguments.parse_args()
    try:
        for line in learn(options.mount, options.rounds, options.batch):
            print(json.dumps(line), flush=True)
    except (OSError, ValueError) as error:
        sys.exit(f"learner_torch.py: {error}")


if __name__ == "__main__":
    main()
