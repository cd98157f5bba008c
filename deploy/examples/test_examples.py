"""Tests of the PyTorch examples. Only RealMountTest needs modeldisk. Run them with `python3 -m unittest` in this directory."""

import contextlib
import errno
import functools
import io
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import warnings
from unittest import mock

import numpy as np
import torch
from torch import nn

import cluster
import diloco
import fashion
import modeldisk_torch
import train

IMAGE = cluster.HERE.parent / "image" / "target" / "modeldisk"

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


class LearnerTest(MountedTest):
    def test_parameters_are_the_weights_of_the_mount(self):
        mount = self.mounted(nn.Linear(3, 2))
        net = nn.Linear(3, 2)
        self.learner(net)
        np.testing.assert_array_equal(flat(net.parameters()), mount.read("weights.0"))
        mount.write("weights.0", range(8))
        np.testing.assert_array_equal(flat(net.parameters()), range(8))

    def test_backward_stores_the_gradient_in_the_mount_and_a_step_clears_it(self):
        net, mount, learner = self.joined(nn.Linear(3, 1))
        for _ in range(2):
            net(torch.tensor([[1.0, 2.0, 3.0]])).sum().backward()
        np.testing.assert_array_equal(mount.read("gradient.0"), [2, 4, 6, 2])
        learner.step()
        np.testing.assert_array_equal(mount.read("gradient.0"), np.zeros(4))

    def test_zero_grad_before_backward_loses_no_gradient(self):
        net, mount, learner = self.joined(nn.Linear(3, 1))
        pushed = []
        learner.begin = lambda parameters: pushed.append(mount.read("gradient.0"))
        for set_to_none in (True, False):
            net.zero_grad(set_to_none=set_to_none)
            net(torch.tensor([[1.0, 2.0, 3.0]])).sum().backward()
            learner.step()
        np.testing.assert_array_equal(pushed, [[1, 2, 3, 1]] * 2)

    def test_parameter_without_gradient_pushes_zeros(self):
        net, mount, learner = self.joined(nn.Linear(3, 1))
        net(torch.ones(1, 3)).sum().backward()
        net.zero_grad(set_to_none=True)
        learner.begin = lambda parameters: None
        learner.step()
        np.testing.assert_array_equal(mount.read("gradient.0"), np.zeros(4))

    def test_frozen_parameters_stay_local_and_tied_parameters_count_once(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
        net[2].weight = net[1].weight
        net[0].requires_grad_(False)
        frozen = flat(net[0].parameters())
        mount = self.mounted(net)
        self.learner(net)
        self.assertEqual(len(mount.read("weights.0")), 4 + 2 + 2)
        mount.write("weights.0", range(8))
        np.testing.assert_array_equal(flat([net[2].weight]), range(4))
        self.assertIs(net[1].weight, net[2].weight)
        np.testing.assert_array_equal(flat(net[0].parameters()), frozen)

    def test_weights_in_another_memory_order_keep_their_values(self):
        net = nn.Conv2d(2, 3, 2).to(memory_format=torch.channels_last)
        before = net.weight.detach().clone()
        self.mounted(net)
        self.learner(net)
        self.assertTrue(torch.equal(net.weight, before))

    def test_parameters_of_another_type_are_copied_in_each_step(self):
        net, mount, learner = self.joined(nn.Linear(3, 1).to(torch.bfloat16))
        pushed = []
        begin = learner.begin
        learner.begin = lambda parameters: (pushed.append(mount.read("gradient.0")), mount.write("weights.0", [1, 2, 3, 4]), begin(parameters))
        net(torch.tensor([[1.0, 2.0, 3.0]]).to(torch.bfloat16)).sum().backward()
        learner.step()
        np.testing.assert_array_equal(pushed, [[1, 2, 3, 1]])
        np.testing.assert_array_equal(flat(net.parameters()), [1, 2, 3, 4])
        self.assertEqual(net.weight.dtype, torch.bfloat16)

    def test_float32_parameters_are_rounded_for_a_mount_with_f16(self):
        net = nn.Linear(3, 1)
        before = flat(net.parameters())
        mount = self.mounted(net, dtype="f16")
        learner = self.learner(net)
        np.testing.assert_array_equal(flat(net.parameters()), before.astype(np.float16).astype(np.float32))
        learner.begin = lambda parameters: None
        net(torch.tensor([[1.0, 2.0, 3.0]])).sum().backward()
        learner.step()
        gradient = np.fromfile(mount.folder / "mapped" / "gradient.0", np.float16)
        np.testing.assert_array_equal(gradient, [1, 2, 3, 1])

    def test_parameters_use_the_buffer_set_that_control_names(self):
        net, mount, learner = self.joined(nn.Linear(3, 1), 2)
        mount.write("weights.1", [5, 6, 7, 8])
        mount.write("gradient.1", [9, 9, 9, 9])
        mount.switch(1)
        learner.step()
        np.testing.assert_array_equal(flat(net.parameters()), [5, 6, 7, 8])
        np.testing.assert_array_equal(mount.read("gradient.1"), np.zeros(4))
        net(torch.ones(1, 3)).sum().backward()
        np.testing.assert_array_equal(mount.read("gradient.1"), np.ones(4))
        np.testing.assert_array_equal(mount.read("gradient.0"), np.zeros(4))

    def test_parameters_are_found_by_name(self):
        first = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
        mount = self.mounted(first)
        self.named(first)
        second = nn.Module()
        second.add_module("1", nn.BatchNorm1d(1))
        second.add_module("0", nn.Linear(2, 1))
        self.learner(second)
        mount.write("weights.0", range(5))
        np.testing.assert_array_equal(flat(getattr(second, "0").parameters()), [0, 1, 2])

    def test_network_with_another_shape_is_refused(self):
        self.mounted(nn.Sequential(nn.Linear(2, 1)))
        self.named(nn.Sequential(nn.Linear(2, 1)))
        with self.assertRaisesRegex(ValueError, r"no tensor 0.weight of shape \[1, 3\]"):
            modeldisk_torch.Learner(nn.Sequential(nn.Linear(3, 1)), self.folder)

    def test_model_of_another_size_is_refused(self):
        self.mounted(nn.Linear(3, 1))
        before = os.listdir("/proc/self/fd")
        with self.assertRaisesRegex(ValueError, "has 4 weights, but the parameters need 6"):
            modeldisk_torch.Learner(nn.Linear(5, 1), self.folder)
        # The failed constructor must have closed the file control, so that the learner has left the training.
        self.assertEqual(os.listdir("/proc/self/fd"), before)

    def test_saved_file_has_a_padded_header_that_covers_the_data(self):
        modeldisk_torch.save(nn.Linear(3, 1), self.folder / "net.safetensors")
        content = (self.folder / "net.safetensors").read_bytes()
        length = struct.unpack_from("<Q", content)[0]
        self.assertEqual(length % 8, 0)
        header = json.loads(content[8 : 8 + length])
        self.assertEqual(header["weight"], {"dtype": "F32", "shape": [1, 3], "data_offsets": [0, 12]})
        self.assertEqual(header["bias"]["data_offsets"], [12, len(content) - 8 - length])


class ChangeTest(MountedTest):
    """Changes that a program can make to a network while a Learner uses it."""

    def backward(self, net):
        """Adds ones to the gradient, without a forward pass, because PyTorch has no float16 layers for CPUs."""
        parameters = [parameter for parameter in net.parameters() if parameter.requires_grad]
        torch.autograd.backward(parameters, [torch.ones_like(parameter) for parameter in parameters])

    def test_converted_network_is_trained(self):
        ways = {
            "bfloat16": lambda net: net.bfloat16(),
            "double": lambda net: net.double(),
            "half": lambda net: net.half(),
            "double and back": lambda net: net.double().float(),
            "shared memory": lambda net: net.share_memory(),
            "a copy of the same type": lambda net: net._apply(torch.clone),
        }
        mount = self.mounted(nn.Linear(3, 1))
        for way, move in ways.items():
            net = nn.Linear(3, 1)
            with self.subTest(way), modeldisk_torch.Learner(net, self.folder) as learner:
                mount.write("weights.0", [1, 2, 3, 4])
                # The conversion of the network must also keep the gradient.
                self.backward(net)
                move(net)
                self.backward(net)
                np.testing.assert_array_equal(self.pushed(learner), [2] * 4)
                for weights in ([1, 2, 3, 4], [5, 6, 7, 8]):
                    mount.write("weights.0", weights)
                    self.backward(net)
                    np.testing.assert_array_equal(self.pushed(learner), [1] * 4)
                    np.testing.assert_array_equal(flat(net.parameters()), weights)
                self.assertEqual(net.weight.is_shared(), way == "shared memory")

    def two_layers(self):
        net = nn.Sequential(nn.Linear(3, 1), nn.Linear(1, 1))
        mount = self.mounted(net)
        self.named(net)
        return net, mount

    def test_parameter_that_is_thawed_is_trained(self):
        net, mount = self.two_layers()
        net[1].requires_grad_(False)
        with self.assertWarnsRegex(UserWarning, r"no parameter trains \['1.bias', '1.weight'\]; the gradient is zero"):
            learner = self.learner(net)
        self.pushed(learner)
        net[1].requires_grad_(True)
        self.backward(net)
        self.assertEqual(self.pushed(learner)[-1], 1)
        mount.write("weights.0", range(6))
        np.testing.assert_array_equal(flat(net.parameters()), range(6))

    def test_added_parameter_is_trained_if_the_model_contains_it(self):
        net, mount = self.two_layers()
        head = net[1]
        del net[1]
        with self.assertWarns(UserWarning):
            learner = self.learner(net)
        net.append(head)
        self.backward(net)
        self.assertEqual(self.pushed(learner)[-1], 1)
        mount.write("weights.0", range(6))
        np.testing.assert_array_equal(flat(net.parameters()), range(6))
        net.append(nn.Linear(1, 2))
        with self.assertRaisesRegex(ValueError, r"no tensor 2.weight of shape \[2, 1\]: freeze it, or serve it"):
            self.pushed(learner)
        net[2].requires_grad_(False)
        self.pushed(learner)

    def test_parameter_that_is_frozen_later_follows_the_model_and_pushes_zeros(self):
        net, mount = self.two_layers()
        learner = self.learner(net)
        self.backward(net)
        net[1].requires_grad_(False)
        with self.assertWarnsRegex(UserWarning, "no parameter trains .*1.weight"):
            self.pushed(learner)
        self.backward(net)
        np.testing.assert_array_equal(self.pushed(learner)[4:], [0, 0])
        mount.write("weights.0", range(6))
        np.testing.assert_array_equal(flat(net.parameters()), range(6))

    def test_step_refuses_weights_changed_outside_of_it_until_they_are_pushed(self):
        saved = nn.Sequential(nn.Linear(3, 1), nn.Linear(1, 1)).state_dict()

        def replace(net):
            net[1] = nn.Linear(1, 1)

        ways = {
            "load_state_dict": lambda net: net.load_state_dict(saved),
            "init": lambda net: nn.init.ones_(net[1].weight),
            "torch.optim": lambda net: torch.optim.SGD(net.parameters(), lr=1).step(),
            "another module": replace,
            "other values": lambda net: nn.utils.vector_to_parameters(torch.arange(6.0), net.parameters()),
            "rounded values": lambda net: net.half().float(),
        }
        net, mount = self.two_layers()
        (self.folder / "weights").write_bytes(bytes(4 * 6))
        initial = mount.read("weights.0")
        for way, change in ways.items():
            net = nn.Sequential(nn.Linear(3, 1), nn.Linear(1, 1))
            mount.write("weights.0", initial)
            with self.subTest(way), modeldisk_torch.Learner(net, self.folder) as learner:
                self.backward(net)
                change(net)
                changed = flat(net.parameters())
                for _ in range(2):
                    with self.assertRaisesRegex(RuntimeError, r"[01]\.\w+ was changed outside of step\(\): push_weights\(\) keeps"):
                        self.pushed(learner)
                learner.push_weights()
                np.testing.assert_array_equal(np.fromfile(self.folder / "weights", np.float32), changed)
                np.testing.assert_array_equal(mount.read("weights.0"), changed)
                self.assertEqual(self.pushed(learner)[-1], 0 if way == "another module" else 1)
                np.testing.assert_array_equal(flat(net.parameters()), changed)

    def test_drop_does_not_train_on_changed_weights(self):
        net, mount = self.two_layers()
        learner = self.learner(net)
        self.backward(net)
        nn.init.ones_(net[1].weight)
        with mock.patch("os.setxattr") as dropped, self.assertRaisesRegex(RuntimeError, "a new Learner loses it"):
            learner.drop()
        dropped.assert_not_called()
        with self.assertRaisesRegex(RuntimeError, "1.weight was changed"):
            learner.step()

    def test_gradient_of_a_replaced_parameter_counts(self):
        net, mount = self.two_layers()
        learner = self.learner(net)
        self.backward(net)
        net[1].weight = nn.Parameter(net[1].weight.detach().clone())
        np.testing.assert_array_equal(self.pushed(learner), np.ones(6))
        np.testing.assert_array_equal(self.pushed(learner), np.zeros(6))

    def test_push_weights_uses_float32_offsets_for_a_mount_of_another_type(self):
        net = nn.Sequential(nn.Linear(3, 1), nn.Linear(1, 1))
        self.mounted(net, dtype="f16")
        names = modeldisk_torch.layout(net)
        for entry in names.values():
            entry.update(dtype="F16", data_offsets=[at // 2 for at in entry["data_offsets"]])
        (self.folder / "tensors.json").write_text(json.dumps(names))
        (self.folder / "weights").write_bytes(bytes(4 * 6))
        learner = self.learner(net)
        nn.init.constant_(net[1].weight, 5)
        learner.push_weights()
        np.testing.assert_array_equal(np.fromfile(self.folder / "weights", np.float32), flat(net.parameters()))

    def test_second_name_of_a_parameter_is_reported(self):
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
        self.mounted(net)
        self.named(net)
        net[1].weight = net[0].weight
        with self.assertWarnsRegex(UserWarning, r"no parameter trains \['1.weight'\]"):
            self.learner(net)

    def test_untrained_tensor_does_not_push_the_gradient_of_the_previous_learner(self):
        net, mount = self.two_layers()
        mount.write("gradient.0", [9] * 6)
        del net[1]
        with self.assertWarns(UserWarning):
            learner = self.learner(net)
        np.testing.assert_array_equal(self.pushed(learner), np.zeros(6))

    def test_sparse_gradient_is_pushed(self):
        net, _, learner = self.joined(nn.Embedding(3, 2, sparse=True))
        net.zero_grad(set_to_none=True)
        net(torch.tensor([1])).sum().backward()
        np.testing.assert_array_equal(self.pushed(learner), [0, 0, 1, 1, 0, 0])


class EndTest(MountedTest):
    """Steps that fail, and learners that leave the training."""

    def failed(self, learner, number):
        """Calls step() while fsync fails with this errno. Returns the message of the error."""
        with mock.patch("os.fsync", side_effect=OSError(number, os.strerror(number))):
            with self.assertRaises(OSError) as raised:
                learner.step()
        self.assertEqual(raised.exception.errno, number)
        return str(raised.exception)

    def test_failed_step_keeps_the_gradient_and_reports_the_reason(self):
        net, _, learner = self.joined(nn.Linear(3, 1))
        net(torch.ones(1, 3)).sum().backward()
        said = self.failed(learner, errno.ETIMEDOUT)
        self.assertIn("Connection timed out; call step() again with the same gradient, or drop() it", said)
        (self.folder / "status.json").write_text(json.dumps({"mount": {"lastError": "learner two is behind"}}))
        self.assertIn("learner two is behind; call step() again", self.failed(learner, errno.EBUSY))
        np.testing.assert_array_equal(self.pushed(learner), np.ones(4))

    def test_refused_gradient_with_a_nan_is_discarded(self):
        net, _, learner = self.joined(nn.Linear(3, 1))
        net(torch.full((1, 3), float("nan"))).sum().backward()
        self.assertIn("; continue with the next batch", self.failed(learner, errno.EIO))
        net(torch.ones(1, 3)).sum().backward()
        self.assertIn("; call step() again", self.failed(learner, errno.EIO))
        np.testing.assert_array_equal(self.pushed(learner), np.ones(4))

    def test_gradient_counts_once_if_the_step_is_interrupted_after_its_fsync(self):
        net, mount, learner = self.joined(nn.Linear(3, 1))

        def fsync(_):
            mount.switch(0, 1)
            raise KeyboardInterrupt

        net(torch.ones(1, 3)).sum().backward()
        with mock.patch("os.fsync", fsync), self.assertRaises(KeyboardInterrupt):
            learner.step()
        with mock.patch("os.fsync") as repeated:
            learner.step()
        repeated.assert_not_called()
        net(torch.ones(1, 3)).sum().backward()
        np.testing.assert_array_equal(self.pushed(learner), np.ones(4))

    def test_gradient_is_discarded_after_a_shard_went_back(self):
        net, _, learner = self.joined(nn.Linear(3, 1))
        net(torch.ones(1, 3)).sum().backward()
        self.assertIn("; continue with the next batch", self.failed(learner, errno.ESTALE))
        net(torch.ones(1, 3)).sum().backward()
        np.testing.assert_array_equal(self.pushed(learner), np.ones(4))

    def test_drop_discards_the_gradient_in_the_mount_and_in_the_network(self):
        net, _, learner = self.joined(nn.Linear(3, 1))
        net(torch.ones(1, 3)).sum().backward()
        self.failed(learner, errno.ETIMEDOUT)
        with mock.patch("os.setxattr") as dropped:
            learner.drop()
        dropped.assert_called_once_with(learner.control.fileno(), "user.modeldisk.drop", b"")
        net(torch.ones(1, 3)).sum().backward()
        np.testing.assert_array_equal(self.pushed(learner), np.ones(4))
        with mock.patch("os.setxattr", side_effect=OSError(errno.EIO, "")), self.assertRaises(OSError):
            learner.drop()

    def test_closed_learner_keeps_its_weights_and_refuses_steps(self):
        net = nn.Linear(3, 1)
        mount = self.mounted(net)
        mount.write("weights.0", range(4))
        with self.assertRaises(KeyboardInterrupt):
            with modeldisk_torch.Learner(net, self.folder) as learner:
                raise KeyboardInterrupt
        mount.write("weights.0", [9] * 4)
        np.testing.assert_array_equal(flat(net.parameters()), range(4))
        (self.folder / "weights").touch()
        learner.close()
        for call in (learner.step, learner.push_weights, learner.drop):
            with mock.patch("os.setxattr") as dropped, self.assertRaisesRegex(ValueError, "closed file"):
                call()
            dropped.assert_not_called()

    def test_second_learner_of_a_folder_is_refused(self):
        net = nn.Linear(3, 1)
        self.mounted(net)
        with modeldisk_torch.Learner(net, self.folder):
            with self.assertRaisesRegex(OSError, r"has a Learner: close\(\) it"):
                modeldisk_torch.Learner(net, self.folder)
        self.learner(net)

    def test_forked_child_does_not_act_as_a_learner(self):
        net, _, learner = self.joined(nn.Linear(3, 1))
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        control = f"/proc/self/fd/{learner.control.fileno()}"
        net(torch.ones(1, 3)).sum().backward()
        before = flat(net.parameters()).copy()
        child = os.fork()
        if not child:
            try:
                with contextlib.suppress(OSError):
                    os.write(writer, os.readlink(control).encode())
                net.weight.grad.add_(1)
                nn.init.constant_(net.weight, 5)
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writer)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(os.read(reader, 100), b"")
        np.testing.assert_array_equal(flat(net.parameters()), before)
        np.testing.assert_array_equal(self.pushed(learner), np.ones(4))


@unittest.skipUnless(os.access("/dev/fuse", os.W_OK) and IMAGE.is_dir(), "needs /dev/fuse, and the image of a build")
class RealMountTest(unittest.TestCase):
    """Tests with a shard and a mount of modeldisk."""

    @classmethod
    def setUpClass(cls):
        with mock.patch.object(cluster, "SHARDS", 1):
            initial = functools.partial(modeldisk_torch.save, cls.network())
            cls.cluster = cls.enterClassContext(cluster.Cluster(initial, "sgd:lr=0.5", 1))
        cls.folder = cls.cluster.mount("learner").folder

    @staticmethod
    def network():
        torch.manual_seed(1)
        return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))

    def served(self):
        return np.fromfile(self.folder / "weights", np.float32)

    def train(self, net, learner):
        """Trains one iteration, with a gradient of ones."""
        for parameter in net.parameters():
            torch.autograd.backward(parameter, torch.ones_like(parameter))
        learner.step()

    def await_no_learners(self):
        end = time.monotonic() + cluster.STATUS_SECONDS
        while self.cluster.status()[0]["learners"]:
            self.assertLess(time.monotonic(), end, "the learner has not left")

    def test_network_stays_tied_to_the_model_after_conversions_and_a_nan(self):
        net = self.network()
        with modeldisk_torch.Learner(net, self.folder) as learner:
            expected = self.served()
            for move in (net.double, net.bfloat16, net.float, net.share_memory):
                move()
                if move == net.float:
                    learner.push_weights()
                    expected = flat(net.parameters())
                self.train(net, learner)
                expected = expected - np.float32(0.5)
                np.testing.assert_allclose(self.served(), expected, rtol=1e-6)
            nn.init.zeros_(net[0].weight)
            with self.assertRaisesRegex(RuntimeError, "0.weight was changed"):
                learner.step()
            learner.push_weights()
            expected[:12] = 0
            self.train(net, learner)
            expected = expected - np.float32(0.5)
            np.testing.assert_allclose(self.served(), expected, rtol=1e-6)
            net[1].bias.grad = torch.full((1,), float("nan"))
            with self.assertRaisesRegex(OSError, "; continue with the next batch"):
                learner.step()
            self.train(net, learner)
            expected = expected - np.float32(0.5)
            np.testing.assert_allclose(self.served(), expected, rtol=1e-6)
        np.testing.assert_allclose(flat(net.parameters()), expected, rtol=1e-6)
        self.await_no_learners()

    def test_another_gradient_is_refused_until_the_interrupted_one_is_dropped(self):
        class Interrupted(Exception):
            """The exception that Ctrl-C raises in a notebook."""

        def interrupt(*_):
            raise Interrupted

        net = self.network()
        with modeldisk_torch.Learner(net, self.folder) as learner:
            expected = self.served()
            before = signal.signal(signal.SIGALRM, interrupt)
            self.addCleanup(signal.signal, signal.SIGALRM, before)
            with self.cluster.processes[0].stopped(), self.assertRaises(Interrupted):
                signal.setitimer(signal.ITIMER_REAL, 0.5)
                self.train(net, learner)
            for _ in range(2):
                with self.assertRaisesRegex(OSError, r"gradient has changed.*or drop\(\) it"):
                    self.train(net, learner)
            learner.drop()
            self.train(net, learner)
            served = self.served()
            # The interrupted gradient counts only in accepted blocks. With one block, it counts completely or not at all.
            counted = round((expected - served)[0] / 0.5)
            self.assertIn(counted, (1, 2))
            np.testing.assert_allclose(served, expected - np.float32(0.5 * counted), rtol=1e-6)

    def test_killed_learner_with_a_forked_child_leaves(self):
        script = (
            "import os, signal, modeldisk_torch, test_examples\n"
            f"learner = modeldisk_torch.Learner(test_examples.RealMountTest.network(), {str(self.folder)!r})\n"
            "if os.fork():\n    print('ready: ', flush=True)\nsignal.pause()"
        )
        process = self.cluster.start("a learner with a child", sys.executable, "-c", script)
        process.await_ready()
        self.addCleanup(os.killpg, process.popen.pid, signal.SIGKILL)
        self.assertTrue(self.cluster.status()[0]["learners"])
        process.popen.kill()
        self.await_no_learners()


