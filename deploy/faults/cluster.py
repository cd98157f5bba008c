"""A cluster of shards, mounts and learners: processes in network namespaces of their own, connected by a bridge."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import laws
import learner
import ledger
import plan

HERE = pathlib.Path(__file__).resolve().parent
MODELDISK = HERE.parent / "modeldisk"
FAKETIME = f"/usr/lib/{os.uname().machine}-linux-gnu/faketime/libfaketimeMT.so.1"
NETWORK = "10.77.0."
MODEL_MIB = 4
STATE_MIB = 1024

READY_SECONDS = 240
# A shard and a mount exit within this time after SIGTERM.
END_SECONDS = 60
# The longest times for which a call waits for other learners, and tries to reach a shard. With a durability that loses nothing,
# LONG_WAIT_SECONDS replaces both. It is longer than any outage, so learners get no errors.
WAIT_SECONDS, RECONNECT_SECONDS = 30, 10
LONG_WAIT_SECONDS = 120
# A backup is in sync again within this time after the end of a fault.
SYNC_SECONDS = 60
HANDOVER_SECONDS = 60
POLL_SECONDS = 0.25
LEASE_EXPIRED = re.compile(r"the lease of learner 'l(\d+)' expired")
PRIMARY = re.compile(r"ready: .*, primary of epoch (\d+)")
STOPS_SERVING = re.compile(r"epoch \d+ of shard .*: this process stops serving")
SHARD_AWAY = re.compile(r"modeldisk mount: shard .* (does not respond|closed the connection)")
WENT_BACK = re.compile(r"the shard continues from the checkpoint .*checkpoint-(\d+)")


class Failure(Exception):
    """A process failed or a bound was exceeded, so that the episode cannot continue."""


def command(*arguments):
    subprocess.run(
        [str(argument) for argument in arguments], check=True, stdin=subprocess.DEVNULL, capture_output=True
    )


class Node:
    """A simulated machine: a network namespace with one address. A process that only sleeps keeps the namespace alive."""

    def __init__(self, number):
        self.address = f"{NETWORK}{number}"
        self.port = f"port{number}"
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        mine = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == mine:
            time.sleep(0.01)
        self.inside = ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net"]
        command("ip", "link", "add", self.port, "type", "veth", "peer", "name", "eth0", "netns", self.holder.pid)
        command("ip", "link", "set", self.port, "master", "bridge", "up")
        self.run("ip", "link", "set", "lo", "up")
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")

    def run(self, *arguments):
        command(*self.inside, *arguments)

    def drop(self, source, begin):
        """Begins or ends dropping the packets that arrive from another node."""
        self.run("iptables", "-I" if begin else "-D", "INPUT", "-s", source.address, "-j", "DROP")

    def remove(self):
        subprocess.run(["ip", "link", "delete", self.port], check=False, capture_output=True)
        self.holder.kill()
        self.holder.wait()


class Process:
    """A program on a node. Each line of its output goes to a file, with the monotonic time in seconds."""

    def __init__(self, name, node, arguments, log, environment=None):
        self.name = name
        self.lines = []
        self.changed = threading.Condition()
        self.popen = subprocess.Popen(
            node.inside + [str(argument) for argument in arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | (environment or {}),
        )
        self.reader = threading.Thread(target=self.read, args=(log,), daemon=True)
        self.reader.start()

    def read(self, path):
        with open(path, "a") as log:
            for line in self.popen.stdout:
                text, now = line.decode(errors="replace").rstrip("\n"), time.monotonic()
                log.write(f"{now:.3f} {text}\n")
                log.flush()
                with self.changed:
                    self.lines.append((now, text))
                    self.changed.notify_all()
        with self.changed:
            self.lines.append((time.monotonic(), None))
            self.changed.notify_all()

    def await_line(self, start, seconds):
        """Waits for a line that begins with `start`, or with a member of the tuple `start`."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                if any(text and text.startswith(start) for _, text in self.lines):
                    return
                if self.lines and self.lines[-1][1] is None:
                    raise Failure(f"{self.name} ended before it printed {start!r}")
                if not self.changed.wait(deadline - time.monotonic()) and time.monotonic() > deadline:
                    raise Failure(f"{self.name} did not print {start!r} within {seconds} s")

    def has(self, pattern):
        """Returns whether a line of the output matches."""
        with self.changed:
            return any(text and pattern.search(text) for _, text in self.lines)

    def runs(self):
        return self.popen.poll() is None

    def signal(self, number):
        if self.runs():
            self.popen.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.popen.wait()
        self.reader.join(END_SECONDS)

    def await_end(self, seconds, why):
        try:
            self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} still runs {seconds} s after {why}") from None
        self.reader.join(END_SECONDS)


