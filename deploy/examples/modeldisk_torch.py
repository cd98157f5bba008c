"""Trains a PyTorch model through a mount of modeldisk. Copy this file: it needs only PyTorch and numpy.

    save(model, "net.safetensors")           # once: the initial weights, for `modeldisk serve --from net.safetensors`
    learner = Learner(model, "/mnt/net")     # joins: the parameters and their .grad are now the buffers of the mount
    for images, labels in batches:
        loss(model(images), labels).backward()
        learner.step()                       # pushes the gradient, pulls the new weights, and sets .grad to zero

The optimizer is the aggregator of the shards, such as `serve --aggregator adam:lr=0.001`. Parameters without requires_grad and
buffers, such as running means, stay local. Parameters on a GPU, or of another type than the mount, are copied in each step.
"""
import json
import os
import struct
import numpy as np
import torch

def trained(model):
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}

def layout(model):
    """Returns the header of a safetensors file that holds the trained parameters one behind the other."""
    header, end = {}, 0
    for name, parameter in trained(model).items():
        begin, end = end, end + 4 * parameter.numel()
        header[name] = {"dtype": "F32", "shape": list(parameter.shape), "data_offsets": [begin, end]}
    return header

def save(model, path):
    header = json.dumps(layout(model)).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header) + -len(header) % 8) + header + b" " * (-len(header) % 8))
        for parameter in trained(model).values():
            file.write(parameter.detach().cpu().float().numpy().tobytes())

def places(model, folder, count):
    """Returns the first weight of each parameter in the mounted model: by name if its tensors have names, else in order."""
    own, mounted = layout(model), {}
    if os.path.exists(f"{folder}/model.safetensors"):
        with open(f"{folder}/model.safetensors", "rb") as file:
            mounted = json.loads(file.read(*struct.unpack("<Q", file.read(8))))
    if mounted.keys() <= {"weights", "__metadata__"}:
        mounted, needed = own, sum(parameter.numel() for parameter in trained(model).values())
        if count != needed:
            raise ValueError(f"the model at {folder} has {count} weights, but the parameters need {needed}")
    for name, entry in own.items():
        if mounted.get(name, {}).get("shape") != entry["shape"]:
            raise ValueError(f"the model at {folder} has no tensor {name} of shape {entry['shape']}")
    return [mounted[name]["data_offsets"][0] // (4 if mounted[name]["dtype"] == "F32" else 2) for name in own]

class Learner:
    """A learner of the model that is mounted at `folder` with --exchange sync or overlap. It leaves when its process ends."""
    def __init__(self, model, folder):
        with open(f"{folder}/status.json") as file:
            kind = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[json.load(file)["mount"]["dtype"]]
        names = sorted(name for name in os.listdir(f"{folder}/mapped") if name != "control")  # gradient.0, ..., weights.0, ...
        flats = [torch.from_numpy(np.memmap(f"{folder}/mapped/{name}", np.uint8, "r+")).view(kind) for name in names]
        self.parameters, starts = list(trained(model).values()), places(model, folder, len(flats[0]))
        views = [[flat[at : at + p.numel()].view(p.shape) for at, p in zip(starts, self.parameters)] for flat in flats]
        self.sets = [(views[len(views) // 2 + number], views[number]) for number in range(len(views) // 2)]
        self.control = os.open(f"{folder}/mapped/control", os.O_RDWR)
        self.begin()

    def begin(self):
        """Lets the parameters use the buffers that belong to the learner in this iteration."""
        weights, self.gradients = self.sets[json.loads(os.pread(self.control, 4096, 0))["set"]]
        for parameter, weight, gradient in zip(self.parameters, weights, self.gradients):
            gradient.zero_()
            if (parameter.dtype, parameter.device) == (weight.dtype, weight.device):
                parameter.data, parameter.grad = weight, gradient
            else:
                parameter.data, parameter.grad = parameter.data.copy_(weight), None

    def step(self):
        """Ends an iteration. If it raises an OSError, the next call pushes the same gradient again."""
        for parameter, gradient in zip(self.parameters, self.gradients):
            if parameter.grad is not gradient:
                gradient.copy_(torch.zeros(()) if parameter.grad is None else parameter.grad.detach())
        os.fsync(self.control)
        self.begin()