class DilocoTest(unittest.TestCase):
    """Tests three DiLoCo rounds of a learner with a simulated mount, whose weights never change."""

    def deltas(self, sets):
        """Returns the initial weights, and the gradient of each round."""
        pushed = []

        def step(learner):
            pushed.append(flat(parameter.grad for parameter in learner.model.parameters()))
            (folder / "partition").write_text(json.dumps({"round": len(pushed) + 1, "rank": 0, "of": 1}))
            original(learner)

        original = modeldisk_torch.Learner.step
        with tempfile.TemporaryDirectory() as temporary, mock.patch.multiple(
            fashion, network=lambda: nn.Linear(3, 2), Images=lambda _: mock.Mock(batch=self.batch)
        ), mock.patch.object(modeldisk_torch.Learner, "step", step):
            folder = pathlib.Path(temporary)
            modeldisk_torch.save(nn.Linear(3, 2), folder / "net.safetensors")
            mount = Mounted(folder, folder / "net.safetensors", sets)
            self.addCleanup(mount.close)
            (folder / "partition").write_text(json.dumps({"round": 1, "rank": 0, "of": 1}))
            lines = list(diloco.learn(folder, 3, 4, 1, 0.1))
            self.assertEqual([line["round"] for line in lines], [1, 2, 3])
            return mount.read("weights.0"), pushed

    def batch(self, step, rank, of, size):
        self.steps.append(step)
        return torch.ones(1, 3), torch.tensor([0])

    def setUp(self):
        torch.manual_seed(1)
        self.steps = []

    def test_gradient_is_the_sum_of_the_local_steps(self):
        weights, pushed = self.deltas(1)
        self.assertEqual(self.steps, list(range(12)))
        # If the direction of the gradient is constant, AdamW changes each weight by the learning rate in each step.
        np.testing.assert_allclose(np.abs(pushed[0]), 4 * 0.1, rtol=0.2)
        # The weights of the mount do not change, so each round starts from the same weights and goes in the same direction.
        for gradient in pushed[1:]:
            np.testing.assert_array_equal(np.sign(gradient), np.sign(pushed[0]))

    def test_with_overlap_a_round_starts_from_weights_that_include_the_own_previous_steps(self):
        begun = []
        original = diloco.local_steps

        def local_steps(local, *rest):
            begun.append(flat(local.parameters()))
            return original(local, *rest)

        with mock.patch.object(diloco, "local_steps", local_steps):
            weights, pushed = self.deltas(2)
        np.testing.assert_array_equal(begun[0], weights)
        for start, last in zip(begun[1:], pushed):
            np.testing.assert_allclose(start, weights - last, rtol=1e-6)
        self.assertEqual(len(begun), 3)


