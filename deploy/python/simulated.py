"""A simulated mount (a folder with files), and a base class for tests that use it."""

import json
import os
import pathlib
import struct
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np
import torch

from modeldisk import modeldisk_torch


class Mounted:
    """Simulates a mount in files: the weights of a safetensors file, and a gradient of zeros."""

    def __init__(self, folder, file, sets=1, dtype="f32"):
        self.folder = pathlib.Path(folder)
        content = file.read_bytes()
        weights = content[8 + struct.unpack_from("<Q", content)[0] :]
        if dtype == "f16":
            weights = np.frombuffer(weights, np.float32).astype(np.float16).tobytes()
        (self.folder / "mapped").mkdir()
        self.attribute = mock.patch("os.getxattr", lambda *_: dtype.encode())
        self.attribute.start()
        for number in range(sets):
            (self.folder / "mapped" / f"weights.{number}").write_bytes(weights)
            (self.folder / "mapped" / f"gradient.{number}").write_bytes(bytes(len(weights)))
        self.switch(0)

    def close(self):
        self.attribute.stop()

    def switch(self, number, iteration=0):
        (self.folder / "mapped" / "control").write_text(json.dumps({"set": number, "iteration": iteration}) + "\n")

    def read(self, file):
        return np.fromfile(self.folder / "mapped" / file, np.float32)

    def write(self, file, values):
        # Overwrites the file in place, because it is mapped.
        with open(self.folder / "mapped" / file, "r+b") as buffer:
            buffer.write(np.asarray(values, np.float32).tobytes())


def flat(values):
    return np.concatenate([value.detach().float().numpy().ravel() for value in values])


class MountedTest(unittest.TestCase):
    """A base class with a folder that looks like the directory of a mount."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        torch.manual_seed(1)
        # Warnings are ignored by default. A test that expects a warning checks for it.
        self.enterContext(warnings.catch_warnings())
        warnings.simplefilter("ignore", UserWarning)

    def mounted(self, model, sets=1, dtype="f32"):
        modeldisk_torch.save(model, self.folder / "net.safetensors")
        mount = Mounted(self.folder, self.folder / "net.safetensors", sets, dtype)
        self.addCleanup(mount.close)
        return mount

    def learner(self, model):
        learner = modeldisk_torch.Learner(model, self.folder)
        self.addCleanup(learner.close)
        return learner

    def joined(self, model, sets=1):
        """Mounts a model. Returns the model, its mount and its learner."""
        return model, self.mounted(model, sets), self.learner(model)

    def named(self, model):
        """Gives the tensors of the mounted model the names of the parameters of a network."""
        (self.folder / "tensors.json").write_text(json.dumps(modeldisk_torch.layout(model)))

    def pushed(self, learner):
        """Ends an iteration. Returns the gradient that the learner pushes."""
        gradients = []
        gradient = self.folder / "mapped" / "gradient.0"
        with mock.patch("os.fsync", lambda _: gradients.append(np.fromfile(gradient, np.float32))):
            learner.step()
        return gradients[0]
