"""Tests of the learner with a shard and a mount of modeldisk."""

import functools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import numpy as np
import torch
from torch import nn

import modeldisk
from simulated import flat

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"
sys.path.append(str(EXAMPLES))
import cluster

IMAGE = EXAMPLES.parent / "image" / "target" / "modeldisk"


@unittest.skipUnless(os.access("/dev/fuse", os.W_OK) and IMAGE.is_dir(), "needs /dev/fuse, and the image of a build")
class RealMountTest(unittest.TestCase):
    """Tests with a shard and a mount of modeldisk."""

    @classmethod
    def setUpClass(cls):
        with mock.patch.object(cluster, "SHARDS", 1):
            initial = functools.partial(modeldisk.save, cls.network())
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
        with modeldisk.Learner(net, self.folder) as learner:
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
        # With shared memory, the shard might take the other gradient, because it reads the buffers only after it continues.
        with mock.patch.object(self.cluster, "mount_options", ("--datamover", "tcp")):
            folder = self.cluster.mount("interrupted").folder
        with modeldisk.Learner(net, folder) as learner:
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
            "import os, signal, modeldisk, test_mount\n"
            f"learner = modeldisk.Learner(test_mount.RealMountTest.network(), {str(self.folder)!r})\n"
            "if os.fork():\n    print('ready: ', flush=True)\nsignal.pause()"
        )
        process = self.cluster.start("a learner with a child", sys.executable, "-c", script)
        process.await_ready()
        self.addCleanup(os.killpg, process.popen.pid, signal.SIGKILL)
        self.assertTrue(self.cluster.status()[0]["learners"])
        process.popen.kill()
        self.await_no_learners()

    def test_learning_rate_is_set_and_read_through_the_mount(self):
        net = self.network()
        with modeldisk.Learner(net, self.folder) as learner:
            self.assertEqual(learner.lr, 0.5)
            learner.lr = 0.25
            self.assertEqual(learner.lr, 0.25)
            before = self.served()
            self.train(net, learner)
            np.testing.assert_allclose(self.served(), before - np.float32(0.25), rtol=1e-6)
            with self.assertRaisesRegex(OSError, "'-1.0' must be a finite number above 0"):
                learner.lr = -1
            learner.lr = 0.5

    def test_sampler_draws_the_part_of_the_learner(self):
        data = torch.utils.data.TensorDataset(torch.arange(6.0))
        net = self.network()
        with modeldisk.Learner(net, self.folder) as learner:
            self.assertEqual((learner.rank, learner.of), (0, 1))
            drawn = []
            for (batch,) in torch.utils.data.DataLoader(data, batch_size=2, sampler=learner.sampler(data)):
                drawn += batch.tolist()
                self.train(net, learner)
        self.assertEqual(sorted(drawn), list(range(6)))

    def test_second_learner_in_another_process_is_refused(self):
        script = f"import modeldisk, test_mount\nmodeldisk.Learner(test_mount.RealMountTest.network(), {str(self.folder)!r})"
        with modeldisk.Learner(self.network(), self.folder):
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        self.assertRegex(done.stderr.splitlines()[-1], "^OSError: .*(close\\(\\) |another learner|mount the model once more)")

    def test_learner_continues_after_a_shard_was_restarted_with_earlier_weights(self):
        net = self.network()
        initial = flat(net.parameters()).copy()
        with modeldisk.Learner(net, self.folder) as learner:
            self.train(net, learner)
            shard = self.cluster.processes[0]
            shard.kill()
            shard.end()
            portal = self.cluster.address.split("/")[2]
            command = [portal if word == "127.0.0.1:0" else word for word in shard.popen.args]
            self.cluster.processes[0] = cluster.Process("the restarted shard", command)
            self.cluster.processes[0].await_ready()
            with self.assertWarnsRegex(UserWarning, "gone back to earlier weights.*; this gradient is lost, and"):
                self.train(net, learner)
            np.testing.assert_array_equal(flat(net.parameters()), initial)
            self.train(net, learner)
            np.testing.assert_allclose(self.served(), initial - np.float32(0.5), rtol=1e-6)

    def test_mount_without_buffers_and_dead_mount_are_named(self):
        with mock.patch.object(self.cluster, "mount_options", ("--exchange", "direct")):
            mount = self.cluster.mount("direct")
        with self.assertRaisesRegex(OSError, "has no mapped buffers: mount it with --exchange sync or overlap"):
            modeldisk.Learner(self.network(), mount.folder)
        mount.process.kill()
        with self.assertRaisesRegex(OSError, "the mount has ended: run `modeldisk unmount "):
            modeldisk.Learner(self.network(), mount.folder)


@unittest.skipUnless(os.access("/dev/fuse", os.W_OK) and IMAGE.is_dir(), "needs /dev/fuse, and the image of a build")
class RealRunTest(unittest.TestCase):
    """Two processes train one network. The test does what `modeldisk run` does: it starts the shard and the mounts."""

    PROGRAM = """
import torch, modeldisk
net = torch.nn.Linear(2, 1)
data = torch.utils.data.TensorDataset(torch.eye(2).repeat(4, 1))
with modeldisk.Learner(net) as learner:
    for epoch in range(2):
        drawn = 0
        for (batch,) in torch.utils.data.DataLoader(data, batch_size=2, sampler=learner.sampler(data)):
            net(batch).mean().backward()
            learner.step()
            drawn += len(batch)
        print(f"epoch {epoch}: {drawn} of {len(data)} samples", flush=True)
    print(f"rank {learner.rank} of {learner.of}", flush=True)
    print(net.weight.tolist(), net.bias.item(), flush=True)
"""

    def test_learners_of_a_run_train_the_network_of_rank_0(self):
        temporary = tempfile.TemporaryDirectory(prefix="modeldisk-examples.")
        self.addCleanup(temporary.cleanup)
        run = pathlib.Path(temporary.name)
        served = run / "model.safetensors"
        with mock.patch.object(cluster, "SHARDS", 1):
            shards = cluster.Cluster(functools.partial(shutil.copy, served), "sgd:lr=0.5", 2)
        self.addCleanup(shards.__exit__)
        learners = []
        for rank in reversed(range(2)):
            environment = {"MODELDISK_RUN": str(run), "MODELDISK_DIR": str(shards.folder / f"rank{rank}"), "RANK": str(rank),
                           "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "PYTHONPATH": str(HERE)}
            learners.append(shards.start(f"rank {rank}", sys.executable, "-c", self.PROGRAM, environment=environment))
        self.await_file(served)
        self.await_file(run / "learner-1")
        with mock.patch.object(cluster, "SHARDS", 1):
            shards.__enter__()
        for rank in range(2):
            shards.mount(f"rank{rank}")
        (run / "ready").touch()
        lines = [[learner.line(number) for number in range(4)] for learner in learners]
        epochs = ["epoch 0: 4 of 8 samples", "epoch 1: 4 of 8 samples"]
        self.assertEqual([each[:3] for each in lines], [[*epochs, "rank 1 of 2"], [*epochs, "rank 0 of 2"]])
        self.assertEqual([learner.status() for learner in learners], [0, 0])
        self.assertEqual(lines[0][3], lines[1][3])

    def await_file(self, path):
        end = time.monotonic() + cluster.STATUS_SECONDS
        while not path.exists():
            self.assertLess(time.monotonic(), end, f"{path} is missing")
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