class ImagesTest(unittest.TestCase):
    class Numbers(fashion.Images):
        """Images without pixels. The label of an image is its number."""

        def __init__(self, count):
            self.labels = range(count)

        def choose(self, chosen):
            return chosen.tolist()

    def test_mini_batches_of_all_learners_form_the_mini_batch_of_one_process(self):
        images = self.Numbers(100)
        parts = [images.batch(7, rank, 2, 8) for rank in range(2)]
        self.assertEqual(sorted(parts[0] + parts[1]), sorted(images.batch(7, 0, 1, 16)))
        self.assertEqual([len(part) for part in parts], [8, 8])

    def test_epoch_contains_each_image_once(self):
        images = self.Numbers(96)
        steps = [images.batch(step, rank, 2, 8) for step in range(6) for rank in range(2)]
        self.assertEqual(sorted(sum(steps, [])), list(range(96)))
        self.assertNotEqual(images.batch(6, 0, 2, 8), steps[0])


class TrainTest(unittest.TestCase):
    def test_table_has_a_row_for_each_way_to_train(self):
        plain, learners = object.__new__(train.Result), object.__new__(train.Result)
        plain.__dict__.update(name="one", steps=5, moved=None, seconds=1, loss=0.5, accuracy=0.25)
        learners.__dict__.update(name="two", steps=10, moved=2_500_000, seconds=2, loss=0.25, accuracy=0.5)
        lines = train.table([plain, learners])
        self.assertEqual(lines[1].split(), ["one", "5", "-", "1", "s", "0.5000", "0.2500"])
        self.assertEqual(lines[2].split(), ["two", "10", "2.5", "MB", "2", "s", "0.2500", "0.5000"])

    def test_only_losses_need_enough_steps_to_be_judged(self):
        few, enough = train.parse(["torch", "--steps", "10"]), train.parse(["torch"])
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(train.judge(few, [("loss", False)], [("law", True)]))
            self.assertFalse(train.judge(few, [("loss", True)], [("law", False)]))
            self.assertFalse(train.judge(enough, [("loss", True), ("other loss", False)]))
            self.assertTrue(train.judge(enough, [("loss", True)], [("law", True)]))

    def test_invalid_options_are_refused(self):
        contradictions = ["torch --local-steps 5", "diloco --steps 60", "diloco --exchange sync", "torch --batch 0", "other"]
        for wrong in map(str.split, contradictions):
            with self.assertRaises(SystemExit) as exit, contextlib.redirect_stderr(io.StringIO()):
                train.parse(wrong)
            self.assertEqual(exit.exception.code, 2)


