"""Trains a PyTorch network through a model that modeldisk has mounted. This file also works alone, with PyTorch and numpy.

    with Learner(net) as learner:                # under `modeldisk run`; with another mount: Learner(net, "/mnt/net")
        for images, labels in DataLoader(data, batch_size=64, sampler=learner.sampler(data)):
            loss(net(images), labels).backward()
            learner.step()                       # pushes the gradient, pulls the new weights, and sets .grad to zero

Without `modeldisk run`, first save(net, "net.safetensors") writes the initial weights for `modeldisk serve --from net.safetensors`.
The parameters and their .grad are the buffers of the mount. The optimizer is the aggregator of the shards, such as
`--aggregator adam:lr=0.001`. Frozen parameters and buffers (running means) stay local. Parameters on a GPU, in shared memory or of
another type than the mount are copied in each step. Limits: changes through `.data` are not detected; weight decay applies to all
parameters, also to biases and to those without a gradient, which push zeros.
"""
import contextlib, errno, fcntl, json, os, pathlib, sys, time, warnings, weakref
try:
    import numpy as np
    import torch
except ImportError as error:
    install = "install Debian's python3-torch, or pip install torch numpy"
    raise ImportError(f"modeldisk needs PyTorch and numpy: {error}; {install}", name=error.name) from None

ENDED = (errno.ENOTCONN, errno.ECONNABORTED)  # the process of the mount is gone
FIRST_POLL, LONGEST_POLL, REMINDER = 0.005, 0.05, 30  # seconds

