#!/usr/bin/python3
"""Trains a network that reads handwritten digits, as one of the learners of `modeldisk run`."""

import torch
from torch.utils.data import DataLoader, TensorDataset

from digits import digits
from modeldisk import Learner

(images, labels), held_out = digits.load()
data = TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
net = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))

with Learner(net) as learner:
    first = learner.rank == 0
    batches = DataLoader(data, batch_size=32, sampler=learner.sampler(data), drop_last=True)
    print(f"rank {learner.rank} of {learner.of}: {len(batches)} batches in each epoch")
    for epoch in range(1, 4):
        for images, labels in batches:
            loss = torch.nn.functional.cross_entropy(net(images), labels)
            loss.backward()
            learner.step()
        if first:
            print(f"epoch {epoch}: loss {loss.item():.2f}")

if first:
    images, labels = map(torch.from_numpy, held_out)
    right = (net(images).argmax(1) == labels).sum().item()
    print(f"{right} of {len(labels)} held-out digits are right")
