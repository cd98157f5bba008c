"""Tests of the learner with a simulated mount. Run all tests with `python3 -m unittest` in this directory."""

import contextlib
import errno
import json
import os
import pathlib
import struct
import tempfile
import unittest
from unittest import mock

import numpy as np
import torch
from torch import nn

from modeldisk import modeldisk_torch
from simulated import MountedTest, flat


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
        with self.assertRaisesRegex(ValueError, r"has 0.weight of shape \[1, 2\], the network has 0.weight of shape \[1, 3\]: freeze"):
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


class RefusalTest(MountedTest):
    """Directories and networks for which a Learner cannot be created."""

    def refusal(self, kind, net=None, folder=None):
        with self.assertRaises(kind) as raised:
            modeldisk_torch.Learner(net or nn.Linear(3, 1), folder or self.folder)
        return str(raised.exception)

    def test_directory_that_is_no_mount_with_buffers_is_named(self):
        none = self.folder / "none"
        self.assertIn("/none is not a mounted model: run `modeldisk mount ", self.refusal(FileNotFoundError, folder=none))
        self.assertIn("is not a mounted model", self.refusal(FileNotFoundError))
        (self.folder / "model").touch()
        self.assertIn("has no mapped buffers: mount it with --exchange sync or overlap", self.refusal(FileNotFoundError))
        self.assertIn("is not a mounted model", self.refusal(NotADirectoryError, folder=self.folder / "model"))

    def test_reason_why_a_learner_cannot_join_is_named(self):
        reasons = {
            errno.ENOTCONN: "the mount has ended: run `modeldisk unmount",
            errno.EROFS: "is mounted with --read-only: mount it without",
            errno.EACCES: "run as the user who mounted it, or share the mount (--uid",
            errno.EBUSY: r"close() the other Learner, or mount the model once more",
            errno.ETIMEDOUT: "Connection timed out; create the Learner again",
        }
        for number, reason in reasons.items():
            error = OSError(number, os.strerror(number))
            with self.subTest(reason), mock.patch("builtins.open", side_effect=error), mock.patch("os.access", return_value=False):
                self.assertIn(reason, self.refusal(OSError))

    def test_buffers_in_the_memory_of_another_users_process_are_named(self):
        net = nn.Linear(3, 1)
        mount = self.mounted(net)
        (mount.folder / "mapped" / "weights.0").unlink()
        (mount.folder / "mapped" / "weights.0").symlink_to("/proc/1/fd/none")
        self.assertIn("run as its user, in its PID namespace", self.refusal(OSError))

    def test_program_without_run_or_directory_is_told_both_remedies(self):
        with mock.patch.dict(os.environ), self.assertRaisesRegex(RuntimeError, r"with `modeldisk run`, or .*: Learner\(net, DIR\)"):
            os.environ.pop("MODELDISK_DIR", None)
            modeldisk_torch.Learner(nn.Linear(3, 1))

    def test_complex_parameter_is_named(self):
        net = nn.ParameterDict({"phase": nn.Parameter(torch.zeros(2, dtype=torch.complex64))})
        with self.assertRaisesRegex(TypeError, "phase has the type torch.complex64, but only floating-point"):
            modeldisk_torch.save(net, self.folder / "net.safetensors")


class NetworkTest(MountedTest):
    """Networks that are only partly in the model."""

    def test_batch_norm_is_trained_and_its_running_means_stay_local_with_a_warning(self):
        net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        mount = self.mounted(net)
        with self.assertWarnsRegex(UserWarning, "the running means are not part of the model, so each learner has its own"):
            learner = self.learner(net)
        self.assertEqual(len(mount.read("weights.0")), 6 + 3 + 3 + 3)
        net(torch.rand(4, 2)).sum().backward()
        self.assertGreater(net[1].running_mean.abs().max().item(), 0)
        np.testing.assert_allclose(self.pushed(learner)[-3:], [4, 4, 4])

    def test_tied_weights_get_the_gradients_of_both_uses(self):
        net = nn.Sequential(nn.Embedding(3, 2), nn.Linear(2, 3, bias=False))
        net[1].weight = net[0].weight
        mount = self.mounted(net)
        self.named(net)
        learner = self.learner(net)
        net(torch.tensor([1])).sum().backward()
        weights = mount.read("weights.0").reshape(3, 2)
        expected = np.tile(weights[1], (3, 1))
        expected[1] += weights.sum(0)
        np.testing.assert_allclose(self.pushed(learner).reshape(3, 2), expected, rtol=1e-6)
        mount.write("weights.0", range(6))
        np.testing.assert_array_equal(flat([net[1].weight]), range(6))

    @unittest.skipUnless(torch.cuda.is_available(), "needs a GPU")
    def test_network_on_a_gpu_is_copied_in_each_step(self):
        net, mount, learner = self.joined(nn.Linear(3, 1).cuda())
        for weights in ([1, 2, 3, 4], [5, 6, 7, 8]):
            net(torch.ones(1, 3).cuda()).sum().backward()
            mount.write("weights.0", weights)
            np.testing.assert_array_equal(self.pushed(learner), np.ones(4))
            np.testing.assert_array_equal(flat(p.cpu() for p in net.parameters()), weights)
        self.assertTrue(net.weight.is_cuda)


