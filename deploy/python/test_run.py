"""Tests of the learner under a simulated `modeldisk run`: a thread creates the files that run creates."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

import torch
from torch import nn

from modeldisk import modeldisk_torch
from simulated import Mounted, MountedTest, flat

HERE = pathlib.Path(__file__).resolve().parent
WAIT_SECONDS = 30


class RunTest(MountedTest):
    def setUp(self):
        super().setUp()
        self.run_folder, self.mount_folder = self.folder / "run", self.folder / "mount"
        self.run_folder.mkdir()
        self.mount_folder.mkdir()
        self.enterContext(mock.patch.dict(os.environ))
        self.rank(0, 2)

    def rank(self, rank, of):
        os.environ.update(MODELDISK_RUN=str(self.run_folder), MODELDISK_DIR=str(self.mount_folder))
        os.environ.update(RANK=str(rank), WORLD_SIZE=str(of), LOCAL_RANK=str(rank))

    def in_time(self, name):
        """Waits until the run directory has a file."""
        end = time.monotonic() + WAIT_SECONDS
        while not (self.run_folder / name).exists():
            self.assertLess(time.monotonic(), end, f"{name} is missing")
            time.sleep(0.005)
        return self.run_folder / name

    def mount(self, file):
        """Mounts the model of this file, with the names of its tensors."""
        content = file.read_bytes()
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        (self.mount_folder / "tensors.json").write_text(json.dumps(header))
        mount = Mounted(self.mount_folder, file)
        self.addCleanup(mount.close)

    @contextlib.contextmanager
    def running(self, act):
        """Runs a function, which simulates `modeldisk run`, in a thread beside the block."""
        thread = threading.Thread(target=act)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def serve(self):
        self.mount(self.in_time("model.safetensors"))
        (self.run_folder / "ready").touch()

    def made(self, net):
        learner = modeldisk_torch.Learner(net)
        self.addCleanup(learner.close)
        return learner

    def test_rank_0_gives_its_weights_and_trains_the_model(self):
        net = nn.Linear(3, 1)
        before = flat(net.parameters()).copy()
        with self.running(self.serve):
            learner = self.made(net)
        self.assertEqual((self.run_folder / "learner-0").read_text().strip(), str(os.getpid()))
        self.assertEqual((learner.rank, learner.of), (0, 2))
        self.assertEqual(flat(net.parameters()).tolist(), before.tolist())
        self.assertEqual({path.name for path in self.run_folder.iterdir()}, {"learner-0", "model.safetensors", "ready"})

    def test_other_rank_takes_the_weights_of_rank_0(self):
        self.rank(1, 2)
        first, second = nn.Linear(3, 1), nn.Linear(3, 1)

        def rank_0():
            self.in_time("learner-1")
            modeldisk_torch.save(first, self.run_folder / "model.safetensors")
            self.serve()

        with self.running(rank_0):
            learner = self.made(second)
        self.assertEqual(learner.rank, 1)
        self.assertEqual(flat(second.parameters()).tolist(), flat(first.parameters()).tolist())

    def test_model_that_is_served_already_keeps_its_weights(self):
        served, net = nn.Linear(3, 1), nn.Linear(3, 1)
        modeldisk_torch.save(served, self.folder / "served.safetensors")
        self.mount(self.folder / "served.safetensors")
        (self.run_folder / "ready").touch()
        self.made(net)
        self.assertFalse((self.run_folder / "model.safetensors").exists())
        self.assertEqual(flat(net.parameters()).tolist(), flat(served.parameters()).tolist())

    def test_directory_alone_is_enough(self):
        net = nn.Linear(3, 1)
        modeldisk_torch.save(net, self.folder / "served.safetensors")
        self.mount(self.folder / "served.safetensors")
        del os.environ["MODELDISK_RUN"]
        (self.mount_folder / "partition").write_text('{"rank":2,"of":3,"epoch":1,"round":1}')
        learner = self.made(net)
        self.assertEqual((learner.rank, learner.of), (2, 3))
        self.assertEqual(list(self.run_folder.iterdir()), [])

    def test_failure_and_end_of_run_end_the_wait(self):
        def fail():
            self.in_time("model.safetensors")
            (self.run_folder / "failed").write_text("shard 0 has no memory for the model\n")

        with self.running(fail), self.assertRaisesRegex(RuntimeError, "^`modeldisk run` has failed: shard 0 has no memory"):
            modeldisk_torch.Learner(nn.Linear(3, 1))

        def end():
            (self.run_folder / "failed").unlink()
            shutil.rmtree(self.run_folder)

        end()
        with self.assertRaisesRegex(RuntimeError, "^`modeldisk run` has ended: start it again"):
            modeldisk_torch.Learner(nn.Linear(3, 1))

    def test_other_rank_says_what_it_waits_for(self):
        self.rank(1, 2)

        def serve():
            time.sleep(0.2)
            modeldisk_torch.save(nn.Linear(3, 1), self.run_folder / "model.safetensors")
            time.sleep(0.2)
            self.serve()

        with mock.patch.object(modeldisk_torch, "REMINDER", 0.05), contextlib.redirect_stderr(io.StringIO()) as said:
            with self.running(serve):
                self.made(nn.Linear(3, 1))
        self.assertRegex(said.getvalue(), "rank 1 has waited 0 s for the weights of rank 0, which has no Learner yet\n")
        self.assertRegex(said.getvalue(), "rank 1 has waited 0 s for the mount of the model\n")

    def test_network_that_differs_from_that_of_rank_0_is_named(self):
        modeldisk_torch.save(nn.Sequential(nn.Linear(3, 1)), self.folder / "served.safetensors")
        self.mount(self.folder / "served.safetensors")
        (self.run_folder / "ready").touch()
        self.rank(1, 2)
        with self.assertRaisesRegex(ValueError, r"0.weight of shape \[1, 3\], .* \[1, 4\]: build the network of rank 0"):
            modeldisk_torch.Learner(nn.Sequential(nn.Linear(4, 1)))
        with self.assertRaisesRegex(ValueError, "no tensor 1.weight, the network has 1.weight of"):
            modeldisk_torch.Learner(nn.Sequential(nn.Linear(3, 1), nn.Linear(1, 1)))

    def test_second_learner_and_forked_learner_are_refused_at_once(self):
        with self.running(self.serve):
            self.made(nn.Linear(3, 1))
        with self.assertRaisesRegex(OSError, r"has a Learner: close\(\) it"):
            modeldisk_torch.Learner(nn.Linear(3, 1))
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                modeldisk_torch.Learner(nn.Linear(3, 1))
            except RuntimeError as error:
                os.write(writer, str(error).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader) as text:
            said = text.read()
        os.waitpid(child, 0)
        self.assertRegex(said, f"process {os.getpid()} is the learner of rank 0 already, not process {child}: start more")

    def test_process_that_replaces_a_dead_one_is_the_learner_of_its_rank(self):
        dead = subprocess.Popen(["true"])
        dead.wait()
        (self.run_folder / "learner-0").write_text(f"{dead.pid}\n")
        with self.running(self.serve):
            self.made(nn.Linear(3, 1))
        self.assertEqual((self.run_folder / "learner-0").read_text().strip(), str(os.getpid()))

    def test_only_rank_0_warns_of_batch_norm(self):
        modeldisk_torch.save(nn.BatchNorm1d(3), self.folder / "served.safetensors")
        self.mount(self.folder / "served.safetensors")
        (self.run_folder / "ready").touch()
        with self.assertWarnsRegex(UserWarning, "^BatchNorm: "):
            modeldisk_torch.Learner(nn.BatchNorm1d(3)).close()
        self.rank(1, 2)
        with self.assertNoLogs(), mock.patch("warnings.warn") as warned:
            modeldisk_torch.Learner(nn.BatchNorm1d(3)).close()
        warned.assert_not_called()


class PackageTest(unittest.TestCase):
    def python(self, code, **environment):
        return subprocess.run([sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True)

    def test_pytorch_is_imported_only_when_it_is_needed(self):
        done = self.python("import sys, modeldisk; print('torch' in sys.modules, modeldisk.__all__)", PYTHONPATH=str(HERE))
        self.assertEqual(done.stdout, "False ['Learner', 'save']\n", done.stderr)

    def test_missing_pytorch_is_named_with_the_remedy(self):
        for name, path in (("modeldisk", HERE), ("modeldisk_torch", HERE / "modeldisk")):
            done = self.python(f"import sys; sys.modules['torch'] = None\nfrom {name} import Learner", PYTHONPATH=str(path))
            self.assertRegex(done.stderr.splitlines()[-1], "^ImportError: modeldisk needs PyTorch and numpy: .*torch.*; install Debian's")

    def test_version_is_that_of_modeldisk(self):
        release = re.search(r"^  <version>(.*?)(-SNAPSHOT)?</version>", (HERE.parents[1] / "pom.xml").read_text(), re.MULTILINE)
        self.assertIn(f'version = "{release.group(1)}"', (HERE / "pyproject.toml").read_text())


if __name__ == "__main__":
    unittest.main()
