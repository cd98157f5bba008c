#!/usr/bin/env python3
"""Prints the weights that PyTorch's optimizers compute, for OptimizersTest.

Each line contains a specification for `modeldisk serve --aggregator`, the number of steps, and the first weights after these
steps, as hexadecimal floats. The file optimizers.txt beside this script is its output with PyTorch 1.13.
"""
import warnings

import numpy
import torch

ELEMENTS = 1024
PRINTED = 24
STEPS = 200
PRINTED_STEPS = (1, 10, STEPS)
SPECIFICATIONS = (
    "sgd:lr=0.1",
    "sgd:lr=0.1,weight-decay=0.01,clip-value=0.5",
    "sgd:lr=0.1,clip-norm=5",
    "sgd:lr=0.1,schedule=step,every=30,factor=0.5",
    "momentum:lr=0.05",
    "momentum:lr=0.05,momentum=0.5,weight-decay=0.01",
    "nesterov:lr=0.7,momentum=0.9",
    "adagrad:lr=0.1",
    "adagrad:lr=0.1,eps=0.01,weight-decay=0.1",
    "rmsprop:lr=0.01",
    "rmsprop:lr=0.01,alpha=0.9,eps=0.001,weight-decay=0.1,clip-value=0.25",
    "adam:lr=0.01",
    "adam:lr=0.01,beta1=0.8,beta2=0.99,eps=1e-6,weight-decay=0.1,clip-norm=10",
    "adam:lr=0.01,schedule=cosine,rounds=150",
    "adamw:lr=0.01",
    "adamw:lr=0.01,weight-decay=0.1,schedule=cosine,rounds=100,final=0.1,warmup=10",
    "nesterov:lr=0.7,warmup=20",
)


def values(seed):
    """Returns ELEMENTS numbers from -1 to 1, from the linear congruential generator of Numerical Recipes."""
    state = seed & 0xFFFFFFFF
    result = numpy.empty(ELEMENTS, numpy.float32)
    for i in range(ELEMENTS):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        result[i] = (state >> 8) / 2**23 - 1
    return torch.from_numpy(result)


def schedule(optimizer, options):
    warmup = int(options.get("warmup", 0))
    kind = options.get("schedule", "constant")
    lr = float(options["lr"])
    schedulers = []
    if warmup:
        schedulers.append(torch.optim.lr_scheduler.LinearLR(optimizer, 1 / warmup, total_iters=warmup - 1))
    if kind == "step":
        schedulers.append(torch.optim.lr_scheduler.StepLR(optimizer, int(options["every"]), float(options["factor"])))
    if kind == "cosine":
        final = lr * float(options.get("final", 0))
        schedulers.append(torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, int(options["rounds"]), final))
    if warmup and len(schedulers) > 1:
        return torch.optim.lr_scheduler.SequentialLR(optimizer, schedulers, [warmup])
    return schedulers[0] if schedulers else torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1)


def optimizer(name, weights, options):
    decay = float(options.get("weight-decay", 0.01 if name == "adamw" else 0))
    lr = float(options["lr"])
    momentum = float(options.get("momentum", 0.9))
    if name == "sgd":
        return torch.optim.SGD([weights], lr, weight_decay=decay)
    if name in ("momentum", "nesterov"):
        return torch.optim.SGD([weights], lr, momentum, weight_decay=decay, nesterov=name == "nesterov")
    if name == "adagrad":
        return torch.optim.Adagrad([weights], lr, weight_decay=decay, eps=float(options.get("eps", 1e-10)))
    eps = float(options.get("eps", 1e-8))
    if name == "rmsprop":
        return torch.optim.RMSprop([weights], lr, float(options.get("alpha", 0.99)), eps, decay)
    betas = (float(options.get("beta1", 0.9)), float(options.get("beta2", 0.999)))
    return {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]([weights], lr, betas, eps, decay)


def train(specification, gradients):
    name, text = specification.split(":")
    options = dict(option.split("=") for option in text.split(","))
    weights = torch.nn.Parameter(values(0))
    updates = optimizer(name, weights, options)
    rates = schedule(updates, options)
    last = int(options.get("warmup", 0)) + int(options.get("rounds", STEPS))
    for step in range(1, STEPS + 1):
        weights.grad = gradients[step - 1].clone()
        if "clip-value" in options:
            torch.nn.utils.clip_grad_value_([weights], float(options["clip-value"]))
        if "clip-norm" in options:
            torch.nn.utils.clip_grad_norm_([weights], float(options["clip-norm"]))
        updates.step()
        if step <= last:
            # The schedule is not advanced after its end, because PyTorch's cosine would rise again.
            rates.step()
        if step in PRINTED_STEPS:
            print(specification, step, *(float(weight).hex() for weight in weights.detach()[:PRINTED]))


warnings.simplefilter("ignore")
torch.set_num_threads(1)
all_gradients = [values(step * 2654435761) for step in range(1, STEPS + 1)]
for each in SPECIFICATIONS:
    train(each, all_gradients)
