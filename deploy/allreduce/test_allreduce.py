"""Tests of the measurement without modeldisk. Run them with `python3 -m unittest` in this directory."""

import pathlib
import tempfile
import types
import unittest

import numpy as np

import main
import worker

COUNT = 4096


class Buffers:
    """Simulates the mapped buffers of a mount in files, and the rounds of a shard."""

    def __init__(self, folder, sets):
        self.mount = pathlib.Path(folder)
        mapped = self.mount / "mapped"
        mapped.mkdir()
        (mapped / "control").touch()
        for number in range(sets):
            for name in ("weights", "gradient"):
                (mapped / f"{name}.{number}").write_bytes(bytes(4 * COUNT))
        self.learner = worker.Mapped(types.SimpleNamespace(mount=self.mount, rank=1))

    def apply(self, number, rounds):
        """Stores the weights after a number of rounds. In each round, the other learner's gradient is half of this learner's."""
        gradient = np.fromfile(self.mount / "mapped" / "gradient.0", np.float32)
        (-rounds * 0.75 * gradient).astype(np.float32).tofile(self.mount / "mapped" / f"weights.{number}")


class WorkerTest(unittest.TestCase):
    def test_weights_after_each_round_pass_the_check(self):
        with tempfile.TemporaryDirectory() as folder:
            buffers = Buffers(folder, 1)
            for rounds in (1, 2, 3):
                buffers.learner.prepare()
                buffers.learner.exchange()
                buffers.apply(0, rounds)
                buffers.learner.check()

    def test_a_round_that_is_lost_or_counts_twice_fails_the_check(self):
        for rounds in (1, 3):
            with tempfile.TemporaryDirectory() as folder:
                buffers = Buffers(folder, 1)
                buffers.learner.prepare()
                buffers.learner.exchange()
                buffers.learner.exchange()
                buffers.apply(0, rounds)
                with self.assertRaisesRegex(ValueError, "after 2 rounds, weight 1 is"):
                    buffers.learner.check()

    def test_weights_of_two_buffer_sets_lack_the_last_round(self):
        with tempfile.TemporaryDirectory() as folder:
            buffers = Buffers(folder, 2)
            buffers.learner.check()
            for _ in range(2):
                buffers.learner.prepare()
                buffers.learner.exchange()
            buffers.apply(0, 1)
            buffers.learner.check()


class TableTest(unittest.TestCase):
    RESULT = {
        "bytes": 36_000_000,
        "datamover": "shm",
        "mapped": "passthrough",
        "syncSeconds": [0.010, 0.020, 0.030],
        "glooSeconds": [0.020, 0.020, 0.020],
        "overlapComputationSeconds": 0.040,
        "overlapWaitSeconds": [0.0001, 0.0002, 0.0003],
    }

    def test_table_shows_medians_and_the_ratio_with_its_range(self):
        heading, row = main.table([self.RESULT])
        self.assertIn("sync / gloo", heading)
        self.assertEqual(row.split(), ["36", "shm", "20.0", "20.0", "1.00", "(0.50-1.50)", "40.0", "0.20"])

    def test_option_megabytes_gives_whole_numbers_of_weights(self):
        self.assertEqual(main.parse(["--megabytes", "36,0.0041"]).megabytes, [36_000_000, 4100])
        self.assertEqual(main.parse([]).megabytes, [36_000_000, 204_000_000])


if __name__ == "__main__":
    unittest.main()
