#!/usr/bin/python3
"""A learner of DiLoCo (Douillard et al., 2023): trains the network of fashion.py, and meets the other learners only once a round.

In each round, the learner takes H local steps of AdamW with its part of the images. Then it pushes a gradient: its weights at the
start of the round minus its weights at the end. The shards apply the mean of the gradients of all learners with the outer
optimizer: `serve --aggregator nesterov:lr=0.7,momentum=0.9 --consistency bsp`.

With --exchange overlap, the exchange of a round takes place during the local steps of the next round. At the start of a round,
the weights of the mount therefore lack the previous round. The learner applies its own gradient of that round to them first.
"""

import argparse
import json
import pathlib
import sys

import torch

import fashion
import modeldisk


def local_steps(local, optimizer, batches):
    """Trains the local network with mini-batches. Returns the mean loss."""
    losses = []
    for pictures, kinds in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(local(pictures), kinds)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def learn(mount, rounds, steps, batch, rate):
    """Trains until the round number `rounds`, with `steps` local steps in each. Yields the number and mean loss of each round."""
    images, shared, local = fashion.Images("train"), fashion.network(), fashion.network()
    optimizer = torch.optim.AdamW(local.parameters(), lr=rate)
    missing = [torch.zeros_like(weights) for weights in local.parameters()]
    with modeldisk.Learner(shared, mount) as learner:
        while (part := fashion.partition(mount))[0] <= rounds:
            number, rank, of = part
            for mine, weights, last in zip(local.parameters(), shared.parameters(), missing):
                torch.sub(weights.data, last, out=mine.data)
            first = (number - 1) * steps
            loss = local_steps(local, optimizer, (images.batch(first + step, rank, of, batch) for step in range(steps)))
            for mine, weights, last in zip(local.parameters(), shared.parameters(), missing):
                weights.grad = weights.data - last - mine.data
                if len(learner.sets) == 2:
                    last.copy_(weights.grad)
            learner.step()
            yield {"round": number, "loss": round(loss, 4), "steps": steps}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--mount", required=True, type=pathlib.Path, metavar="DIR", help="the mounted model")
    arguments.add_argument("--rounds", type=int, required=True, help="the number of rounds")
    arguments.add_argument("--local-steps", type=int, default=50, help="H, the local steps of a round; default: %(default)s")
    arguments.add_argument("--batch", type=int, default=32, help="the images of a local step; default: %(default)s")
    arguments.add_argument("--rate", type=float, default=0.001, help="the learning rate of AdamW; default: %(default)s")
    options = arguments.parse_args()
    try:
        for line in learn(options.mount, options.rounds, options.local_steps, options.batch, options.rate):
            print(json.dumps(line), flush=True)
    except (OSError, ValueError) as error:
        sys.exit(f"diloco.py: {error}")


if __name__ == "__main__":
    main()
