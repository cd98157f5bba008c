"""The commands of deploy/fleet."""

import argparse
import dataclasses
import hashlib
import io
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tarfile
import time

import inventory

STATUS_SECONDS = 60
POLL_SECONDS = 1
# The options of a shard that must be the same for all processes of a model.
SHARED = {"shard", "size", "from", "tensors", "block-size", "aggregator", "consistency", "learners", "min-learners", "non-finite"}
# The time limit of an ssh command. It is longer than the time limits of the units for a stop and a start.
SSH_SECONDS = 2400


@dataclasses.dataclass
class Plan:
    """The changes to make on a host: files to write and to remove, and units to stop, to start and to restart."""

    write: dict
    remove: list
    stop: list
    start: list
    restart: list
    again: list
    wanted: dict
    used: dict
    units: list

    def changes(self):
        return any((self.write, self.remove, self.stop, self.start, self.restart))


class Failure(Exception):
    """An action failed on a host or a shard. The message contains its name and the reason."""


class Fleet:
    def __init__(self, options):
        self.inventory = inventory.Inventory(options.inventory)
        self.dry = options.dry_run
        self.ssh_command = shlex.split(options.ssh)
        self.modeldisk = options.modeldisk
        self.wait_seconds = options.wait

    def ssh(self, host, command, data=b""):
        """Runs a shell command on a host. Returns its output."""
        line = [*self.ssh_command, self.inventory.ssh(host), command]
        try:
            done = subprocess.run(line, input=data, capture_output=True, check=False, timeout=SSH_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as e:
            raise Failure(f"host {host}: {command}: {e}") from e
        if done.returncode != 0:
            raise Failure(f"host {host}: {command} has ended with status {done.returncode}: "
                          f"{(done.stderr or done.stdout).decode(errors='replace').strip()}")
        return done.stdout.decode()

    def change(self, host, command, data=b""):
        """Runs a command that changes a host, or with --dry-run only prints it."""
        print(f"{host}: {command}", flush=True)
        if not self.dry:
            self.ssh(host, command, data)

    # Files

    def noted(self, host):
        """Returns the content of a host's manifest: the checksums of the files of running units, and the enabled units."""
        used, enabled = {}, []
        for line in self.ssh(host, f"cat /{inventory.MANIFEST} 2>/dev/null || true").splitlines():
            *digest, name = line.split()
            if name.endswith(".service"):
                enabled.append(name)
            else:
                used[name] = "".join(digest)
        return used, enabled

    def on_disk(self, host, names):
        """Returns the checksums of the named files. Files that do not exist on the host are left out."""
        sums = {}
        if names:
            paths = " ".join(shlex.quote(f"/{name}") for name in sorted(names))
            for line in self.ssh(host, f"sha256sum {paths} 2>/dev/null || true").splitlines():
                digest, name = line.split(maxsplit=1)
                sums[name.lstrip("/")] = digest
        return sums

    def plan(self, host):
        files, units = self.inventory.files(host), self.inventory.units(host)
        wanted = {name: hashlib.sha256(content).hexdigest() for name, (content, _) in files.items()}
        used, enabled = self.noted(host)
        there = self.on_disk(host, {*used, *wanted})

        def differs(unit, sums):
            return any(base(name) == base(unit) and sums.get(name) != digest for name, digest in wanted.items())

        start = [unit for unit in units if unit not in enabled]
        return Plan(
            write={name: files[name] for name, digest in wanted.items() if there.get(name) != digest},
            remove=sorted(set(used) - set(wanted)),
            stop=[unit for unit in enabled if unit not in units],
            start=start,
            restart=[unit for unit in units if unit in enabled and (differs(unit, used) or differs(unit, there))],
            # If an earlier call started a unit and failed before it wrote the manifest, this unit runs with old files.
            again=[unit for unit in start if any(base(name) == base(unit) for name in there) and differs(unit, there)],
            wanted=wanted, used=used, units=units)

    def write(self, host, plan):
        if plan.write:
            archive = io.BytesIO()
            with tarfile.open(fileobj=archive, mode="w") as tar:
                for name, (content, mode) in sorted(plan.write.items()):
                    entry = tarfile.TarInfo(name)
                    entry.size, entry.mode, entry.mtime = len(content), mode, int(time.time())
                    tar.addfile(entry, io.BytesIO(content))
            for name in sorted(plan.write):
                print(f"{host}: /{name}")
            self.change(host, "umask 022 && tar -x -p --no-same-owner -C /", archive.getvalue())
        if plan.remove:
            self.change(host, "rm -f " + " ".join(shlex.quote(f"/{name}") for name in plan.remove))

    def start(self, host, plan):
        # Shards that start together wait for each other, so systemctl must start all shards before it waits for one.
        if plan.start:
            self.change(host, "systemctl enable " + " ".join(plan.start) + " && systemctl start --no-block " + " ".join(plan.start))
        if plan.again:
            self.change(host, "systemctl restart --no-block " + " ".join(plan.again))

    def note(self, host, plan, waiting):
        """Writes the manifest of a host. For the units in ``waiting``, which still run with their old files, the manifest keeps
        the old checksums. If this call fails before it restarts these units, a later call restarts them."""
        old = {base(unit) for unit in waiting}
        lines = [f"{plan.used.get(name, '-') if base(name) in old else digest} {name}" for name, digest in plan.wanted.items()]
        text = "".join(f"{line}\n" for line in sorted(lines) + plan.units)
        file = shlex.quote(f"/{inventory.MANIFEST}")
        if not self.dry:
            # Only root can read the manifest, because the checksum of a short secret helps to guess the secret.
            self.ssh(host, f"umask 077 && cat >{file}.new && mv {file}.new {file}", text.encode())

    def apply_host(self, host):
        """Brings a host to the state of the inventory. Returns whether anything had to change."""
        plan = self.plan(host)
        if not plan.changes():
            return False
        if plan.stop:
            self.change(host, "systemctl disable --now " + " ".join(plan.stop))
        self.write(host, plan)
        self.start(host, plan)
        self.note(host, plan, plan.restart)
        for done, unit in enumerate(plan.restart, 1):
            self.change(host, f"systemctl restart {unit}")
            self.note(host, plan, plan.restart[done:])
            if "shard" in unit:
                self.await_complete()
        return True

    def check_model(self):
        """Fails if options of the model differ from those of its running processes, which must all have the same options."""
        for host in self.inventory.hosts:
            for unit in self.plan(host).restart:
                if "shard" in unit:
                    self.check_options(host, unit)

    def check_options(self, host, unit):
        file = next(name for name in self.inventory.files(host) if base(name) == base(unit) and name.endswith(".properties"))
        before = self.options(self.ssh(host, f"cat {shlex.quote(f'/{file}')} 2>/dev/null || true"))
        after = self.options(self.inventory.files(host)[file][0].decode())
        changed = [name for name in after | before if before.get(name) != after.get(name)]
        if before and changed and self.ssh(host, f"systemctl is-active {unit} || true").strip() == "active":
            raise Failure(f"host {host}: {unit} runs with another value of {', '.join(changed)}. All shards of a model must have the "
                          "same value, so stop the learners and all shards first (systemctl stop 'modeldisk-shard@*' on each host), "
                          "and apply again. Nothing was changed")

    @staticmethod
    def options(text):
        """Returns the settings of a shard that must be the same for all processes of the model."""
        lines = [line.split("=", 1) for line in text.splitlines() if not line.startswith("#")]
        return {name: setting for name, setting in lines if name.removeprefix("serve.") in SHARED}

    # State

    def status(self):
        command = [self.modeldisk, "status", "--json", self.inventory.url()]
        if self.inventory.secrets("mounts"):
            command += ["--secrets", self.inventory.secrets("mounts")]
        try:
            done = subprocess.run([str(word) for word in command], capture_output=True, check=False, timeout=STATUS_SECONDS,
                                  text=True)
        except FileNotFoundError as e:
            raise Failure(f"{self.modeldisk} was not found; install modeldisk here too, or name it with --modeldisk") from e
        except subprocess.TimeoutExpired:
            return None, f"no answer in {STATUS_SECONDS} s"
        if done.returncode != 0:
            return None, done.stderr.strip()
        return json.loads(done.stdout), None

    def obstacle(self):
        """Returns why the model is not complete; None if each shard is served and has all its backups or standbys."""
        shards, error = self.status()
        if error:
            return error
        for number, shard in enumerate(shards):
            others = len(self.inventory.shards[number]["hosts"]) - 1
            replication = shard.get("replication", {})
            if replication.get("role") in ("standby", "backup"):
                return f"shard {number} is not served"
            in_sync = sum(backup["inSync"] for backup in replication.get("backups", []))
            if "backups" in replication and in_sync < others:
                return f"shard {number} has {in_sync} of {others} backups in sync"
            standbys = len(shard.get("coordinator", {}).get("standbys", []))
            if self.inventory.coordinated and standbys < others:
                return f"shard {number} has {standbys} of {others} other processes"
        return None

    def await_complete(self):
        if self.dry:
            print(f"(wait until all shards of {self.inventory.model['name']} are complete)")
            return
        deadline = time.monotonic() + self.wait_seconds
        while True:
            obstacle = self.obstacle()
            if obstacle is None:
                return
            if time.monotonic() > deadline:
                raise Failure(f"the model is not complete after {self.wait_seconds} s: {obstacle}; the rest was not done")
            time.sleep(POLL_SECONDS)

    def primary(self, shard):
        """Returns the address of the process that serves a shard."""
        shards, error = self.status()
        if error:
            raise Failure(error)
        return shards[shard].get("coordinator", {}).get("primary")

    def restart_order(self, shard):
        """Returns a shard's hosts in restart order. The primary is the last, so it hands over to a restarted process."""
        hosts = self.inventory.shards[shard]["hosts"]
        serving = self.primary(shard) if self.inventory.coordinated and not self.dry else None
        return sorted(hosts, key=lambda host: self.inventory.place(shard, host) == serving)

    def host_order(self):
        """Returns all hosts, beginning with the host of the coordinator."""
        first = self.inventory.tables.get("coordinator", {}).get("host")
        return sorted(self.inventory.hosts, key=lambda host: host != first)


def base(name):
    """Returns a key that a unit and its files have in common: shard@m-0.service and shards/m-0.properties give shardm-0."""
    stem = pathlib.PurePath(name).stem.removeprefix("modeldisk-")
    folder = pathlib.PurePath(name).parent.name
    return {"shards": "shard", "mounts": "mount"}.get(folder, "") + stem.replace("@", "")


def generate(fleet, options):
    """Writes the files of each host below a folder."""
    out = pathlib.Path(options.out)
    for host in fleet.inventory.hosts:
        for name, (content, mode) in fleet.inventory.files(host).items():
            file = out / host / name
            print(file)
            if not fleet.dry:
                file.parent.mkdir(parents=True, exist_ok=True)
                with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as stream:
                    stream.write(content)


def apply(fleet, options):
    """Writes the files to the hosts, and starts, restarts and stops their units."""
    fleet.check_model()
    changed = [fleet.apply_host(host) for host in fleet.host_order()]
    if any(changed):
        fleet.await_complete()
    print("applied" if any(changed) and not fleet.dry else "nothing was changed")


def restart(fleet, options):
    """Restarts the processes of all shards in turn. Before each restart and at the end, waits until all shards are complete."""
    for shard in range(len(fleet.inventory.shards)):
        fleet.await_complete()
        for host in fleet.restart_order(shard):
            fleet.change(host, f"systemctl restart {fleet.inventory.unit(shard)}")
            fleet.await_complete()


def move(fleet, options):
    """Moves a shard from one of its hosts to another. Learners continue."""
    old = fleet.inventory
    old.check(0 <= options.shard < len(old.shards), f"has no [shard.{options.shard}]")
    old.check(old.coordinated, "has no [coordinator]; without one, mounts use the fixed addresses of the shards, so a shard cannot be moved")
    hosts = old.shards[options.shard]["hosts"]
    source = options.source or hosts[0]
    old.check(options.source or len(hosts) == 1, f"has several hosts of shard {options.shard}; name one of {hosts} with --from")
    old.check(source in hosts and options.host not in hosts and options.host in old.hosts,
              f"cannot move shard {options.shard} from {source} to {options.host}: it is on {hosts}, and the hosts are "
              f"{list(old.hosts)}")
    replicas = old.tables.get("serve", {}).get("durability") == "replica"
    old.check(replicas or "state" in old.serve(options.shard, source),
              "has neither durability = \"replica\" nor a state for all hosts in [serve]; without one, the new process would not have "
              "the weights")
    fleet.await_complete()
    if fleet.dry:
        print(f"(add {options.host} to [shard.{options.shard}], apply, wait; then remove {source}, apply, wait)")
        return
    # The new process first waits as a standby or a backup. When the old process stops, it saves its state and hands over.
    fleet.inventory = old.with_hosts(options.shard, [*hosts, options.host])
    plan = fleet.plan(options.host)
    fleet.write(options.host, plan)
    fleet.start(options.host, plan)
    fleet.note(options.host, plan, plan.restart)
    await_standby(fleet, options.shard, len(hosts))
    # A shard with replicas has a limited number of backups. If the new process would exceed this limit, it only waits as a
    # standby, and another process takes over.
    if not replicas or len(hosts) == 1:
        fleet.await_complete()
    fleet.inventory = fleet.inventory.with_hosts(options.shard, [options.host if host == source else host for host in hosts])
    fleet.apply_host(source)
    fleet.await_complete()
    fleet.apply_host(options.host)
    print(f"moved: shard {options.shard} is on {', '.join(fleet.inventory.shards[options.shard]['hosts'])}")


def await_standby(fleet, shard, count):
    """Waits until this number of standbys and backups of a shard have registered at the coordinator."""
    deadline = time.monotonic() + fleet.wait_seconds
    while True:
        shards, error = fleet.status()
        standbys = [] if error else shards[shard].get("coordinator", {}).get("standbys", [])
        if len(standbys) >= count:
            return
        if time.monotonic() > deadline:
            raise Failure(f"no new process of shard {shard} has registered at the coordinator after {fleet.wait_seconds} s: "
                          f"{error or standbys}; the inventory already contains the new host: undo this change, and run apply")
        time.sleep(POLL_SECONDS)


def add(fleet, options):
    """Adds a host to the inventory, if modeldisk of the same version is installed there."""
    if fleet.dry:
        print(f"(add [host.{options.name}] with the address {options.address}, if it has the same version of modeldisk)")
        return
    before = fleet.inventory.path.read_text()
    fleet.inventory = fleet.inventory.with_host(options.name, options.address, options.ssh_name)
    try:
        here = subprocess.run([fleet.modeldisk, "--version"], capture_output=True, check=True, text=True).stdout.splitlines()[:2]
        there = fleet.ssh(options.name, "modeldisk --version").splitlines()[:2]
        if here != there:
            raise Failure(f"host {options.name} has {', '.join(there)}, but this machine has {', '.join(here)}; "
                          "install the same version")
    except (Failure, OSError, subprocess.CalledProcessError):
        fleet.inventory.path.write_text(before)
        raise
    print(f"added: {options.name} with {there[0]}")


def parser():
    top = argparse.ArgumentParser(prog="fleet", description="Runs the shards, mounts and coordinator of one model on several "
                                  "hosts, as an inventory (TOML) describes them. The hosts need ssh, root, and the packages of "
                                  "modeldisk.")
    top.add_argument("--inventory", default="fleet.toml", metavar="FILE", help="the inventory (default: fleet.toml)")
    top.add_argument("--dry-run", action="store_true", help="show what would be done, and change nothing")
    top.add_argument("--ssh", default="ssh -o BatchMode=yes -o ConnectTimeout=10", metavar="COMMAND",
                     help="the command that runs a shell command on a host: COMMAND HOST 'SHELL COMMAND' (default: %(default)s)")
    top.add_argument("--modeldisk", default="modeldisk", metavar="PATH", help="the modeldisk command of this machine")
    top.add_argument("--wait", type=int, default=300, metavar="SECONDS", help="the longest time to wait until all shards are "
                     "served, with all backups in sync and all standbys there (default: %(default)s)")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for function, name in ((generate, "generate"), (apply, "apply"), (restart, "restart"), (move, "move"), (add, "add")):
        each = commands.add_parser(name, help=function.__doc__, description=function.__doc__)
        each.set_defaults(function=function)
        if name == "generate":
            each.add_argument("out", metavar="DIR")
        elif name == "restart":
            each.add_argument("--rolling", action="store_true", help="one process after the other (the default)")
        elif name == "move":
            each.add_argument("shard", type=int, metavar="SHARD")
            each.add_argument("host", metavar="HOST")
            each.add_argument("--from", dest="source", metavar="HOST", help="the host that the shard leaves, if it has several")
        elif name == "add":
            each.add_argument("name", metavar="NAME")
            each.add_argument("--address", required=True, help="the address at which shards of this host listen")
            each.add_argument("--ssh-name", metavar="HOST", help="the argument of ssh, if it is not the address")
    return top


def run(arguments):
    options = parser().parse_args(arguments)
    try:
        options.function(Fleet(options), options)
    except (Failure, inventory.Invalid, OSError, subprocess.CalledProcessError) as e:
        print(f"fleet: {e}", file=sys.stderr)
        return 1
    return 0
