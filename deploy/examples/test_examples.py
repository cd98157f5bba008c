"""Tests of the PyTorch examples, without a mount. Run them with `python3 -m unittest` in this directory."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import numpy as np
import torch
from torch import nn

PYTHON = pathlib.Path(__file__).resolve().parents[1] / "python"
sys.path.append(str(PYTHON))
import cluster
import diloco
import fashion
import modeldisk
import train
from simulated import Mounted, flat


class DilocoTest(unittest.TestCase):
    """Tests three DiLoCo rounds of a learner with a simulated mount, whose weights never change."""

    def deltas(self, sets):
        """Returns the initial weights, and the gradient of each round."""
        pushed = []

        def step(learner):
            pushed.append(flat(parameter.grad for parameter in learner.model.parameters()))
            (folder / "partition").write_text(json.dumps({"round": len(pushed) + 1, "rank": 0, "of": 1}))
            original(learner)

        original = modeldisk.Learner.step
        with tempfile.TemporaryDirectory() as temporary, mock.patch.multiple(
            fashion, network=lambda: nn.Linear(3, 2), Images=lambda _: mock.Mock(batch=self.batch)
        ), mock.patch.object(modeldisk.Learner, "step", step):
            folder = pathlib.Path(temporary)
            modeldisk.save(nn.Linear(3, 2), folder / "net.safetensors")
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