class ProcessTest(unittest.TestCase):
    def test_lines_of_a_program_can_be_awaited(self):
        process = cluster.Process("one", ["sh", "-c", "echo first; echo ready: on 1"])
        self.assertEqual(process.await_ready(), "ready: on 1")
        self.assertEqual(process.line(0), "first")
        self.assertIsNone(process.line(2))
        process.end()

    def test_waiting_for_a_program_that_hangs_fails(self):
        process = cluster.Process("one", ["sleep", "60"])
        with mock.patch.object(cluster, "SILENCE_SECONDS", 0.1):
            with self.assertRaisesRegex(cluster.Failure, "one has not exited"):
                process.status()
            with self.assertRaisesRegex(cluster.Failure, "one has printed nothing"):
                process.line(0)
        process.end()

    def test_waiting_for_a_program_that_exits_early_fails(self):
        process = cluster.Process("one", ["true"])
        with self.assertRaisesRegex(cluster.Failure, "one exited before it was ready"):
            process.await_ready()
        process.end()

    def test_paused_program_continues_after_a_failure(self):
        process = cluster.Process("one", ["sh", "-c", "while :; do echo on; sleep 0.02; done"])
        process.line(0)
        with self.assertRaisesRegex(cluster.Failure, "test"):
            with process.stopped():
                os.waitid(os.P_PID, process.popen.pid, os.WSTOPPED)
                raise cluster.Failure("test")
        self.assertEqual(process.line(len(process.lines) + 5), "on")
        process.end()