class Member:
    """A shard, the coordinator, or a learner with its mount: a node, the files of its processes, and its clock."""

    def __init__(self, cluster, name, address, role=None):
        self.cluster = cluster
        self.name = name
        self.node = Node(address)
        self.file = name.replace(" ", "-")
        self.clock = cluster.directory / f"{self.file}.clock"
        self.environment = {"MODELDISK_LOG_LEVEL": "info"}
        if (role or name) in cluster.clocks:
            self.set_clock("+0")
            self.environment |= {
                "LD_PRELOAD": FAKETIME,
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }

    def set_clock(self, offset):
        """Sets the offset of the wall clock, such as +3600 seconds. The monotonic clock is not changed."""
        self.clock.write_text(offset + "\n")

    def start_process(self, arguments, suffix="", environment=None):
        log = self.cluster.directory / f"{self.file}{suffix}.log"
        return Process(
            self.name + suffix.replace("-", " "), self.node, arguments, log, environment or self.environment
        )


class Server(Member):
    """A machine with a shard or the coordinator, and its processes, one after another."""

    def __init__(self, cluster, name, address, role=None):
        super().__init__(cluster, name, address, role)
        self.processes = []

    @property
    def process(self):
        return self.processes[-1]

    def kill(self):
        self.process.kill()

    def stop(self):
        self.process.signal(signal.SIGTERM)
        self.process.await_end(END_SECONDS, "SIGTERM")

    def found(self, pattern):
        """Returns (time, match, process) for each line that the processes printed and that the pattern matches."""
        return [
            (at, match, process)
            for process in self.processes
            for at, text in list(process.lines)
            if (match := pattern.search(text or ""))
        ]


class Coordinator(Server):
    def __init__(self, cluster):
        super().__init__(cluster, "coordinator", 5)
        self.portal = f"{self.node.address}:2181"

    def start(self):
        options = ["--listen", self.portal, "--state", self.cluster.directory / "coordinator", "--insecure"]
        self.processes.append(self.start_process([MODELDISK, "coordinator", *options]))

    def await_ready(self):
        self.process.await_line("ready: ", READY_SECONDS)


class Shard(Server):
    """A machine with a process of a shard. A shard with backups has two machines."""

    def __init__(self, cluster, number, copy):
        name = f"shard {number}"
        process = f" process {copy}" if cluster.coordinator else ""
        super().__init__(cluster, name + process, 10 + 10 * copy + number, name)
        self.number = number
        # Each process has its own port, because the socket names for shared memory contain the port, but no address.
        self.portal = f"{self.node.address}:{3260 + 10 * copy + number}"

    def start(self):
        episode, directory = self.cluster.episode, self.cluster.directory
        options = ["serve", "--model", "m", "--size", f"{MODEL_MIB}MiB", "--shard", f"{self.number}/{plan.SHARDS}"]
        options += [
            "--listen",
            self.portal,
            "--insecure",
            "--block-size",
            str(ledger.BLOCK_BYTES),
            "--aggregator",
            "sum",
        ]
        options += ["--consistency", episode.consistency, "--learners", str(episode.learners), "--buffers", "64MiB"]
        options += ["--max-sessions", "32"]
        options += ["--lease", f"{plan.LEASE_SECONDS}s", "--ping-interval", "2s", "--tuning", "none"]
        options += ["--durability", episode.durability]
        if episode.durability in ("checkpoint", "journal"):
            options += ["--state", directory / "state", "--checkpoint-every", "3s", "--keep", "20"]
        if episode.durability == "journal":
            options += ["--journal-limit", "128MiB"]
        if episode.durability == "replica":
            options += ["--coordinator", self.cluster.coordinator.portal]
            options += ["--coordinator-session", f"{self.cluster.session}s"]
        if episode.datamover == "shm":
            options += ["--datamover", "tcp,shm", "--shm-directory", directory / "shm"]
        self.processes.append(self.start_process([MODELDISK, *options]))

    def await_ready(self):
        # A process with a coordinator can start as a backup.
        self.process.await_line(("ready: ", "backup: "), READY_SECONDS)

    def epochs(self):
        """Returns (time, shard, epoch, process) for each time at which a process on this machine became primary."""
        return [(at, self.number, int(match[1]), process) for at, match, process in self.found(PRIMARY)]


