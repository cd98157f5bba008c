"""Tests of deploy/fleet/run: its inventory, and its commands with a simulated ssh. test_cluster.py tests a whole fleet."""

import contextlib
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import inventory  # noqa: E402
import main  # noqa: E402

EXAMPLE = HERE / "example.toml"


class InventoryTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name, "fleet.toml")
        self.write(EXAMPLE.read_text())
        for role in ("coordinator", "shards", "mounts"):
            self.path.with_name(f"{role}.secrets").write_text(f"self {role} aSecretOf{role}12\n")

    def write(self, text):
        self.path.write_text(textwrap.dedent(text))

    def inventory(self):
        return inventory.Inventory(self.path)

    def test_each_host_gets_the_settings_of_its_processes(self):
        files = self.inventory().files("alpha")
        self.assertEqual(sorted(files), [
            "etc/modeldisk/coordinator.properties", "etc/modeldisk/coordinator.secrets",
            "etc/modeldisk/shards/digits-0.properties", "etc/modeldisk/shards/digits-0.secrets",
            "etc/modeldisk/shards/digits-1.properties", "etc/modeldisk/shards/digits-1.secrets"])
        text, mode = files["etc/modeldisk/shards/digits-1.properties"]
        self.assertEqual(mode, 0o644)
        for line in ("serve.shard=1/2", "serve.listen=10.0.0.1:3261", "serve.coordinator=10.0.0.1:2181", "serve.replicas=2",
                     "serve.model=digits", "serve.size=64MiB", "serve.coordinator-session=3s"):
            self.assertIn(f"\n{line}\n", text.decode())
        self.assertEqual(files["etc/modeldisk/shards/digits-0.secrets"][1], 0o600)
        self.assertEqual(self.inventory().units("beta"), ["modeldisk-shard@digits-0.service", "modeldisk-shard@digits-1.service",
                                                          "modeldisk-mount@learner-1.service"])

    def test_settings_are_options_of_the_commands(self):
        """The reference of all settings is generated from the options of the commands, so it has each setting that exists."""
        reference = (HERE.parent.parent / "docs/reference.md").read_text()
        known = set(re.findall(r"`((?:serve|mount|coordinator)\.[a-z-]+)`", reference))
        self.assertIn("serve.block-size", known)
        # A mount unit has no command-line arguments and reads these two settings instead.
        known |= {"mount.address", "mount.directory"}
        for host in ("alpha", "beta"):
            for name, (text, _) in self.inventory().files(host).items():
                if name.endswith(".properties"):
                    used = set(re.findall(r"(?m)^([a-z.-]+)=", text.decode()))
                    self.assertTrue(used)
                    self.assertEqual(used - known, set(), name)

    def test_wrong_inventories_are_refused_with_the_remedy(self):
        for text, message in (
                ("[model]\n", "needs the name of the model"),
                ("[modle]\nname='m'", "unknown table [modle]"),
                ("[model]\nname='m'\n[shard.1]\nhosts=['a']", "[shard.0] to [shard.0], without a gap"),
                ("[model]\nname='m'\n[shard.0]\nhosts=['a']", "uses the host 'a', but has no [host.a]"),
                ("[model]\nname='m'\n[host.a]\naddress='x'\n[host.b]\naddress='y'\n[shard.0]\nhosts=['a','b']",
                 "needs [coordinator]"),
                ("[model]\nname='m'\n[host.a]\naddress='x'\n[shard.0]\nhosts=['a']\nport=1\n[shard.1]\nhosts=['a']\nport=1",
                 "two shards at port 1 of host a"),
                ("[model", "is not TOML")):
            with self.subTest(message):
                self.write(text)
                with self.assertRaisesRegex(inventory.Invalid, re.escape(message)):
                    self.inventory()

    def test_moving_a_shard_changes_only_its_hosts(self):
        before = self.path.read_text()
        changed = self.inventory().with_host("gamma", "10.0.0.3", None).with_hosts(1, ["gamma", "alpha"])
        self.assertEqual(changed.shards[1]["hosts"], ["gamma", "alpha"])
        self.assertEqual(changed.shards[0]["hosts"], ["alpha", "beta"])
        after = self.path.read_text()
        undone = after.replace('hosts = ["gamma", "alpha"]', 'hosts = ["beta", "alpha"]').split("[host.gamma]")[0]
        self.assertEqual(undone.rstrip(), before.rstrip())

    def test_invalid_change_leaves_the_inventory_unchanged(self):
        before = self.path.read_text()
        with self.assertRaises(inventory.Invalid):
            self.inventory().with_hosts(1, ["nowhere"])
        self.assertEqual(self.path.read_text(), before)

    def fleet(self, *arguments):
        """Runs a command of deploy/fleet/run. Hosts are folders, and ssh and systemctl are simulated."""
        ssh = pathlib.Path(self.folder.name, "ssh")
        ssh.write_text(f"""#!/bin/bash
root={self.folder.name}/roots/$1; mkdir -p "$root"
echo "$1: $2" >>{self.folder.name}/ssh.log
systemctl() {{ echo "systemctl $*" >>"$root/units"; [ "$1" != is-active ] || echo active; }}
if [ -e {self.folder.name}/broken ]; then systemctl() {{ echo "Unit not found" >&2; return 5; }}; fi
command=${{2//\\/etc/$root/etc}}
set -o pipefail
eval "${{command/-C \\//-C $root}}" | sed "s|$root||"
""")
        ssh.chmod(0o755)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = main.run(["--inventory", str(self.path), "--ssh", str(ssh), *arguments])
        return status, out.getvalue()

    def test_generate_writes_the_files_of_each_host(self):
        out = pathlib.Path(self.folder.name, "out")
        self.assertEqual(self.fleet("generate", str(out))[0], 0)
        self.assertIn("serve.shard=0/2", (out / "beta/etc/modeldisk/shards/digits-0.properties").read_text())
        self.assertEqual((out / "beta/etc/modeldisk/shards/digits-0.secrets").stat().st_mode & 0o777, 0o600)

    def test_dry_run_shows_all_changes_and_makes_none(self):
        status, said = self.fleet("--dry-run", "apply")
        self.assertEqual(status, 0, said)
        self.assertIn("root@alpha: ", pathlib.Path(self.folder.name, "ssh.log").read_text())
        self.assertIn("alpha: /etc/modeldisk/shards/digits-0.properties", said)
        self.assertIn("beta: systemctl enable modeldisk-shard@digits-0.service modeldisk-shard@digits-1.service", said)
        self.assertIn("nothing was changed", said)
        roots = pathlib.Path(self.folder.name, "roots")
        self.assertEqual([file for file in roots.rglob("*") if file.is_file()], [])
        self.assertEqual(self.path.read_text(), EXAMPLE.read_text())

    def apply(self):
        modeldisk = pathlib.Path(self.folder.name, "modeldisk")
        shard = '{"coordinator": {"standbys": ["another"]}}'
        modeldisk.write_text(f"#!/bin/sh\necho '[{shard}, {shard}]'\n")
        modeldisk.chmod(0o755)
        return self.fleet("--modeldisk", str(modeldisk), "apply")

    def units(self, host):
        file = pathlib.Path(self.folder.name, "roots", f"root@{host}", "units")
        text = file.read_text() if file.exists() else ""
        file.unlink(missing_ok=True)
        return text

    def test_next_apply_completes_a_failed_apply(self):
        broken = pathlib.Path(self.folder.name, "broken")
        broken.touch()
        status, said = self.apply()
        self.assertEqual(status, 1)
        self.assertIn("Unit not found", said)
        broken.unlink()
        status, said = self.apply()
        self.assertEqual(status, 0, said)
        self.assertIn("start --no-block modeldisk-coordinator.service modeldisk-shard@digits-0.service", self.units("alpha"))
        self.assertIn("start --no-block modeldisk-shard@digits-0.service modeldisk-shard@digits-1.service", self.units("beta"))
        self.assertEqual(self.apply(), (0, "nothing was changed\n"))

        self.write(self.path.read_text().replace('coordinator-session = "3s"', 'coordinator-session = "5s"'))
        broken.touch()
        self.assertEqual(self.apply()[0], 1)
        broken.unlink()
        self.units("alpha")
        status, said = self.apply()
        self.assertEqual(status, 0, said)
        for host in ("alpha", "beta"):
            self.assertIn("restart modeldisk-shard@digits-0.service\nsystemctl restart modeldisk-shard@digits-1.service",
                          self.units(host))
        self.assertEqual(self.apply(), (0, "nothing was changed\n"))

    def test_apply_refuses_to_change_model_options_while_shards_run(self):
        self.assertEqual(self.apply()[0], 0)
        before = self.path.read_text()
        self.write(before.replace('consistency = "bsp"', 'consistency = "asp"'))
        status, said = self.apply()
        self.assertEqual(status, 1)
        self.assertIn("runs with another value of serve.consistency", said)
        self.write(before)
        self.assertEqual(self.apply(), (0, "nothing was changed\n"))

    def test_lists_are_settings_and_tables_are_refused(self):
        self.write(self.path.read_text().replace('durability = "replica"', 'durability = "replica"\nallow-address = ["10.0.0.0/8", "::1"]'))
        text = self.inventory().files("beta")["etc/modeldisk/shards/digits-0.properties"][0].decode()
        self.assertIn("\nserve.allow-address=10.0.0.0/8,::1\n", text)
        self.write(self.path.read_text() + "[serve.sub]\na = 1\n")
        with self.assertRaisesRegex(inventory.Invalid, "has a table as the option sub"):
            self.inventory()

    def test_restart_is_rolling_by_default(self):
        status, said = self.fleet("--dry-run", "restart")
        self.assertEqual(status, 0, said)
        self.assertIn("alpha: systemctl restart modeldisk-shard@digits-0.service\n(wait until all shards of digits are complete)", said)
        self.assertEqual(self.fleet("--dry-run", "restart", "--rolling"), (status, said))

    def test_apply_reports_a_missing_secrets_file(self):
        self.path.with_name("shards.secrets").unlink()
        status, said = self.fleet("apply")
        self.assertEqual(status, 1)
        self.assertIn("shards.secrets", said)

    def test_shard_without_coordinator_is_not_moved(self):
        self.write("""
            [model]
            name = "m"
            size = "1MiB"
            [host.a]
            address = "10.0.0.1"
            [host.b]
            address = "10.0.0.2"
            [shard.0]
            hosts = ["a"]
            """)
        status, said = self.fleet("move", "0", "b")
        self.assertEqual(status, 1)
        self.assertIn("has no [coordinator]; without one, mounts use the fixed addresses of the shards", said)


class CommandTest(unittest.TestCase):
    def test_help_names_all_commands(self):
        done = subprocess.run([HERE / "run", "--help"], capture_output=True, check=True, text=True)
        for name in ("generate", "apply", "restart", "move", "add"):
            self.assertRegex(done.stdout, rf"(?m)^ +{name} ")


if __name__ == "__main__":
    unittest.main()