class RateTest(MountedTest):
    def test_learning_rate_is_an_attribute_of_the_mounted_model(self):
        _, _, learner = self.joined(nn.Linear(3, 1))
        with mock.patch("os.setxattr") as changed:
            learner.lr = 0.01
        changed.assert_called_once_with(f"{self.folder}/model", "user.modeldisk.lr", b"0.01")
        with mock.patch("os.listxattr", return_value=["user.modeldisk.lr"]), mock.patch("os.getxattr", return_value=b"0.005"):
            self.assertEqual(learner.lr, 0.005)

    def test_aggregator_without_a_rate_and_a_refused_rate_are_named(self):
        _, _, learner = self.joined(nn.Linear(3, 1))
        with mock.patch("os.listxattr", return_value=[]), self.assertRaisesRegex(OSError, "has no learning rate"):
            learner.lr
        (self.folder / "status.json").write_text(json.dumps({"mount": {"lastError": "the learning rate '-1.0' must be above 0"}}))
        with mock.patch("os.setxattr", side_effect=OSError(errno.EINVAL, "")):
            with self.assertRaisesRegex(OSError, "'-1.0' must be above 0; the learning rate is unchanged"):
                learner.lr = -1


class SamplerTest(MountedTest):
    """The parts of the training data. Some learners are simulated, with only a part; the others have a mount folder."""

    class Divided:
        """A learner whose part the test sets."""

        def __init__(self, rank, of):
            self.rank, self.of = rank, of

        def part(self):
            return self.rank, self.of

        def sampler(self, count, seed=0):
            return modeldisk_torch.PartSampler(self, range(count), seed)

    def test_each_sample_belongs_to_exactly_one_learner(self):
        for count, of in ((10, 1), (10, 3), (2, 3), (0, 2)):
            samplers = [self.Divided(rank, of).sampler(count) for rank in range(of)]
            parts = [list(sampler) for sampler in samplers]
            self.assertEqual(sorted(sum(parts, [])), list(range(count)))
            self.assertEqual([len(part) for part in parts], [len(sampler) for sampler in samplers])

    def test_order_depends_on_the_seed_and_on_the_epoch(self):
        sampler, other = self.Divided(0, 1).sampler(50), self.Divided(0, 1).sampler(50, seed=1)
        first, second = list(sampler), list(sampler)
        self.assertEqual(len({tuple(order) for order in (first, second, list(other))}), 3)
        sampler.set_epoch(0)
        self.assertEqual(list(sampler), first)

    def test_learners_that_stay_divide_the_rest_of_the_epoch(self):
        learners = [self.Divided(rank, 3) for rank in range(3)]
        orders = [iter(learner.sampler(30)) for learner in learners]
        drawn = [next(order) for order in orders for _ in range(4)]
        learners[0].of = learners[2].of = 2
        learners[2].rank = 1
        drawn += [*orders[0], *orders[2]]
        self.assertEqual(sorted(drawn), list(range(30)))

    def test_part_is_read_once_in_each_iteration(self):
        _, _, learner = self.joined(nn.Linear(3, 1))
        (self.folder / "partition").write_text('{"rank":1,"of":2,"epoch":1,"round":1}')
        self.assertEqual((learner.rank, learner.of), (1, 2))
        (self.folder / "partition").write_text('{"rank":0,"of":1,"epoch":2,"round":2}')
        self.assertEqual((learner.rank, learner.of), (1, 2))
        learner.step()
        self.assertEqual((learner.rank, learner.of), (0, 1))
        (self.folder / "partition").write_text('{"rank":null,"of":null,"epoch":null,"round":null}')
        learner.step()
        self.assertEqual((learner.rank, learner.of), (0, 1))

    def test_learner_without_a_part_is_told(self):
        _, _, learner = self.joined(nn.Linear(3, 1))
        (self.folder / "partition").write_text('{"rank":null,"of":2,"epoch":1,"round":1}')
        with self.assertRaisesRegex(RuntimeError, "gives this learner no part of the data yet"):
            learner.rank

    def test_data_loader_with_workers_loads_the_part(self):
        net, _, learner = self.joined(nn.Linear(1, 1))
        (self.folder / "partition").write_text('{"rank":1,"of":2,"epoch":1,"round":1}')
        data = torch.utils.data.TensorDataset(torch.arange(10.0))
        loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=2, sampler=learner.sampler(data))
        loaded = []
        for (batch,) in loader:
            net(batch[:, None]).sum().backward()
            learner.step()
            loaded += batch.tolist()
        self.assertEqual(sorted(loaded), sorted(list(self.Divided(1, 2).sampler(10))))
        self.assertEqual(len(loader), 3)


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
        with self.assertRaisesRegex(ValueError, r"has no tensor 2.weight, the network has 2.weight of shape \[2, 1\]: freeze it, or serve"):
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

    def rolled_back(self, number, text, **options):
        """Calls step() while fsync fails because a shard has gone back, and the mount has pulled the weights 0 to 3."""
        net, mount = nn.Linear(3, 1), self.mounted(nn.Linear(3, 1))
        (self.folder / "status.json").write_text(json.dumps({"mount": {"lastError": text}}))
        learner = modeldisk_torch.Learner(net, self.folder, **options)
        self.addCleanup(learner.close)
        net(torch.ones(1, 3)).sum().backward()
        mount.write("weights.0", range(4))
        with mock.patch("os.fsync", side_effect=OSError(number, os.strerror(number))):
            learner.step()
        return net, learner

    def test_learner_continues_with_one_warning_after_a_shard_went_back(self):
        reasons = {
            errno.ESTALE: "shard 0 has forgotten this learner",
            errno.EIO: "shard 0 has gone back to earlier weights, which takes back 3 rounds of this learner",
        }
        for number, reason in reasons.items():
            with self.subTest(reason), tempfile.TemporaryDirectory() as temporary:
                self.folder = pathlib.Path(temporary)
                with self.assertWarnsRegex(UserWarning, f"^{reason}; this gradient is lost, and the training continues") as warned:
                    net, learner = self.rolled_back(number, reason)
                self.assertEqual(len(warned.warnings), 1)
                self.assertEqual(pathlib.Path(warned.filename).name, "test_learner.py")
                np.testing.assert_array_equal(flat(net.parameters()), range(4))
                net(torch.ones(1, 3)).sum().backward()
                np.testing.assert_array_equal(self.pushed(learner), np.ones(4))
                learner.close()

    def test_step_raises_after_a_shard_went_back_if_the_program_asks_for_it(self):
        with self.assertRaisesRegex(OSError, "has gone back; continue with the next batch"):
            self.rolled_back(errno.EIO, "shard 0 has gone back", rollback="raise")
        with self.assertRaisesRegex(ValueError, "rollback='fail' must be 'continue' or 'raise'"):
            modeldisk_torch.Learner(nn.Linear(3, 1), self.folder, rollback="fail")

    def test_another_model_under_the_same_name_ends_the_training(self):
        reason = "shard 0 was restarted with another model of the name m; unmount the model and mount it again"
        with self.assertRaisesRegex(OSError, f"{reason}; then make a new Learner"):
            self.rolled_back(errno.ESTALE, reason)

    def test_end_of_the_mount_is_an_error_that_says_what_to_do(self):
        net, _, learner = self.joined(nn.Linear(3, 1))
        (self.folder / "status.json").write_text(json.dumps({"mount": {"lastError": "an older error"}}))
        self.assertIn("not connected; the mount has ended: run `modeldisk unmount ", self.failed(learner, errno.ENOTCONN))

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
            with mock.patch("os.setxattr") as dropped, self.assertRaisesRegex(ValueError, "Learner of .* is closed"):
                call()
            dropped.assert_not_called()

    def test_second_learner_of_a_folder_or_of_a_network_is_refused(self):
        net = nn.Linear(3, 1)
        self.mounted(net)
        with modeldisk_torch.Learner(net, self.folder):
            with self.assertRaisesRegex(OSError, r"has a Learner: close\(\) it"):
                modeldisk_torch.Learner(nn.Linear(3, 1), self.folder)
            with self.assertRaisesRegex(RuntimeError, r"this network has a Learner already: close\(\) it"):
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


if __name__ == "__main__":
    unittest.main()
