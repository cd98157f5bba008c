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
    for name, p in trained(model).items():
        header[name] = {"dtype": "F32", "shape": list(p.shape), "data_offsets": [end, end := end + 4 * p.numel()]}
    return header

def save(model, path):
    header = json.dumps(layout(model)).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.writelines(parameter.detach().cpu().float().numpy().tobytes() for parameter in trained(model).values())

def places(model, folder, count):
    """Returns the first weight of each parameter in the mounted model: by name if its tensors have names, else in order."""
    own, mounted = layout(model), {}
    if os.path.exists(f"{folder}/tensors.json"):
        with open(f"{folder}/tensors.json") as file:
            mounted = json.load(file)
    if mounted.keys() <= {"weights"}:
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
        self.parameters, self.control = list(trained(model).values()), os.open(f"{folder}/mapped/control", os.O_RDWR)
        try:
            dtype = os.getxattr(f"{folder}/model", "user.modeldisk.dtype").decode()
            kind = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[dtype]
            files = sorted(file for file in os.listdir(f"{folder}/mapped") if file != "control")  # gradients, then weights
            flats = [torch.from_numpy(np.memmap(f"{folder}/mapped/{file}", np.uint8, "r+")).view(kind) for file in files]
            ranges = [(at, at + p.numel(), p.shape) for at, p in zip(places(model, folder, len(flats[0])), self.parameters)]
            views = [[flat[begin:end].view(shape) for begin, end, shape in ranges] for flat in flats]
            self.sets = list(zip(views[len(views) // 2 :], views))
            self.begin()
        except BaseException:
            os.close(self.control)
            raise

    def begin(self):
        weights, self.gradients = self.sets[json.loads(os.pread(self.control, 4096, 0))["set"]]
        for parameter, weight, gradient in zip(self.parameters, weights, self.gradients):
            gradient.zero_()
            same = (parameter.dtype, parameter.device) == (weight.dtype, weight.device)
            parameter.data, parameter.grad = (weight, gradient) if same else (parameter.data.copy_(weight), None)

    def step(self):
        """Ends an iteration. If it raises an OSError, the next call pushes the same gradient again."""
        for parameter, gradient in zip(self.parameters, self.gradients):
            if parameter.grad is not gradient:
                gradient.copy_(torch.zeros(()) if parameter.grad is None else parameter.grad.detach())
        os.fsync(self.control)
        self.begin()
