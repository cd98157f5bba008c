#!/usr/bin/env python3
"""Tests a fleet of three hosts, which are namespaces of this machine. While a learner trains, a shard moves, and all shards
restart. The final weights must be exact. Needs root. ssh and systemctl are simulated; all modeldisk processes are real."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
NETWORK = "10.78.0."
INSIDE = "FLEET_TEST_NAMESPACE"
WAIT_SECONDS = 240
SHARDS, MIB = 2, 2

INVENTORY = f"""
[model]
name = "m"
size = "{MIB}MiB"
aggregator = "sgd:lr=0.125"
consistency = "bsp"
block-size = "64KiB"

[serve]
durability = "replica"
coordinator-session = "10s"
lease = "60s"

[coordinator]
host = "alpha"
state = "STATE"

[secrets]
coordinator = "coordinator.secrets"
shards = "shards.secrets"
mounts = "mounts.secrets"

[host.alpha]
address = "{NETWORK}1"
ssh = "alpha"

[host.beta]
address = "{NETWORK}2"
ssh = "beta"

[shard.0]
hosts = ["alpha", "beta"]

[shard.1]
hosts = ["beta", "alpha"]
"""
MOUNT = """
[mount.learner]
host = "gamma"
directory = "DIRECTORY"
reconnect = "120s"
"""
SECRETS = {
    "coordinator": "zookeeper fleet theSecretOfTheFleet1\n",
    "shards": "zookeeper fleet theSecretOfTheFleet1\nreplica records theSecretOfRecords1\npeer learner theSecretOfLearners1\n",
    "mounts": "self learner theSecretOfLearners1\n",
}
# The weights are exact: the gradients are small whole numbers, and the learning rate is a power of two.
LEARNER = """
import os, sys
import numpy as np
model = os.open(sys.argv[1] + "/model", os.O_RDWR)
size = os.fstat(model).st_size
pattern = (np.arange(size // 4) % 4).astype(np.float32)
rounds, total = 0, 0
while not os.path.exists(sys.argv[2]):
    os.pwrite(model, (pattern + rounds % 8).tobytes(), 0)
    os.fsync(model)
    total += rounds % 8
    rounds += 1
    print(rounds, flush=True)
weights = np.frombuffer(os.pread(model, size, 0), np.float32)
assert np.array_equal(weights, -0.125 * (pattern * rounds + total)), weights[:8]
print("exact after", rounds, flush=True)
"""


def available():
    return os.getuid() == 0 and os.path.exists("/dev/fuse") and subprocess.run(
        ["unshare", "--net", "--mount", "true"], check=False, capture_output=True).returncode == 0


class Host:
    """A simulated host: namespaces for its network and its mounts, with a separate /etc."""

    def __init__(self, name, number, folder):
        self.name = name
        self.run = folder / name
        for part in ("upper", "work"):
            (self.run / part).mkdir(parents=True)
        overlay = f"lowerdir=/etc,upperdir={self.run}/upper,workdir={self.run}/work"
        self.holder = subprocess.Popen(["unshare", "--net", "--mount", "bash", "-c",
                                        f"mount -t overlay overlay -o {overlay} /etc && touch {self.run}/ready "
                                        "&& exec sleep infinity"])
        until("the namespaces of a host exist", (self.run / "ready").exists)
        self.inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", f"--mount=/proc/{self.holder.pid}/ns/mnt"]
        subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid)],
                       check=True)
        subprocess.run(["ip", "link", "set", name, "master", "bridge", "up"], check=True)
        for command in ("ip link set lo up", f"ip address add {NETWORK}{number}/24 dev eth0", "ip link set eth0 up"):
            subprocess.run([*self.inside, *command.split()], check=True)


def until(what, condition, seconds=WAIT_SECONDS):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.2)


@unittest.skipUnless(INSIDE in os.environ, "runs in a namespace of its own: python3 deploy/fleet/test_cluster.py")
class ClusterTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="modeldisk-fleet."))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.kill)
        for command in ("ip link set lo up", "ip link add bridge type bridge", "ip link set bridge up",
                        f"ip address add {NETWORK}254/24 dev bridge"):
            subprocess.run(command.split(), check=True)
        self.hosts = {}
        for number, name in enumerate(("alpha", "beta", "gamma"), 1):
            self.hosts[name] = Host(name, number, self.folder)
        self.modeldisk = HERE.parent / "modeldisk"
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "modeldisk").symlink_to(self.modeldisk)
        (bin_folder / "systemctl").symlink_to(HERE / "systemctl")
        self.ssh = self.folder / "ssh"
        cases = "".join(f"{name}) inside='{' '.join(host.inside)}' ;;\n" for name, host in self.hosts.items())
        self.ssh.write_text(f"""#!/bin/bash
case $1 in
{cases}*) echo "ssh: unknown host $1" >&2; exit 255 ;;
esac
exec $inside env FLEET_RUN={self.folder}/$1 MODELDISK={self.modeldisk} PATH={bin_folder}:$PATH bash -c "$2"
""")
        self.ssh.chmod(0o755)
        (self.folder / "mount").mkdir()
        self.inventory = self.folder / "fleet.toml"
        self.inventory.write_text(INVENTORY.replace("STATE", f"{self.folder}/zk"))
        for role, text in SECRETS.items():
            with open(os.open(self.folder / f"{role}.secrets", os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(text)

    def kill(self):
        for file in self.folder.glob("*/*.pid"):
            try:
                os.kill(int(file.read_text()), signal.SIGKILL)
            except (ProcessLookupError, ValueError):
                pass
        for host in self.hosts.values():
            host.holder.kill()
            host.holder.wait()

    def fleet(self, *arguments):
        begun = time.monotonic()
        done = subprocess.run([HERE / "run", "--inventory", self.inventory, "--ssh", self.ssh,
                               "--modeldisk", self.modeldisk, "--wait", "200", *arguments], check=False, capture_output=True, text=True)
        print(f"$ fleet {' '.join(arguments)}\n{done.stdout}{done.stderr}({time.monotonic() - begun:.0f} s)", flush=True)
        if done.returncode != 0:
            self.fail(f"{done.stderr}\n{self.logs()}")
        return done.stdout

    def rounds(self):
        lines = self.learner_log.read_text().split()
        return int(lines[-1]) if lines and lines[-1].isdigit() else 0

    def await_rounds(self, more):
        before = self.rounds()
        until("the learner continues:\n" + self.learner_log.read_text()[-500:],
              lambda: self.learner.poll() is not None or self.rounds() >= before + more)
        self.assertIsNone(self.learner.poll(), self.learner_log.read_text()[-500:] + self.logs())

    def logs(self):
        return "".join(f"== {log}\n{log.read_text()[-4000:]}" for log in sorted(self.folder.glob("*/*.log")))

    def units(self, name):
        return sorted(file.name.removesuffix(".pid") for file in (self.folder / name).glob("*.pid")
                      if os.path.exists(f"/proc/{file.read_text().strip()}"))

    def test_fleet_starts_moves_a_shard_and_restarts_while_a_learner_trains(self):
        self.assertIn("nothing was changed", self.fleet("--dry-run", "apply"))
        self.assertEqual(self.units("alpha"), [])
        self.fleet("apply")
        self.assertEqual(self.units("alpha"), ["modeldisk-coordinator.service", "modeldisk-shard@m-0.service",
                                               "modeldisk-shard@m-1.service"])
        self.assertIn("nothing was changed", self.fleet("apply"))

        self.fleet("add", "gamma", "--address", f"{NETWORK}3", "--ssh-name", "gamma")
        self.inventory.write_text(self.inventory.read_text() + MOUNT.replace("DIRECTORY", f"{self.folder}/mount"))
        self.fleet("apply")
        mount_log = self.folder / "gamma/modeldisk-mount@learner.service.log"
        until("the model is mounted", lambda: "ready: " in mount_log.read_text())
        self.learner_log = self.folder / "learner.log"
        stop = self.folder / "stop"
        with self.learner_log.open("w") as log:
            self.learner = subprocess.Popen([*self.hosts["gamma"].inside, "/usr/bin/python3", "-c", LEARNER,
                                             self.folder / "mount", stop], stdout=log, stderr=subprocess.STDOUT)
        self.addCleanup(self.learner.kill)
        self.await_rounds(5)

        self.assertIn("moved: shard 0 is on gamma, beta", self.fleet("move", "0", "gamma", "--from", "alpha"))
        self.assertEqual(self.units("alpha"), ["modeldisk-coordinator.service", "modeldisk-shard@m-1.service"])
        self.assertIn("modeldisk-shard@m-0.service", self.units("gamma"))
        self.await_rounds(5)
        self.assertIn("nothing was changed", self.fleet("apply"))

        ids = {file: file.read_text() for file in self.folder.glob("*/modeldisk-shard*.pid")
               if os.path.exists(f"/proc/{file.read_text().strip()}")}
        self.assertEqual(len(ids), 2 * SHARDS)
        self.fleet("restart", "--rolling")
        self.assertTrue(all(file.read_text() != number for file, number in ids.items()), ids)
        self.await_rounds(5)

        stop.touch()
        self.assertEqual(self.learner.wait(WAIT_SECONDS), 0, self.learner_log.read_text())
        self.assertIn("exact after", self.learner_log.read_text())
        print(self.learner_log.read_text().splitlines()[-1])


def run():
    if INSIDE in os.environ:
        unittest.main()
    if not available():
        print("skipped because this machine does not allow new namespaces, or has no /dev/fuse")
        return 0
    return subprocess.run(["unshare", "--net", "--mount", "--propagation", "private", sys.executable, "-B", __file__],
                          env=os.environ | {INSIDE: "1"}, check=False).returncode


if __name__ == "__main__":
    sys.exit(run())
