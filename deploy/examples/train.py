#!/usr/bin/python3
"""Trains a convolutional network with two learners, and compares the result with other ways to train it. See --help."""

import argparse
import collections
import json
import os
import platform
import signal
import sys
import time

import numpy as np
import torch

import fashion
import modeldisk
from cluster import HERE, Cluster, Failure

LEARNERS = 2
# With fewer steps for each learner, the losses are shown but not judged.
ENOUGH_STEPS = {"torch": 300, "diloco": 2000}
ADAM_RATE, ADAMW_RATE = 0.002, 0.003
LOCAL_STEPS, LOCAL_RATE = 50, 0.002
# The outer optimizer. With overlap, the weights at the start of a round lack the previous round, so a smaller momentum is better.
OUTER = {"sync": "nesterov:lr=0.7,momentum=0.8", "overlap": "nesterov:lr=0.6,momentum=0.6"}
# A DiLoCo learner is killed after this fraction of the rounds.
KILLED_AFTER = 0.3
MOST_BATCH = 7500
# The largest accepted difference from the training in one process: the relative difference of the losses or, with another type
# than float32, the difference of the accuracies.
MOST_DIFFERENCE = 0.01
# The largest accepted loss of DiLoCo, as a multiple of the loss of plain data parallelism. DiLoCo must transfer at most
# 1 / LEAST_SAVING times the bytes of as many pushes and pulls as it has rounds, and of the pull of the initial weights.
MOST_LOSS, LEAST_SAVING = {"sync": 1.02, "overlap": 1.05}, 0.8


class Result:
    """The result of one training: its name and costs, and the loss and accuracy on the held-out images."""

    def __init__(self, name, net, steps, moved, seconds):
        self.name, self.steps, self.moved, self.seconds = name, steps, moved, seconds
        self.loss, self.accuracy = fashion.evaluate(net)

    def row(self):
        moved = f"{self.moved / 1e6:.1f} MB" if self.moved else "-"
        return (self.name, str(self.steps), moved, f"{self.seconds:.0f} s", f"{self.loss:.4f}", f"{self.accuracy:.4f}")


