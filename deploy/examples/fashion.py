"""The images and the network of the PyTorch examples.

The images are Fashion-MNIST: 60,000 pictures of clothes of ten kinds to train with, and 10,000 held-out ones, each of 28 x 28
gray values. Debian's package dataset-fashion-mnist installs them.
"""

import functools
import gzip
import json
import pathlib

import numpy as np
import torch
from torch import nn

FOLDER = pathlib.Path("/usr/share/datasets/fashion-mnist")
SIDE = 28
# The numbers of header bytes in image files and in label files.
IMAGES_START, LABELS_START = 16, 8
# The mean and the standard deviation of the gray values of the training images, which are from 0 to 255.
MEAN, DEVIATION = 72.94, 90.02
SEED = 7


def network():
    """Returns a convolutional network with 56,714 parameters, which are the same in every run."""
    torch.manual_seed(SEED)
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(32 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, 10)),
    )


class Images:
    """The training images ("train") or the held-out images ("t10k")."""

    def __init__(self, name):
        with gzip.open(FOLDER / f"{name}-images-idx3-ubyte.gz") as file:
            self.pixels = np.frombuffer(file.read(), np.uint8, offset=IMAGES_START).reshape(-1, 1, SIDE, SIDE)
        with gzip.open(FOLDER / f"{name}-labels-idx1-ubyte.gz") as file:
            self.labels = np.frombuffer(file.read(), np.uint8, offset=LABELS_START)

    def __len__(self):
        return len(self.labels)

    def choose(self, chosen):
        """Returns the images with these numbers and their labels, as tensors."""
        pixels = (self.pixels[chosen] - np.float32(MEAN)) / np.float32(DEVIATION)
        return torch.from_numpy(pixels), torch.from_numpy(self.labels[chosen].astype(np.int64))

    def batch(self, step, rank, of, size):
        """Returns the mini-batch of `size` images of learner number `rank`, from 0, in a step. `of` is the number of learners.

        The mini-batches of all learners in a step form the mini-batch of `size * of` images of a training in one process.
        """
        steps = len(self) // (size * of)
        start = step % steps * size * of
        return self.choose(self.order(step // steps)[start + rank : start + size * of : of])

    @functools.lru_cache(maxsize=2)
    def order(self, epoch):
        return np.random.default_rng([SEED, epoch]).permutation(len(self))


def evaluate(net):
    """Returns the mean loss and the accuracy on the held-out images."""
    images, size, losses, right = Images("t10k"), 1000, 0, 0
    with torch.no_grad():
        for start in range(0, len(images), size):
            pictures, kinds = images.choose(slice(start, start + size))
            scores = net(pictures)
            losses += nn.functional.cross_entropy(scores, kinds, reduction="sum").item()
            right += (scores.argmax(1) == kinds).sum().item()
    return losses / len(images), right / len(images)


def partition(mount):
    """Returns the current round of the learner of a mount, the rank of the learner, and the number of learners."""
    part = json.loads((mount / "partition").read_text())
    if part["rank"] is None:
        raise ValueError(f"{mount}/partition gives this learner no part of the images: {part}")
    return part["round"], part["rank"], part["of"]