def trained(model):
    found = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    for name, parameter in found.items():
        if not parameter.is_floating_point():
            raise TypeError(f"{name} has the type {parameter.dtype}, but only floating-point parameters can be trained: freeze it")
    return found

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
    """Returns the range and shape of each tensor in the mounted model. A model without names has those of the network."""
    mounted = {}
    with contextlib.suppress(FileNotFoundError), open(f"{folder}/tensors.json") as file:
        mounted = json.load(file)
    if mounted.keys() <= {"weights"}:
        mounted, needed = layout(model), sum(parameter.numel() for parameter in trained(model).values())
        if count != needed:
            remedy = "serve a file of save(net, FILE), or train the network of this model"
            raise ValueError(f"the model at {folder} has {count} weights, but the parameters need {needed}: {remedy}")
    return {n: ([at // (4 if t["dtype"] == "F32" else 2) for at in t["data_offsets"]], t["shape"]) for n, t in mounted.items()}

def explanation(folder, error, remedy):
    """Returns the reason that the mount gives for an error number, and what to do."""
    reason = error.strerror
    if error.errno in ENDED:
        return reason, f"the mount has ended: run `modeldisk unmount {folder}`, mount again, and make a new Learner"
    with contextlib.suppress(OSError, ValueError, KeyError), open(f"{folder}/status.json") as file:
        reason = json.load(file)["mount"]["lastError"] or reason
    return reason, "then make a new Learner" if "another model" in reason else remedy

@contextlib.contextmanager
def explained(folder, remedy):
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, "; ".join(explanation(folder, error, remedy))) from None

def obstacle(folder, error):
    """Returns the reason why mapped/control cannot be opened, and what to do."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        if os.path.exists(f"{folder}/model"):
            return f"{folder} has no mapped buffers: mount it with --exchange sync or overlap, not direct, and without --read-only"
        return f"{folder} is not a mounted model: run `modeldisk mount modeldisk://HOST:PORT/NAME {folder}`"
    if error.errno == errno.EROFS:
        return f"{folder} is mounted with --read-only: mount it without"
    if error.errno == errno.EACCES and not os.access(f"{folder}/mapped/control", os.W_OK):
        return f"this user cannot write to {folder}: run as the user who mounted it, or share the mount (--uid, --gid or --allow-other)"
    wait = "close() the other Learner, or mount the model once more" if error.errno == errno.EBUSY else "create the Learner again"
    return "; ".join(explanation(folder, error, wait))

def join(folder):
    """Opens mapped/control. This process is then the learner of the mount."""
    try:
        control = open(f"{folder}/mapped/control", "r+b", buffering=0)
    except OSError as error:
        raise OSError(error.errno, obstacle(folder, error)) from None
    try:
        fcntl.flock(control, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        control.close()
        raise OSError(errno.EBUSY, f"{folder} has a Learner: close() it, or mount the model once more") from None
    return control

def publish(path, store):
    """Writes a file that other processes see only when it is complete."""
    store(f"{path}.{os.getpid()}")
    os.rename(f"{path}.{os.getpid()}", path)

def await_mount(model, run, rank):
    """Waits until `modeldisk run` has mounted the model. Rank 0 provides its initial weights, unless it already has weights."""
    def has(name):
        return os.path.exists(f"{run}/{name}")

    def text(name):
        with contextlib.suppress(OSError), open(f"{run}/{name}") as file:
            return file.read().strip()

    pid = text(mine := f"learner-{rank}")
    if pid and int(pid) != os.getpid() and os.path.exists(f"/proc/{pid}"):
        remedy = "start more learners with `modeldisk run`, not with fork or spawn"
        raise RuntimeError(f"process {pid} is the learner of rank {rank} already, not process {os.getpid()}: {remedy}")
    try:
        publish(f"{run}/{mine}", lambda path: pathlib.Path(path).write_text(f"{os.getpid()}\n"))
        if rank == 0 and not has("ready"):
            publish(f"{run}/model.safetensors", lambda path: save(model, path))
    except FileNotFoundError:
        pass  # the loop below reports that the directory is gone
    begun = reminded = time.monotonic()
    pause = FIRST_POLL
    while has("failed") or not has("ready"):
        if has("failed"):
            raise RuntimeError(f"`modeldisk run` has failed: {text('failed')}")
        if not os.path.isdir(run):
            raise RuntimeError("`modeldisk run` has ended: start it again")
        if rank and time.monotonic() >= reminded + REMINDER:
            reminded = time.monotonic()
            missing = "the mount of the model" if has("model.safetensors") else "the weights of rank 0, which has no Learner yet"
            print(f"modeldisk: rank {rank} has waited {reminded - begun:.0f} s for {missing}", file=sys.stderr, flush=True)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_POLL)

class PartSampler(torch.utils.data.Sampler):
    """The samples of one learner. In each epoch, all learners divide the same shuffled order, and draw from it in turn."""

    def __init__(self, learner, dataset, seed):
        self.learner, self.dataset, self.seed, self.epoch = learner, dataset, seed, 0

    def set_epoch(self, epoch):
        """Sets the number of the next epoch, which determines the order. It also grows by one with each epoch."""
        self.epoch = epoch

    def __len__(self):
        rank, of = self.learner.part()
        return len(range(rank, len(self.dataset), of))

    def __iter__(self):
        order = np.random.default_rng([self.seed, self.epoch]).permutation(len(self.dataset))
        self.epoch += 1
        begin = drawn = 0
        rank, of = self.learner.part()
        while begin + drawn * of + rank < len(order):
            yield int(order[begin + drawn * of + rank])
            drawn += 1
            if (part := self.learner.part()) != (rank, of):  # the learners now divide the rest
                begin, drawn, (rank, of) = begin + drawn * of, 0, part

class Learner(contextlib.AbstractContextManager):
    """A learner of the model that is mounted at `folder` with --exchange sync or overlap, until close() or the process ends.

    Under `modeldisk run`, `folder` is left out. When shards have gone back to earlier weights, step() warns and continues; with
    rollback="raise" it raises an OSError. `rank` and `of` are the number of this learner, from 0, and the number of learners.
    """
    alive = weakref.WeakSet()
    rank = property(lambda self: self.ranks[0] if self.run else self.part()[0])
    of = property(lambda self: self.ranks[1] if self.run else self.part()[1])

    def __init__(self, model, folder=None, *, rollback="continue"):
        if rollback not in ("continue", "raise"):
            raise ValueError(f"rollback={rollback!r} must be 'continue' or 'raise'")
        given = os.environ.get("MODELDISK_DIR")
        if folder is None and not given:
            raise RuntimeError("no model to train: start the program with `modeldisk run`, or name a mount: Learner(net, DIR)")
        self.model, self.folder, self.rollback, self.tied, self.known = model, str(folder or given), rollback, {}, None
        if any(other.model is model and not other.control.closed for other in Learner.alive):
            raise RuntimeError("this network has a Learner already: close() it first")
        self.run = os.environ.get("MODELDISK_RUN") if self.folder == given else None
        if self.run:
            self.ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
            await_mount(model, self.run, self.ranks[0])
        with contextlib.ExitStack() as undo:
            self.control = undo.enter_context(join(self.folder))
            dtype = os.getxattr(f"{self.folder}/model", "user.modeldisk.dtype").decode()
            self.dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}[dtype]
            files = sorted(file for file in os.listdir(f"{self.folder}/mapped") if file != "control")  # gradients, then weights
            with explained(self.folder, "the buffers are memory of the mount's process: run as its user, in its PID namespace"):
                maps = [np.memmap(f"{self.folder}/mapped/{file}", np.int32 if dtype == "f32" else np.int16, "r+") for file in files]
            self.maps = list(zip(maps[len(maps) // 2 :], maps))
            self.places = places(model, self.folder, len(maps[0]))
            self.sets = [{name: self.views(number, name) for name in self.places} for number in range(len(self.maps))]
            Learner.alive.add(self)
            self.begin(self.parameters())
            undo.pop_all()
        if any(name.endswith("running_mean") for name, _ in model.named_buffers()) and not (self.run and self.ranks[0]):
            warnings.warn("BatchNorm: the running means are not part of the model, so each learner has its own", stacklevel=2)

    def views(self, number, name, array=np.asarray):  # separate storages, so share_memory() moves only one
        (begin, end), shape = self.places[name]
        return [torch.from_numpy(array(map[begin:end])).view(self.dtype).view(shape) for map in self.maps[number]]

    def parameters(self):
        """Returns the parameters that the network has now, by name. Those that were frozen after they were tied stay tied."""
        self.check_open()
        found = {name: p for name, p in self.model.named_parameters() if p.requires_grad or name in self.tied}
        for name, p in found.items():
            if self.places.get(name, [0, None])[1] != list(p.shape):
                has = f"{name} of shape {self.places[name][1]}" if name in self.places else f"no tensor {name}"
                remedy = "build the network of rank 0" if self.run and self.ranks[0] else "freeze it, or serve it"
                raise ValueError(f"the model at {self.folder} has {has}, the network has {name} of shape {list(p.shape)}: {remedy}")
        idle = self.places.keys() - {name for name, p in found.items() if p.requires_grad}
        if idle:
            warnings.warn(f"{self.folder}: no parameter trains {sorted(idle)}; the gradient is zero")  # shown once
        return found

    def check_open(self):
        if self.control.closed:
            raise ValueError(f"this Learner of {self.folder} is closed, or belongs to the parent of this forked process")

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
        self.iteration, self.pending, self.asked = state.get("iteration"), False, False

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
            return self.begin(parameters)  # the interrupted fsync had succeeded
        self.check(parameters)
        for name, p in parameters.items():
            gradient, replaced = self.sets[self.set][name][1], self.tied.get(name, [p])[0] is not p
            if address(p.grad) != address(gradient) and not (replaced and p.grad is None):  # keeps the buffer
                gradient.copy_(torch.zeros(()) if p.grad is None else p.grad.to_dense() if p.grad.is_sparse else p.grad.detach())
        self.pending = True
        try:
            os.fsync(self.control)
        except OSError as error:
            reason, remedy = explanation(self.folder, error, "call step() again with the same gradient, or drop() it")
            forgotten = error.errno == errno.ESTALE and "another model" not in reason
            back = forgotten or "gone back" in reason or "before the mount was restarted" in reason
            finite = error.errno != errno.EIO or all(g.isfinite().all() for _, g in self.sets[self.set].values())
            if back or "discarded" in reason or not finite:
                self.begin(parameters)
                remedy = "continue with the next batch"
            if back and self.rollback == "continue":
                return warnings.warn(f"{reason}; this gradient is lost, and the training continues", stacklevel=2)
            raise OSError(error.errno, f"{reason}; {remedy}") from None
        self.begin(parameters)

    def drop(self):
        """Discards the gradient of a failed or interrupted step(), except for the blocks that shards have accepted."""
        self.check(parameters := self.parameters())
        with explained(self.folder, "call drop() again"):
            os.setxattr(self.control.fileno(), "user.modeldisk.drop", b"")
        self.begin(parameters)

    def push_weights(self):
        """Writes the network's weights to the model. Needs the right `raw`. No learner may call step() at the same time."""
        parameters = self.parameters()
        with explained(self.folder, "call it again"), open(os.open(f"{self.folder}/weights", os.O_WRONLY), "wb") as file:
            for name, p in parameters.items():
                file.seek(4 * self.places[name][0][0])
                file.write(content(p))
                self.sets[self.set][name][0].copy_(p.detach())
                self.tied[name] = [p, p.data_ptr(), p._version]

    @property
    def lr(self):
        """The learning rate of this iteration, including the schedule. Setting it changes the base rate on all shards."""
        with explained(self.folder, "set learner.lr"):
            if "user.modeldisk.lr" in os.listxattr(f"{self.folder}/model"):
                return float(os.getxattr(f"{self.folder}/model", "user.modeldisk.lr"))
        raise OSError(errno.ENODATA, f"the aggregator of the model at {self.folder} has no learning rate")

    @lr.setter
    def lr(self, rate):
        with explained(self.folder, "the learning rate is unchanged"):
            os.setxattr(f"{self.folder}/model", "user.modeldisk.lr", repr(float(rate)).encode())

    def part(self):
        """Returns the rank of this learner and the number of parts of the data. Both can change with each iteration."""
        self.check_open()
        if not self.asked:
            with explained(self.folder, "try again"), open(f"{self.folder}/partition") as file:
                told = json.load(file)
            if told["rank"] is None and self.known is None:
                raise RuntimeError(f"{self.folder}/partition gives this learner no part of the data yet: call step() first")
            self.known = self.known if told["rank"] is None else (told["rank"], told["of"])
            self.asked = True
        return self.known

    def sampler(self, dataset, seed=0):
        """Returns a sampler of this learner's part of the data, for DataLoader(dataset, batch_size, sampler=...)."""
        return PartSampler(self, dataset, seed)

    def close(self, *_):
        """Leaves the training; the other learners continue. The network keeps its weights."""
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