class Learner(Member):
    """A learner process and its mount."""

    def __init__(self, cluster, number):
        super().__init__(cluster, f"learner {number}", 50 + number)
        self.number = number
        self.mount = self.process = None
        self.directory = cluster.directory / f"mount-{number}"
        self.directory.mkdir()
        self.events_file = cluster.directory / f"{self.file}.events"

    def start_mount(self):
        episode, directory = self.cluster.episode, self.cluster.directory
        options = ["mount", self.cluster.address(), self.directory, "--foreground", "--learner", f"l{self.number}"]
        options += ["--exchange", episode.exchange, "--datamover", episode.datamover, "--tuning", "none"]
        patient = episode.durability in laws.LOSE_NOTHING
        for option, seconds in (("--wait", WAIT_SECONDS), ("--reconnect", RECONNECT_SECONDS)):
            options += [option, f"{LONG_WAIT_SECONDS if patient else seconds}s"]
        if episode.datamover == "shm":
            options += ["--shm-directory", directory / "shm"]
        self.mount = self.start_process([MODELDISK, *options], "-mount")

    def await_mount(self):
        """Waits until the mount is ready. If the mount exits because a shard is away, starts it again, as systemd would."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                self.mount.await_line("ready: ", READY_SECONDS)
                return
            except Failure:
                if not self.mount.has(SHARD_AWAY) or time.monotonic() > deadline:
                    raise
            time.sleep(POLL_SECONDS)
            self.start_mount()

    def start_learning(self):
        options = ["--directory", self.directory, "--events", self.events_file, "--number", self.number]
        options += ["--exchange", self.cluster.episode.exchange, "--consistency", self.cluster.episode.consistency]
        self.process = self.start_process(
            [sys.executable, HERE / "learner.py", *options], environment={"OPENBLAS_NUM_THREADS": "1"}
        )

    def kill_mount(self):
        """Kills the learner and its mount, as if their machine had failed."""
        for process in (self.mount, self.process):
            process.signal(signal.SIGKILL)
        self.mount.kill()
        subprocess.run(["umount", "--lazy", self.directory], check=False, capture_output=True)
        self.process.await_end(END_SECONDS, "SIGKILL")

    def unmount(self):
        self.mount.signal(signal.SIGTERM)
        self.mount.await_end(END_SECONDS, "SIGTERM")

    def events(self):
        return learner.events(self.events_file)


class Cluster:
    """All members of an episode. Logs, state and mounts are in `directory`. A coordinator session lasts `session` seconds."""

    def __init__(self, episode, directory, session):
        self.episode = episode
        self.session = session
        self.directory = directory
        self.clocks = {each.target for group in episode.groups for each in group if each.kind == "clock jumped"}
        self.started = time.monotonic()
        self.history = []
        (directory / "state").mkdir()
        (directory / "shm").mkdir(mode=0o700)
        command("mount", "-t", "tmpfs", "-o", f"size={STATE_MIB}m", "faults", directory / "state")
        command("ip", "link", "add", "name", "bridge", "type", "bridge")
        command("ip", "address", "add", f"{NETWORK}1/24", "dev", "bridge")
        command("ip", "link", "set", "bridge", "up")
        replica = episode.durability == "replica"
        self.coordinator = Coordinator(self) if replica else None
        self.shards = [Shard(self, number, copy) for number in range(plan.SHARDS) for copy in range(2 if replica else 1)]
        self.learners = [Learner(self, number) for number in range(episode.learners)]

    def servers(self):
        return ([self.coordinator] if self.coordinator else []) + self.shards

    def member(self, name):
        """Returns the member with this name. With backups: the process that serves a shard, or its backup."""
        if self.coordinator and name.startswith(("shard", "backup")):
            role, number = name.split()
            first, second = (shard for shard in self.shards if shard.number == int(number))
            primary = max((first, second), key=lambda each: max((epoch for _, _, epoch, _ in each.epochs()), default=0))
            return primary if role == "shard" else second if primary is first else first
        return next(member for member in self.servers() + self.learners if member.name == name)

    def epochs(self):
        """Returns (time, shard, epoch, process) for each time at which a process of any machine became primary."""
        return [each for shard in self.shards for each in shard.epochs()]

    def address(self):
        if self.coordinator:
            return f"modeldisk+zk://{self.coordinator.portal}/m"
        return "modeldisk://" + ",".join(shard.portal for shard in self.shards) + "/m"

    def note(self, text):
        """Appends a line about an action to the file `events`. Returns the current time."""
        now = time.monotonic()
        self.history.append((now, text))
        with open(self.directory / "events", "a") as out:
            out.write(f"{now:.3f} +{now - self.started:7.3f} {text}\n")
        return now

    def start(self):
        if self.coordinator:
            self.coordinator.start()
            self.coordinator.await_ready()
        for shard in self.shards:
            shard.start()
        for shard in self.shards:
            shard.await_ready()
        for each in self.learners:
            each.start_mount()
        for each in self.learners:
            each.await_mount()
            each.start_learning()
        self.note("started")

    def status(self, seconds=60):
        """Returns the status of the shards, or the reason why there is none."""
        try:
            done = subprocess.run(
                [MODELDISK, "status", self.address(), "--json"],
                capture_output=True,
                text=True,
                timeout=seconds,
                stdin=subprocess.DEVNULL,
            )
            return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip()}
        except (subprocess.TimeoutExpired, ValueError) as error:
            return {"failed": str(error)}

    def await_in_sync(self):
        """Waits until each shard has a backup in sync, according to the status of a mount."""
        deadline = time.monotonic() + SYNC_SECONDS
        while True:
            shards = json.loads((self.learners[0].directory / "status.json").read_text())["shards"]
            if len(shards) == plan.SHARDS and all(map(has_backup, shards)):
                return
            if time.monotonic() > deadline:
                raise Failure(f"a shard has no backup in sync after {SYNC_SECONDS} s without a fault: {shards}")
            time.sleep(POLL_SECONDS)

    def hand_over(self, shard):
        options = ["handover", self.address(), "--shard", str(shard), "--timeout", f"{HANDOVER_SECONDS}s"]
        done = subprocess.run(
            [MODELDISK, *options], capture_output=True, text=True, timeout=2 * HANDOVER_SECONDS, stdin=subprocess.DEVNULL
        )
        self.note(f"handover of shard {shard}: {(done.stdout + done.stderr).strip()}")
        if done.returncode:
            raise Failure(f"the handover of shard {shard} failed: {done.stderr.strip()}")

    def weights(self):
        """Reads the weights of the whole model through the mount of a learner."""
        reader = subprocess.run(
            ["cat", self.learners[0].directory / "weights"], capture_output=True, timeout=LONG_WAIT_SECONDS, check=True
        )
        return reader.stdout

    def processes(self):
        """Returns all processes that were started and still run."""
        return self.machines() + [each.process for each in self.learners if each.process and each.process.runs()]

    def machines(self):
        """Returns the running processes of the coordinator, the shards and the mounts, which are all Java programs."""
        found = [process for server in self.servers() for process in server.processes[-1:]]
        found += [each.mount for each in self.learners]
        return [process for process in found if process and process.runs()]

    def remove(self):
        """Kills all processes, and removes the mounts and the network."""
        for process in self.processes():
            process.signal(signal.SIGCONT)
            process.kill()
        for each in self.learners:
            subprocess.run(["umount", "--lazy", each.directory], check=False, capture_output=True)
        for member in self.servers() + self.learners:
            member.node.remove()
        subprocess.run(["ip", "link", "delete", "bridge"], check=False, capture_output=True)


def has_backup(shard):
    """Returns whether the status of a shard contains a backup in sync. If the shard did not respond, its status is a text."""
    return isinstance(shard, dict) and any(each["inSync"] for each in shard.get("replication", {}).get("backups", ()))
