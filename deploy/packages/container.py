"""A container with a bare Debian 12 that boots systemd (systemd-nspawn). It has no network, so it disturbs no other test."""

import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

RELEASE = "bookworm"
# The package recommends fuse3. The container has no network from which apt could install it later.
PACKAGES = "systemd,systemd-sysv,dbus,fuse3,python3-numpy"
# The exit status of systemd-nspawn if the container has requested a reboot.
REBOOT = 133


class Unavailable(Exception):
    """This machine cannot run the container. The message contains the reason."""


def require(condition, reason):
    if not condition:
        raise Unavailable(reason)


def mirror():
    """Returns the address from which apt of this machine installs packages of Debian 12."""
    sites = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT)", "Created-By: Packages"],
        capture_output=True, text=True)
    for line in sites.stdout.splitlines():
        match = re.fullmatch(rf"(\S+) {RELEASE} main", line)
        if match:
            return match.group(1)
    raise Unavailable(f"apt of this machine has no source for Debian 12 ({RELEASE})")


def base_system():
    """Returns the folder of a bare Debian. It is created once, and later runs use it again."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "modeldisk-container"
    base = cache / RELEASE
    if not base.exists():
        site = mirror()
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = pathlib.Path(tempfile.mkdtemp(prefix="unfinished.", dir=cache))
        log = cache / "debootstrap.log"
        try:
            print(f"   debootstrap installs Debian 12 in {base}; later runs use it again", flush=True)
            with open(log, "w") as output:
                done = subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", RELEASE, unfinished / "root", site],
                                      stdout=output, stderr=subprocess.STDOUT, timeout=900)
            require(done.returncode == 0, f"debootstrap failed; {log} has the reason")
            (unfinished / "root").rename(base)
        finally:
            shutil.rmtree(unfinished)
    return base


class Container:
    """Boots a copy of the base system at the start of a with statement, and removes it at the end."""

    def __init__(self):
        require(os.geteuid() == 0, "a container needs root")
        for program in ("systemd-nspawn", "debootstrap", "nsenter"):
            require(shutil.which(program), f"{program} is not installed")
        require(os.path.exists("/dev/fuse"), "/dev/fuse is missing")
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="modeldisk-container."))
        self.root = self.work / "root"
        self.process = None

    def __enter__(self):
        try:
            # cp keeps hard links and attributes.
            subprocess.run(["cp", "-a", base_system(), self.root], check=True)
            (self.root / "etc/hostname").write_text("modeldisk-container\n")
            self.boot()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.work, ignore_errors=True)

    def boot(self):
        """Starts the container, and waits until systemd has started all services."""
        # systemd needs a terminal as its console.
        ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", f"--directory={self.root}", "--boot", "--register=no", "--keep-unit", "--private-network",
             "--bind=/dev/fuse", f"--machine=modeldisk-{os.getpid()}"],
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        threading.Thread(target=self.drain, args=(ours,), daemon=True).start()
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                # At first, the child is a helper that ends soon. The child that stays is the init process of the container.
                self.leader = children.read_text().split()[0]
                state = self.run("systemctl is-system-running", check=False).strip()
                if state in ("running", "degraded"):
                    return
            except (OSError, IndexError):
                pass
            time.sleep(0.2)
        raise Unavailable(f"systemd does not boot in a container: {(self.work / 'console').read_text(errors='replace')[-400:]!r}")

    def drain(self, console):
        with open(self.work / "console", "ab", buffering=0) as log:
            try:
                while data := os.read(console, 4096):
                    log.write(data)
            except OSError:
                # The container has closed its terminal.
                os.close(console)

    def reboot(self):
        """Restarts the container. Returns when all services have started again."""
        self.run("systemctl reboot", check=False)
        status = self.process.wait(120)
        assert status == REBOOT, f"systemd-nspawn ended with status {status} instead of {REBOOT}"
        try:
            self.boot()
        except Unavailable as failure:
            # The container has booted before, so the package is the reason.
            raise AssertionError(str(failure)) from failure

    def run(self, command, check=True, timeout=180):
        """Runs a bash command. Returns its output."""
        done = subprocess.run(
            ["nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "env", "-i",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "OPENBLAS_NUM_THREADS=1",
             "bash", "-c", "cd /root && " + command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout)
        if check and done.returncode:
            raise AssertionError(f"'{command}' failed with status {done.returncode}:\n{done.stdout}")
        return done.stdout

    def await_output(self, command, expected, seconds=60):
        """Runs a command again and again until its output is `expected`."""
        deadline = time.monotonic() + seconds
        while True:
            output = self.run(command, check=False).strip()
            if output == expected:
                return
            if time.monotonic() > deadline:
                raise AssertionError(f"'{command}' printed {output!r} and not {expected!r} within {seconds} s")
            time.sleep(0.3)
