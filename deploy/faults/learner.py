#!/usr/bin/python3
"""A learner that pushes gradients of whole numbers (see ledger.py), and records when each push began and was acknowledged."""

import argparse
import errno
import json
import os
import pathlib
import signal
import sys
import time

import numpy as np

import ledger

# After these errors the learner calls fsync again: the mount then sends what the shards do not have yet.
AGAIN = {errno.EIO, errno.EBUSY, errno.ETIMEDOUT, errno.ECANCELED, errno.EINTR, errno.ESTALE}
PAUSE_SECONDS = 0.2
FULL_CHECK_EVERY = 10


class EventFile:
    """The file of a learner's events, with a JSON line for each. A line is on disk when `write` returns."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_DSYNC, 0o644)

    def write(self, event, push=None, **more):
        line = {"at": round(time.monotonic(), 4), "event": event, "push": push, **more}
        os.write(self.fd, (json.dumps(line) + "\n").encode())


def events(path):
    """Reads the events of a learner's file. Ignores a last line that is incomplete because the learner was killed."""
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    return [json.loads(line) for line in lines[:-1]]


class Learner:
    def __init__(self, options, events):
        self.number = options.number
        self.overlap = options.exchange == "overlap"
        self.bsp = options.consistency == "bsp"
        self.directory = pathlib.Path(options.directory)
        self.events = events
        self.stopping = False
        self.last = None
        # The first push since the open, or since a shard went back.
        self.first = None
        self.times_back = 0

    def stop(self, *_):
        self.stopping = True

    def train(self, first, compute_seconds):
        self.events.write("open")
        self.fd = os.open(self.directory / "model", os.O_RDWR)
        size = os.fstat(self.fd).st_size
        gradient, weights = np.zeros(size // 4, np.float32), np.zeros(size // 4, np.float32)
        self.events.write("opened")
        self.first = first
        self.times_back = self.rollbacks()
        for push in range(first, ledger.PUSHES):
            if self.stopping:
                break
            time.sleep(compute_seconds)
            ledger.fill(gradient, self.number, push)
            self.events.write("begin", push)
            self.last = push
            self.move(os.pwrite, gradient)
            acknowledged = self.fsync(push)
            self.move(lambda fd, view, at: os.preadv(fd, [view], at), weights)
            if acknowledged is not None:
                self.check(weights, acknowledged)
        self.close()

    def move(self, call, array):
        """Reads or writes the whole array. After an error, tries again from the same byte."""
        view, done = memoryview(array).cast("B"), 0
        while done < len(view):
            try:
                done += call(self.fd, view[done:], done)
            except OSError as error:
                self.failed(None, error)

    def fsync(self, push):
        """Calls fsync until it succeeds or the mount has discarded the gradient. Returns the acknowledged push number, or None.

        With overlap, an fsync acknowledges the push of the previous fsync.
        """
        due = push if not self.overlap else push - 1 if push > self.first else None
        while True:
            try:
                os.fsync(self.fd)
            except OSError as error:
                if self.failed(due, error):
                    # The mount has discarded the gradients, because a shard has gone back or has forgotten this learner.
                    self.first = push + 1
                    return None
                if self.overlap:
                    # This push has not been sent yet. The next fsync first repeats the previous push.
                    self.events.write("begin", push)
                continue
            if due is not None:
                self.events.write("done", due)
            return due

    def failed(self, push, error):
        """Records an error, and waits for a short time. Returns whether the mount has discarded the gradients.

        Raises the error if another attempt is useless.
        """
        back, self.times_back = self.times_back, self.rollbacks()
        went_back = back != self.times_back
        self.events.write("error", push, errno=errno.errorcode[error.errno], back=went_back, why=self.last_error())
        if error.errno not in AGAIN or self.stopping:
            raise error
        time.sleep(PAUSE_SECONDS)
        return went_back or error.errno == errno.ESTALE

    def rollbacks(self):
        """Returns how often the mount has noticed that a shard went back to older weights."""
        try:
            return int(os.getxattr(self.directory / "model", "user.modeldisk.rollbacks"))
        except (OSError, ValueError):
            return self.times_back

    def last_error(self):
        try:
            return json.loads((self.directory / "status.json").read_text())["mount"]["lastError"]
        except (OSError, ValueError, KeyError) as error:
            return f"status.json: {error}"

    def check(self, weights, push):
        """Checks that the weights contain the acknowledged push of this learner. After every tenth push, checks every float."""
        rows = weights.reshape(-1, ledger.ROWS, ledger.PUSHES)
        if not self.overlap and not (rows[:, self.number, push] > rows[:, ledger.LEARNERS, 0]).all():
            missing = np.flatnonzero(rows[:, self.number, push] <= rows[:, ledger.LEARNERS, 0])
            self.events.write("missing", push, blocks=missing.tolist())
        if push % FULL_CHECK_EVERY == 0:
            _, torn = ledger.shares(weights)
            if len(torn):
                self.events.write("torn", push, blocks=torn.tolist())

    def close(self):
        try:
            os.close(self.fd)
        except OSError as error:
            self.failed(self.last, error)
            return
        if self.overlap and self.last:
            self.events.write("done", self.last)
        self.events.write("closed")


def main():
    arguments = argparse.ArgumentParser(
        description="Push gradients of whole numbers until SIGTERM, then close the model."
    )
    arguments.add_argument("--directory", required=True, help="the directory of the mount")
    arguments.add_argument(
        "--events", required=True, type=pathlib.Path, help="the file of the events, as lines of JSON"
    )
    arguments.add_argument("--number", required=True, type=int, help="the number of the learner, from 0")
    arguments.add_argument("--exchange", required=True, help="the exchange scheme of the mount")
    arguments.add_argument("--consistency", required=True, help="the consistency of the shards")
    arguments.add_argument(
        "--compute", type=float, default=0.02, help="the seconds that the computation of an iteration takes"
    )
    options = arguments.parse_args()

    begun = [event["push"] for event in events(options.events) if event["event"] == "begin"]
    learner = Learner(options, EventFile(options.events))
    signal.signal(signal.SIGTERM, learner.stop)
    try:
        learner.train(1 + max(begun, default=0), options.compute)
    except OSError as error:
        learner.events.write("gone", errno=errno.errorcode[error.errno])
        sys.exit(f"learner.py: {error}")


if __name__ == "__main__":
    main()
