"""The inventory: the hosts, shards, mounts and coordinator of one model. Determines the files and units of each host."""

import pathlib
import re
import tomllib

FOLDER = "etc/modeldisk"
MANIFEST = f"{FOLDER}/fleet.manifest"
SHARD_PORT, COORDINATOR_PORT = 3260, 2181
TABLES = {"model", "serve", "coordinator", "secrets", "host", "shard", "mount"}
NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


class Invalid(Exception):
    """The inventory is wrong. The message contains the place and the remedy."""


class Inventory:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        try:
            self.tables = tomllib.loads(self.path.read_text())
        except FileNotFoundError as e:
            raise Invalid(f"the inventory {path} does not exist; deploy/fleet/example.toml is an example") from e
        except tomllib.TOMLDecodeError as e:
            raise Invalid(f"the inventory {path} is not TOML: {e}") from e
        unknown = sorted(set(self.tables) - TABLES)
        self.check(not unknown, f"has the unknown table [{''.join(unknown[:1])}]; known are {', '.join(sorted(TABLES))}")
        self.model = self.tables.get("model", {})
        self.check("name" in self.model, "needs the name of the model: name in [model]")
        self.hosts = self.tables.get("host", {})
        self.mounts = self.tables.get("mount", {})
        shards = self.tables.get("shard", {})
        self.check(sorted(shards) == sorted(str(i) for i in range(len(shards))) and shards,
                   f"must have the shards [shard.0] to [shard.{max(0, len(shards) - 1)}], without a gap")
        self.shards = [shards[str(i)] for i in range(len(shards))]
        for name, host in self.hosts.items():
            self.check(NAME.fullmatch(name) and "address" in host,
                       f"[host.{name}] needs an address, such as address = \"10.0.0.1\"")
        for number, shard in enumerate(self.shards):
            self.check(shard.get("hosts"), f"[shard.{number}] needs hosts, such as hosts = [\"alpha\"]")
            self.check(len(set(shard["hosts"])) == len(shard["hosts"]), f"[shard.{number}] names a host twice")
            self.check(len(shard["hosts"]) == 1 or self.coordinated,
                       f"[shard.{number}] has several hosts, which needs [coordinator]")
        used = [h for s in self.shards for h in s["hosts"]] + [m.get("host") for m in self.mounts.values()]
        if self.coordinated:
            used.append(self.tables["coordinator"].get("host"))
        for name in used:
            self.check(name in self.hosts, f"uses the host '{name}', but has no [host.{name}]")
        places = [(h, self.port(i)) for i, s in enumerate(self.shards) for h in s["hosts"]]
        for place in places:
            self.check(places.count(place) == 1,
                       f"has two shards at port {place[1]} of host {place[0]}; give them different ports")
        for table in [self.model, self.tables.get("serve", {}), self.tables.get("coordinator", {}), *self.mounts.values()]:
            for name, option in table.items():
                self.check(not isinstance(option, dict), f"has a table as the option {name}, which must be a text, a number or a list")
        for name, mount in self.mounts.items():
            self.check("directory" in mount, f"[mount.{name}] needs a directory")

    def check(self, sound, message):
        if not sound:
            raise Invalid(f"the inventory {self.path} {message}")

    @property
    def coordinated(self):
        return "coordinator" in self.tables

    def port(self, shard):
        return self.shards[shard].get("port", SHARD_PORT + shard)

    def address(self, host):
        return self.hosts[host]["address"]

    def ssh(self, host):
        return self.hosts[host].get("ssh", self.address(host))

    def place(self, shard, host):
        return f"{self.address(host)}:{self.port(shard)}"

    def coordinator(self):
        return f"{self.address(self.tables['coordinator']['host'])}:{COORDINATOR_PORT}"

    def url(self):
        """Returns the address of the model for mounts and for `modeldisk status`."""
        if self.coordinated:
            return f"modeldisk+zk://{self.coordinator()}/{self.model['name']}"
        return f"modeldisk://{','.join(self.place(i, s['hosts'][0]) for i, s in enumerate(self.shards))}/{self.model['name']}"

    def secrets(self, role):
        """Returns the secrets file of a role (shards, mounts, coordinator); None if the role has no secrets."""
        name = self.tables.get("secrets", {}).get(role)
        return None if name is None else self.path.parent / name

    def unit(self, shard):
        return f"modeldisk-shard@{self.model['name']}-{shard}.service"

    def units(self, host):
        """Returns the units of a host in the order in which they start."""
        units = ["modeldisk-coordinator.service"] if self.coordinated and self.tables["coordinator"]["host"] == host else []
        units += [self.unit(i) for i, s in enumerate(self.shards) if host in s["hosts"]]
        return units + [f"modeldisk-mount@{name}.service" for name, m in self.mounts.items() if m["host"] == host]

    def serve(self, shard, host):
        """Returns the settings of the process that runs a shard on a host."""
        hosts = self.shards[shard]["hosts"]
        settings = {"model": self.model["name"], "shard": f"{shard}/{len(self.shards)}", "listen": self.place(shard, host)}
        settings |= {name: value for name, value in self.model.items() if name != "name"}
        settings |= self.tables.get("serve", {})
        if self.coordinated:
            settings["coordinator"] = self.coordinator()
            if settings.get("durability") == "replica":
                settings["replicas"] = max(2, len(hosts))
        return settings

    def files(self, host):
        """Returns the files of a host: a dictionary from the path, relative to /, to (content, mode)."""
        files = {}

        def add(name, section, settings, role):
            text = "".join(f"{section}.{key}={value(settings[key])}\n" for key in sorted(settings))
            files[f"{FOLDER}/{name}.properties"] = (f"# Written by deploy/fleet/run from {self.path.name}.\n{text}".encode(), 0o644)
            if self.secrets(role):
                files[f"{FOLDER}/{name}.secrets"] = (self.secrets(role).read_bytes(), 0o600)

        if "modeldisk-coordinator.service" in self.units(host):
            options = {key: value for key, value in self.tables["coordinator"].items() if key != "host"}
            add("coordinator", "coordinator", {"listen": self.coordinator(), "state": "/var/lib/modeldisk/coordinator"} | options,
                "coordinator")
        for number, shard in enumerate(self.shards):
            if host in shard["hosts"]:
                add(f"shards/{self.model['name']}-{number}", "serve", self.serve(number, host), "shards")
        for name, mount in self.mounts.items():
            if mount["host"] == host:
                options = {key: value for key, value in mount.items() if key != "host"}
                add(f"mounts/{name}", "mount", {"address": self.url()} | options, "mounts")
        return files

    def edited(self, text):
        """Replaces the text of the inventory file. If the new text is invalid, restores the old one."""
        before = self.path.read_text()
        self.path.write_text(text)
        try:
            return Inventory(self.path)
        except Invalid:
            self.path.write_text(before)
            raise

    def with_hosts(self, shard, hosts):
        """Changes the hosts of a shard in the file, and keeps comments and everything else."""
        line = re.compile(rf"(?ms)^(\[shard\.{shard}\]\s*?\n(?:(?!^\[).)*?^hosts\s*=\s*)\[[^\]]*\]")
        text, count = line.subn(lambda m: m[1] + "[" + ", ".join(f'"{h}"' for h in hosts) + "]", self.path.read_text())
        self.check(count == 1, f"must have hosts = [...] in [shard.{shard}]")
        return self.edited(text)

    def with_host(self, name, address, ssh):
        self.check(name not in self.hosts, f"has [host.{name}] already")
        extra = f'ssh = "{ssh}"\n' if ssh else ""
        return self.edited(f'{self.path.read_text().rstrip()}\n\n[host.{name}]\naddress = "{address}"\n{extra}')


def value(setting):
    if isinstance(setting, list):
        return ",".join(value(each) for each in setting)
    return str(setting).lower() if isinstance(setting, bool) else str(setting)