class ClusterTest(unittest.TestCase):
    def setUp(self):
        self.cluster = cluster.Cluster(None, "sum", 2)
        self.cluster.address = "modeldisk://127.0.0.1:1/fashion"
        self.addCleanup(self.cluster.temporary.cleanup)
        self.learner = cluster.Process("the learner", ["sleep", "60"])
        self.addCleanup(self.learner.end)

    def test_learner_has_joined_when_all_shards_list_it(self):
        one, both = ([{"learners": [{"learner": name}]} for name in names] for names in (("three", "one"), ("three", "three")))
        with mock.patch.object(self.cluster, "status", side_effect=[one, both]) as status:
            self.cluster.await_joined("three", self.learner)
        self.assertEqual(status.call_count, 2)

    def test_waiting_for_a_learner_that_does_not_join_fails(self):
        with mock.patch.object(self.cluster, "status", return_value=[{"learners": []}]):
            with mock.patch.object(cluster, "SILENCE_SECONDS", 0.1):
                with self.assertRaisesRegex(cluster.Failure, "the learner has not joined"):
                    self.cluster.await_joined("three", self.learner)
            self.learner.kill()
            with self.assertRaisesRegex(cluster.Failure, "the learner exited before it joined"):
                self.cluster.await_joined("three", self.learner)

    def test_status_fails_after_its_time_limit(self):
        with mock.patch("subprocess.run", side_effect=subprocess.TimeoutExpired("modeldisk", 60)):
            with self.assertRaisesRegex(cluster.Failure, "did not report their status within 60 s"):
                self.cluster.status()


if __name__ == "__main__":
    unittest.main()