def table(results):
    rows = [("", "local steps", "pushed and pulled", "time", "held-out loss", "accuracy"), *(result.row() for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]


def show(name, line, rounds):
    """Shows the progress: each round on a terminal, otherwise every tenth part of the rounds."""
    number = line["round"]
    text = f"   {name}: round {number} of {rounds}, loss {line['loss']:.4f}"
    if sys.stdout.isatty():
        print(f"\r\033[K{text}", end="\n" if number == rounds else "", flush=True)
    elif number % max(1, rounds // 10) == 0:
        print(text, flush=True)


class Training:
    """A training with two learners at a cluster."""

    def __init__(self, name, cluster, script, rounds, *options):
        self.name, self.cluster, self.rounds = name, cluster, rounds
        self.command = [HERE / script, "--rounds", rounds, *options]
        self.mounts, self.learners = [], []
        for number in range(LEARNERS):
            self.mounts.append(cluster.mount(f"learner-{number + 1}"))
        self.begun = time.monotonic()
        for mount in self.mounts:
            self.learn(mount)

    def learn(self, mount):
        threads = str(max(1, os.cpu_count() // LEARNERS))
        self.learners.append(
            self.cluster.start(
                mount.folder.name, *self.command, "--mount", mount.folder, environment={"OMP_NUM_THREADS": threads}
            )
        )

    def follow(self, replace_after=None):
        """Waits for the end of the training. If `replace_after` is given, replaces the second learner after that many rounds."""
        for number in range(self.rounds):
            text = self.learners[0].line(number)
            if text is None:
                break
            show(self.name, json.loads(text), self.rounds)
            if number + 1 == replace_after:
                self.replace()
        lost = self.learners[1:2] if replace_after else []
        for learner in self.learners:
            if learner not in lost and learner.status() != 0:
                raise Failure(f"{learner.name} failed; see its messages above")
        self.seconds = time.monotonic() - self.begun

    def replace(self):
        """Kills the second learner and its mount, like a failure of their machine. Then starts a third learner and its mount."""
        self.learners[1].kill()
        self.mounts[1].kill()
        # The first learner is paused. Otherwise, it could complete its rounds before the third learner has joined.
        with self.learners[0].stopped():
            self.mounts.append(self.cluster.mount("learner-3"))
            self.learn(self.mounts[-1])
            self.cluster.await_joined("learner-3", self.learners[-1])

    def lines(self, learner):
        return [json.loads(line) for line in self.learners[learner].lines if line]

    def result(self, local_steps):
        net, moved = fashion.network(), self.cluster.moved()
        weights = torch.from_numpy(np.fromfile(self.mounts[0].folder / "weights", np.float32))
        torch.nn.utils.vector_to_parameters(weights, net.parameters())
        rounds = sum(len(self.lines(learner)) for learner in range(len(self.learners)))
        return Result(self.name, net, local_steps * rounds, moved, self.seconds)


def initial(file):
    modeldisk.save(fashion.network(), file)


def data_parallel(name, aggregator, options):
    """Trains with a push and a pull in each step."""
    with Cluster(initial, aggregator, LEARNERS, "--exchange", options.exchange, "--dtype", options.dtype) as cluster:
        training = Training(name, cluster, "learner_torch.py", options.steps, "--batch", options.batch)
        training.follow()
        return training.result(1)


def alone(options):
    """Trains in this process with the mini-batches of all learners. With overlap, gradients use weights that are one step old."""
    net, images, delay = fashion.network(), fashion.Images("train"), int(options.exchange == "overlap")
    parameters, seen = list(net.parameters()), collections.deque(maxlen=delay + 1)
    optimizer = torch.optim.Adam(parameters, lr=ADAM_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
    begun = time.monotonic()
    for step in range(options.steps):
        pictures, kinds = images.batch(step, 0, 1, options.batch * LEARNERS)
        newest = [parameter.data for parameter in parameters]
        seen.append([weights.clone() for weights in newest])
        for parameter, weights in zip(parameters, seen[0]):
            parameter.data = weights
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(pictures), kinds)
        loss.backward()
        for parameter, weights in zip(parameters, newest):
            parameter.data = weights
        optimizer.step()
        schedule.step()
        show("one process", {"round": step + 1, "loss": loss.item()}, options.steps)
    return Result("one process", net, options.steps, None, time.monotonic() - begun)


def judge(options, losses, laws=()):
    """Prints each law and whether it holds. Returns true if all laws hold. The laws of losses count only after enough steps."""
    enough = options.steps >= ENOUGH_STEPS[options.way]
    for text, holds in [*laws, *losses]:
        print(f"{text}: {'yes' if holds else 'NO'}")
    if not enough:
        print(f"With fewer than {ENOUGH_STEPS[options.way]} steps, the result does not depend on the losses.")
    return all(holds for _, holds in [*laws, *(losses if enough else [])])


def train_torch(options):
    # At a constant rate, the training amplifies differences of rounding: the losses on two processors then differ by up to 3 %.
    adam = f"adam:lr={ADAM_RATE},schedule=cosine,rounds={options.steps}"
    learners, one = data_parallel(f"{LEARNERS} learners, {options.dtype}", adam, options), alone(options)
    print("", *table([learners, one]), "", sep="\n")
    if options.dtype == "f32":
        difference = abs(learners.loss / one.loss - 1)
        law = f"The loss of the learners differs by {difference:.2%} from that of one process, at most {MOST_DIFFERENCE:.0%}"
    else:
        difference = abs(learners.accuracy - one.accuracy)
        law = f"The accuracy of the learners differs by {difference:.4f} from that of one process, at most {MOST_DIFFERENCE}"
    return judge(options, [(law, difference <= MOST_DIFFERENCE)])


def diloco(options, exchange, killed_after=None):
    """Trains with DiLoCo. Returns the result, and the first round of the learner that replaces the killed one, or None."""
    rounds = options.steps // options.local_steps
    with Cluster(initial, OUTER[exchange], LEARNERS, "--exchange", exchange, "--dtype", options.dtype) as cluster:
        training = Training(
            *(f"DiLoCo, H = {options.local_steps}, {exchange}", cluster, "diloco.py", rounds),
            *("--local-steps", options.local_steps, "--batch", options.batch, "--rate", LOCAL_RATE),
        )
        training.follow(killed_after)
        joined = [line["round"] for line in training.lines(LEARNERS)] if killed_after else []
        return training.result(options.local_steps), joined[0] if joined else None


def train_diloco(options):
    killed_after = max(1, round(options.steps // options.local_steps * KILLED_AFTER))
    plain = data_parallel("data parallel", f"adamw:lr={ADAMW_RATE}", options)
    sync, joined = diloco(options, "sync", killed_after)
    overlap, _ = diloco(options, "overlap")
    print("", *table([plain, sync, overlap]), "", sep="\n")
    print(f"With sync, learner 2 and its mount were killed after round {killed_after}.")
    laws = [(f"Learner 3 joined in round {joined}" if joined else "Learner 3 came in time to join", bool(joined))]
    saving, losses = LEAST_SAVING * options.steps / (options.steps // options.local_steps + 1), []
    for exchange, result in (("sync", sync), ("overlap", overlap)):
        ratio, saved, most = result.loss / plain.loss, plain.moved / result.moved, MOST_LOSS[exchange]
        laws.append((f"With {exchange}, DiLoCo moves 1/{saved:.1f} of the bytes, at most 1/{saving:g}", saved >= saving))
        law = f"With {exchange}, its loss is {ratio:.3f} times the loss of data parallelism, at most {most}"
        losses.append((law, ratio <= most))
    return judge(options, losses, laws)


def count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' must be a number of at least 1")
    return int(text)


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        prog="deploy/examples/train",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="""\
Trains a convolutional network for pictures of clothes (Fashion-MNIST) with PyTorch, with two learners that mount the model from
two shards on this machine. Installs python3-torch and dataset-fashion-mnist if they are missing.

  torch     The parameters and gradients of the learners are the mapped buffers of their mounts. The shards apply the mean of
            the gradients with Adam and a learning rate that falls to 0 (cosine). For comparison, one process trains with
            torch.optim.Adam, the same rates, and twice the batch.
  diloco    Each learner takes local steps with AdamW and pushes how far it has come (DiLoCo). The shards apply the mean with
            Nesterov momentum. With --exchange sync, one learner is killed with its mount and replaced. For comparison, two
            learners push the gradient of each step (plain data parallelism).""",
    )
    parser.add_argument("way", choices=["torch", "diloco"], help="the way to train, see above")
    parser.add_argument(
        "--steps",
        type=count,
        metavar="N",
        help=f"the local steps of each learner; default: {ENOUGH_STEPS['torch']} for torch, {ENOUGH_STEPS['diloco']} for diloco",
    )
    parser.add_argument("--batch", type=count, default=32, metavar="N", help="the images of a step; default: %(default)s")
    parser.add_argument(
        "--exchange",
        choices=["sync", "overlap"],
        help="only for torch: the exchange scheme of the mounts; default: sync",
    )
    parser.add_argument(
        "--dtype",
        choices=["f32", "bf16", "f16"],
        default="f32",
        help="the type of weights and gradients in the mounts and on the network; default: %(default)s",
    )
    parser.add_argument(
        "--local-steps",
        type=count,
        metavar="H",
        help=f"only for diloco: the local steps between two pushes; default: {LOCAL_STEPS}",
    )
    options = parser.parse_args(arguments)
    if options.way == "torch" and options.local_steps:
        parser.error("--local-steps is only for diloco")
    if options.way == "diloco" and options.exchange:
        parser.error("--exchange is only for torch; diloco tries both schemes")
    options.steps = options.steps or ENOUGH_STEPS[options.way]
    options.local_steps = options.local_steps or LOCAL_STEPS
    options.exchange = options.exchange or "sync"
    if options.way == "diloco" and (options.steps % options.local_steps or options.steps < 2 * options.local_steps):
        parser.error(f"--steps {options.steps} must be two or more whole rounds of {options.local_steps} local steps")
    if options.batch > MOST_BATCH:
        parser.error(f"--batch {options.batch} must be at most {MOST_BATCH}, an eighth of the training images")
    return options


def main():
    options = parse()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    signal.signal(signal.SIGHUP, lambda number, _: sys.exit(128 + number))
    print(f"{platform.platform()}, {os.cpu_count()} processors, PyTorch {torch.__version__}")
    try:
        holds = train_torch(options) if options.way == "torch" else train_diloco(options)
    except (Failure, OSError, ValueError) as error:
        sys.exit(f"train: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
