"""Two shards on this machine, mounts of their model, and learners. All these processes are stopped together with the cluster."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
MODELDISK = HERE.parent / "modeldisk"
SHARDS = 2
# The time in which a process must exit. It is longer than the time for which a mount waits for its last requests.
END_SECONDS = 30
# A process that prints nothing for this time is considered to hang.
SILENCE_SECONDS = 180
STATUS_SECONDS = 60


class Failure(Exception):
    """A process failed, so that the training cannot continue."""


class Process:
    """A program and the lines that it has printed."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.lines = []
        self.changed = threading.Condition()
        self.popen = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | (environment or {}),
            # Ctrl-C must reach only the program that runs the cluster, which then stops the processes in order.
            start_new_session=True,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.popen.stdout:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def line(self, number):
        """Waits for the line with this number, counted from 0. Returns None if the program exits before it prints this line."""
        with self.changed:
            known = -1
            while number >= len(self.lines) and None not in self.lines:
                if known == len(self.lines):
                    raise Failure(f"{self.name} has printed nothing for {SILENCE_SECONDS} s")
                known = len(self.lines)
                self.changed.wait(SILENCE_SECONDS)
            return self.lines[number] if number < len(self.lines) else None

    def await_ready(self):
        number = 0
        while (line := self.line(number)) is not None:
            if line.startswith("ready: "):
                return line
            number += 1
        raise Failure(f"{self.name} exited before it was ready; see its messages above")

    def status(self):
        """Waits until the program exits. Returns its exit status."""
        try:
            return self.popen.wait(SILENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"{self.name} has not exited after {SILENCE_SECONDS} s") from error

    @contextlib.contextmanager
    def stopped(self):
        """Pauses the program (SIGSTOP) during a with statement."""
        self.popen.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.popen.send_signal(signal.SIGCONT)

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def end(self):
        self.popen.send_signal(signal.SIGTERM)
        try:
            self.popen.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self.reader.join()
        self.popen.stdout.close()


class Mount:
    """A mounted model and the process that mounts it."""

    def __init__(self, folder, process):
        self.folder, self.process = folder, process

    def kill(self):
        self.process.kill()
        detach(self.folder)


class Cluster:
    """Shards that serve the weights of a file under bsp, until the end of a with statement."""

    def __init__(self, initial, aggregator, learners, *mount_options):
        self.mount_options = mount_options
        self.processes, self.folders = [], []
        self.temporary = tempfile.TemporaryDirectory(prefix="modeldisk-examples.")
        self.folder = pathlib.Path(self.temporary.name)
        self.learners = learners
        self.initial, self.aggregator = initial, aggregator

    def __enter__(self):
        try:
            file = self.folder / "initial.safetensors"
            self.initial(file)
            shards = [
                self.start(
                    f"shard {shard}",
                    *(MODELDISK, "serve", "--model", "fashion", "--from", file, "--shard", f"{shard}/{SHARDS}"),
                    *("--listen", "127.0.0.1:0", "--block-size", "64KiB", "--aggregator", self.aggregator),
                    *("--consistency", "bsp", "--learners", self.learners),
                )
                for shard in range(SHARDS)
            ]
            lines = [shard.await_ready().replace(",", " ").split() for shard in shards]
            portals = [next(word for word in line if word.startswith("127.0.0.1:")) for line in lines]
            self.address = f"modeldisk://{','.join(portals)}/fashion"
            return self
        except BaseException:
            self.__exit__()
            raise

    def start(self, name, *command, **options):
        process = Process(name, command, **options)
        self.processes.append(process)
        return process

    def mount(self, name):
        """Mounts the model for a learner. Returns when the mount is ready."""
        folder = self.folder / name
        folder.mkdir()
        self.folders.append(folder)
        process = self.start(
            f"the mount of {name}",
            *(MODELDISK, "mount", "--foreground", self.address, folder, "--learner", name, *self.mount_options),
        )
        process.await_ready()
        return Mount(folder, process)

    def status(self):
        """Returns the status of the shards."""
        try:
            answer = subprocess.run(
                [MODELDISK, "status", self.address, "--json"],
                check=False,
                capture_output=True,
                text=True,
                timeout=STATUS_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise Failure(f"the shards did not report their status within {STATUS_SECONDS} s") from error
        if answer.returncode:
            raise Failure(f"the shards do not respond: {answer.stderr.strip()}")
        return json.loads(answer.stdout)

    def await_joined(self, name, process):
        """Waits until the learner with this name, which runs in `process`, has joined each shard."""
        end = time.monotonic() + SILENCE_SECONDS
        while not all(any(learner["learner"] == name for learner in shard["learners"]) for shard in self.status()):
            if process.popen.poll() is not None:
                raise Failure(f"{process.name} exited before it joined; see its messages above")
            if time.monotonic() > end:
                raise Failure(f"{process.name} has not joined after {SILENCE_SECONDS} s")

    def moved(self):
        """Returns the bytes that all learners have pushed and pulled so far, counted by the shards."""
        return sum(shard["pushedBytes"] + shard["pulledBytes"] for shard in self.status())

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.end()
        for folder in self.folders:
            # os.path.ismount does not see the mount of a process that was killed.
            if f" {folder} " in pathlib.Path("/proc/self/mountinfo").read_text():
                detach(folder)
        self.temporary.cleanup()


def detach(folder):
    """Removes the mount of a process that was killed."""
    subprocess.run(["fusermount3", "-u", "-z", folder], check=False, capture_output=True)
