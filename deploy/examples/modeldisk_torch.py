"""Trains a PyTorch model through a mount of modeldisk. Copy this file: it needs only PyTorch and numpy.

    save(model, "net.safetensors")               # once: the initial weights, for `modeldisk serve --from net.safetensors`
    with Learner(model, "/mnt/net") as learner:  # joins: the parameters and their .grad are now the buffers of the mount
        for images, labels in batches:
            loss(model(images), labels).backward()
            learner.step()                       # pushes the gradient, pulls the new weights, and sets .grad to zero

The optimizer is the aggregator of the shards, such as `serve --aggregator adam:lr=0.001`. Frozen parameters and buffers (running
means) stay local. Parameters on a GPU, in shared memory or of another type than the mount are copied in each step. Limits: stores
through `.data` are not seen; all parameters decay, also biases and those without a gradient, which push zeros.
"""
import contextlib, errno, fcntl, json, os, warnings, weakref
import numpy as np
import torch

def trained(model):
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}

def layout(model):
    """Returns the header of a safetensors file that contains the trained parameters one after the other."""
    header, end = {}, 0
    for name, p in trained(model).items():
        header[name] = {"dtype": "F32", "shape": list(p.shape), "data_offsets": [end, end := end + 4 * p.numel()]}
    return header

def address(tensor):
    return None if tensor is None or tensor.is_sparse else tensor.data_ptr()
def content(parameter):
    return parameter.detach().cpu().float().contiguous().numpy().tobytes()

def save(model, path):
    header = json.dumps(layout(model)).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.writelines(content(parameter) for parameter in trained(model).values())

