"""Tests of the learner without modeldisk. Run them with `python3 -m unittest` in this directory."""

import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import digits
import evaluate
import learner
import plain

HERE = pathlib.Path(__file__).parent


class BspShard:
    """Simulates a mounted model in bsp mode. When all learners have called fsync, applies the mean of the gradients."""

    floats = digits.WEIGHTS + 6

    def __init__(self, learners):
        self.learners = learners
        self.weights = np.zeros(self.floats, np.float32)
        self.weights[: digits.WEIGHTS] = digits.initial_weights()
        self.total = np.zeros(self.floats, np.float32)
        self.lock = threading.Lock()
        self.round = threading.Barrier(learners, self.apply, timeout=60)

    def apply(self):
        # The shard computes w - (lr * 1/n) * sum with a fused multiply-add, which rounds once.
        factor = np.float32(digits.LEARNING_RATE) * np.float32(1 / self.learners)
        self.weights[:] = self.weights.astype(np.float64) - np.float64(factor) * self.total.astype(np.float64)
        self.total[:] = 0

    def begin(self):
        return self.weights.copy(), np.zeros(self.floats, np.float32)

    def end(self, gradient):
        with self.lock:
            self.total += gradient
        self.round.wait()


class LearnerTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.file = self.directory / "model"
        self.file.write_bytes(digits.initial_weights().tobytes() + bytes(24))
        self.partition(rank=0, of=1)

    def partition(self, **members):
        (self.directory / "partition").write_text(json.dumps(members) + "\n")

    def run_learner(self, *options, **process):
        return subprocess.Popen([sys.executable, HERE / "learner.py", "--file", self.file, *options], **process)

    def test_two_learners_reach_the_weights_of_the_plain_training(self):
        shard, iterations = BspShard(2), 60
        threads = [
            threading.Thread(target=learner.learn, args=(shard, partition, iterations, digits.BATCH))
            for partition in (lambda: (0, 2), lambda: (1, 2))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = plain.train(2, iterations, digits.BATCH, digits.LEARNING_RATE)
        difference = evaluate.compare(shard.weights[: digits.WEIGHTS], expected)
        self.assertLess(difference["relative"], 1e-5)

    def test_plain_training_with_delay_1_uses_the_weights_of_the_previous_step(self):
        training, _ = digits.load()
        batches = digits.batches(*training, 0, 1, digits.BATCH)
        rate, gradient = np.float32(digits.LEARNING_RATE), np.zeros(digits.WEIGHTS, np.float32)
        steps = [digits.initial_weights()]
        for step in range(4):
            digits.gradient(steps[max(0, step - 1)], *next(batches), gradient)
            steps.append(steps[-1] - rate * gradient)
        np.testing.assert_array_equal(plain.train(1, 4, digits.BATCH, digits.LEARNING_RATE, delay=1), steps[-1])

    def test_learner_writes_the_gradient_of_the_weights_that_it_read(self):
        progress = self.directory / "progress"
        self.assertEqual(self.run_learner("--part", "2/2", "--iterations", "1", "--progress", progress).wait(), 0)
        training, _ = digits.load()
        expected = np.zeros(digits.WEIGHTS, np.float32)
        loss = digits.gradient(
            digits.initial_weights(), *next(digits.batches(*training, 1, 2, digits.BATCH)), expected
        )
        written = self.file.read_bytes()
        self.assertEqual(len(written), 4 * digits.WEIGHTS + 24)
        np.testing.assert_allclose(np.frombuffer(written, np.float32)[: digits.WEIGHTS], expected, rtol=1e-5, atol=1e-7)
        line = json.loads(progress.read_text())
        self.assertEqual(line["iteration"], 1)
        self.assertAlmostEqual(line["loss"], loss, places=4)
        self.assertTrue(0 < line["accuracy"] < 1)

    def test_learner_with_mapped_buffers_stores_the_same_gradient(self):
        self.assertEqual(self.run_learner("--part", "2/2", "--iterations", "1").wait(), 0)
        mapped = self.directory / "mapped"
        mapped.mkdir()
        for n in range(2):
            (mapped / f"weights.{n}").write_bytes(digits.initial_weights().tobytes())
            (mapped / f"gradient.{n}").write_bytes(bytes(4 * digits.WEIGHTS))
        (mapped / "control").touch()
        by_file, self.file = self.file.read_bytes(), mapped / "control"
        self.assertEqual(self.run_learner("--part", "2/2", "--iterations", "1").wait(), 0)
        self.assertEqual((mapped / "gradient.0").read_bytes(), by_file[: 4 * digits.WEIGHTS])
        self.assertEqual((mapped / "gradient.1").read_bytes(), bytes(4 * digits.WEIGHTS))

    def test_learner_without_the_option_part_uses_the_file_partition(self):
        self.partition(rank=1, of=2)
        self.assertEqual(self.run_learner("--iterations", "1").wait(), 0)
        by_file = self.file.read_bytes()
        self.setUp()
        self.assertEqual(self.run_learner("--iterations", "1", "--part", "2/2").wait(), 0)
        self.assertEqual(self.file.read_bytes(), by_file)

    def test_learner_changes_its_images_when_the_partition_changes(self):
        training, _ = digits.load()
        parts = [(1, 2), (1, 2), (0, 1)]
        found = learner.batches(training, mock.Mock(side_effect=parts), 8)
        before, alone = digits.batches(*training, 1, 2, 8), digits.batches(*training, 0, 1, 8)
        for expected in (before, before, alone):
            np.testing.assert_array_equal(next(found)[0], next(expected)[0])

    def test_learner_reports_a_file_partition_without_a_rank(self):
        self.partition(rank=None, of=None)
        process = self.run_learner(stderr=subprocess.PIPE, text=True)
        self.assertRegex(process.communicate()[1], r"^learner.py: .*partition gives this learner no part of the images: ")
        self.assertEqual(process.returncode, 1)

    def test_learner_continues_after_short_reads_and_writes(self):
        preadv, pwrite = os.preadv, os.pwrite
        with mock.patch("os.preadv", lambda fd, views, at: preadv(fd, [views[0][:1000]], at)), mock.patch(
            "os.pwrite", lambda fd, view, at: pwrite(fd, view[:1000], at)
        ), learner.ModelFile(self.file) as model:
            weights, _ = model.begin()
            self.assertEqual(weights.tobytes(), self.file.read_bytes())
            model.write(weights + 1)
        self.assertEqual((weights + 1).tobytes(), self.file.read_bytes())

    def test_learner_exits_without_a_traceback_after_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            progress = self.directory / f"progress{number}"
            process = self.run_learner(
                "--iterations", "1000000", "--progress", progress, stderr=subprocess.PIPE, text=True
            )
            while not progress.exists() and process.poll() is None:
                pass
            process.send_signal(number)
            self.assertEqual(process.communicate()[1], "")
            self.assertEqual(process.returncode, 128 + number)

    def test_learner_refuses_a_file_that_is_smaller_than_the_model(self):
        self.file.write_bytes(bytes(4096))
        process = self.run_learner(stderr=subprocess.PIPE, text=True)
        self.assertRegex(process.communicate()[1], r"^learner.py: .*model has 4096 bytes, but the digits model needs 153640$")
        self.assertEqual(process.returncode, 1)


class DigitsTest(unittest.TestCase):
    def test_gradient_is_the_slope_of_the_loss(self):
        (images, labels), _ = digits.load()
        weights, gradient = digits.initial_weights(), np.zeros(digits.WEIGHTS, np.float32)
        digits.gradient(weights, images[:64], labels[:64], gradient)
        step, unused = np.float32(1e-2) * gradient / np.linalg.norm(gradient), np.zeros_like(gradient)
        rise = digits.gradient(weights + step, images[:64], labels[:64], unused) - digits.gradient(
            weights - step, images[:64], labels[:64], unused
        )
        self.assertAlmostEqual(rise / 2e-2 / np.linalg.norm(gradient), 1, places=2)

    def test_safetensors_file_contains_the_weights_in_order_and_aligned(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "digits.safetensors"
            digits.write_safetensors(digits.initial_weights(), path)
            content = path.read_bytes()
            self.assertTrue(np.array_equal(digits.read_weights(path), digits.initial_weights()))
        length = struct.unpack_from("<Q", content)[0]
        self.assertEqual(length % 8, 0)
        header = json.loads(content[8 : 8 + length])
        self.assertEqual(list(header), ["w1", "b1", "w2", "b2"])
        self.assertEqual(header["b2"], {"dtype": "F32", "shape": [10], "data_offsets": [153600, 153640]})
        self.assertEqual(len(content), 8 + length + 153640)

    def test_training_images_contain_no_held_out_image(self):
        (images, _), (held_out, _) = digits.load()
        self.assertEqual((len(images), len(held_out)), (1438, 359))
        self.assertFalse({image.tobytes() for image in images} & {image.tobytes() for image in held_out})


if __name__ == "__main__":
    unittest.main()