def places(model, folder, count):
    """Returns the range and shape of each tensor in the mounted model. A model without names has the tensors of the network."""
    mounted = {}
    with contextlib.suppress(FileNotFoundError), open(f"{folder}/tensors.json") as file:
        mounted = json.load(file)
    if mounted.keys() <= {"weights"}:
        mounted, needed = layout(model), sum(parameter.numel() for parameter in trained(model).values())
        if count != needed:
            raise ValueError(f"the model at {folder} has {count} weights, but the parameters need {needed}")
    return {n: ([at // (4 if t["dtype"] == "F32" else 2) for at in t["data_offsets"]], t["shape"]) for n, t in mounted.items()}

class Learner(contextlib.AbstractContextManager):
    """A learner of the model that is mounted at `folder` with --exchange sync or overlap, until close() or the process ends."""
    alive = weakref.WeakSet()
    def __init__(self, model, folder):
        self.model, self.folder, self.tied = model, folder, {}
        with contextlib.ExitStack() as undo:
            self.control = undo.enter_context(open(f"{folder}/mapped/control", "r+b", buffering=0))
            try:
                fcntl.flock(self.control, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OSError(errno.EBUSY, f"{folder} has a Learner: close() it, or mount the model once more") from None
            dtype = os.getxattr(f"{folder}/model", "user.modeldisk.dtype").decode()
            self.dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[dtype]
            files = sorted(file for file in os.listdir(f"{folder}/mapped") if file != "control")  # gradients, then weights
            maps = [np.memmap(f"{folder}/mapped/{file}", np.int32 if dtype == "f32" else np.int16, "r+") for file in files]
            self.maps = list(zip(maps[len(maps) // 2 :], maps))
            self.places = places(model, folder, len(maps[0]))
            self.sets = [{name: self.views(number, name) for name in self.places} for number in range(len(self.maps))]
            Learner.alive.add(self)
            self.begin(self.parameters())
            undo.pop_all()

    def views(self, number, name, array=np.asarray):  # separate storages, so share_memory() moves only one
        (begin, end), shape = self.places[name]
        return [torch.from_numpy(array(map[begin:end])).view(self.dtype).view(shape) for map in self.maps[number]]

    def parameters(self):
        """Returns the parameters that the network has now, by name. Those that were frozen after they were tied stay tied."""
        self.control.fileno()  # raises a ValueError after close()
        found = {name: p for name, p in self.model.named_parameters() if p.requires_grad or name in self.tied}
        for name, p in found.items():
            if self.places.get(name, [0, None])[1] != list(p.shape):
                raise ValueError(f"{self.folder} has no tensor {name} of shape {list(p.shape)}: freeze it, or serve it")
        idle = self.places.keys() - {name for name, p in found.items() if p.requires_grad}
        if idle:
            warnings.warn(f"{self.folder}: no parameter trains {sorted(idle)}; the gradient is zero")  # shown once
        return found

    def begin(self, parameters):
        state = json.loads(os.pread(self.control.fileno(), 4096, 0))
        self.set = state["set"]
        self.maps[self.set][1][:] = 0
        for name, p in parameters.items():
            if (address(p), address(p.grad)) != tuple(map(address, self.sets[self.set][name])):
                weight, gradient = self.views(self.set, name)
                same = (p.dtype, p.device, p.is_shared()) == (weight.dtype, weight.device, False)
                p.data, p.grad = (weight, gradient) if same else (p.data.copy_(weight), None)
            self.tied[name] = [p, p.data_ptr(), p._version]
        self.iteration, self.pending = state.get("iteration"), False

    def check(self, parameters):
        for name, p in parameters.items():
            weight, (known, *state) = self.sets[self.set][name][0], self.tied.get(name, [None])
            same = known is p and state == [p.data_ptr(), p._version]
            if not same and (p.data_ptr() == weight.data_ptr() or not torch.equal(p.detach(), weight.to(p))):
                raise RuntimeError(f"{name} was changed outside of step(): push_weights() keeps it, a new Learner loses it")

    def step(self):
        """Ends an iteration. After an exception, another step() pushes the gradient unless it counted; drop() discards it."""
        parameters = self.parameters()
        if self.pending and json.loads(os.pread(self.control.fileno(), 4096, 0)).get("iteration") != self.iteration:
            return self.begin(parameters)  # Ctrl-C came after the fsync had succeeded
        self.check(parameters)
        for name, p in parameters.items():
            gradient, replaced = self.sets[self.set][name][1], self.tied.get(name, [p])[0] is not p
            if address(p.grad) != address(gradient) and not (replaced and p.grad is None):  # keeps the old one's gradient
                gradient.copy_(torch.zeros(()) if p.grad is None else p.grad.to_dense() if p.grad.is_sparse else p.grad.detach())
        self.pending = True
        try:
            os.fsync(self.control)
        except OSError as error:
            ended = f"the mount has ended: run `modeldisk unmount {self.folder}`, mount again, and make a new Learner"
            remedy = ended if error.errno == errno.ENOTCONN else "call step() again with the same gradient, or drop() it"
            with contextlib.suppress(OSError, ValueError, KeyError), open(f"{self.folder}/status.json") as file:
                error.strerror = json.load(file)["mount"]["lastError"] or error.strerror
            lost = error.errno == errno.ESTALE or "discarded" in error.strerror or "gone back" in error.strerror
            if lost or error.errno == errno.EIO and not all(g.isfinite().all() for _, g in self.sets[self.set].values()):
                self.begin(parameters)
                remedy = "continue with the next batch"
            raise OSError(error.errno, f"{error.strerror}; {remedy}") from None
        self.begin(parameters)

    def drop(self):
        """Discards the gradient of a failed or interrupted step(), except for the blocks that shards have accepted."""
        self.check(parameters := self.parameters())
        os.setxattr(self.control.fileno(), "user.modeldisk.drop", b"")
        self.begin(parameters)

    def push_weights(self):
        """Writes the network's weights to the model. Needs the right `raw`. No learner must call step() at the same time."""
        with open(os.open(f"{self.folder}/weights", os.O_WRONLY), "wb") as file:
            for name, p in self.parameters().items():
                file.seek(4 * self.places[name][0][0])
                file.write(content(p))
                self.sets[self.set][name][0].copy_(p.detach())
                self.tied[name] = [p, p.data_ptr(), p._version]

    def close(self, *_):
        """Leaves: the other learners continue without this one. The network keeps its weights."""
        if not self.control.closed:
            for name, (p, *_) in self.tied.items():  # copies with numpy: a forked child has no threads with which torch copies
                if p.data_ptr() == self.sets[self.set][name][0].data_ptr():
                    p.data, p.grad = self.views(self.set, name, np.array)
            self.control.close()
    __exit__ = close

def leave_in_child():  # such as a worker of a DataLoader, which would keep a killed learner alive
    for learner in Learner.alive:
        with contextlib.suppress(OSError):
            learner.close()
os.register_at_fork(after_in_child=leave_in_child)
