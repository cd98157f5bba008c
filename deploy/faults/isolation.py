"""Runs a program in namespaces of its own, so that the kernel removes its processes, mounts and networks whatever happens."""

import ctypes
import os
import signal
import subprocess
import traceback

CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x00020000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1


def run(program):
    """Calls `program` in a child process with private mounts, processes and network. Returns the child's exit status.

    SIGINT, SIGTERM and SIGHUP are passed on to the child, where they raise KeyboardInterrupt. When the child exits, or this
    process is killed, the kernel kills all processes of the child and removes their mounts and networks.

    Raises OSError if the kernel refuses to create the namespaces.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare: the namespaces cannot be created")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, interrupt)
            subprocess.run(["mount", "--make-rprivate", "/"], check=True)
            subprocess.run(["mount", "-t", "proc", "proc", "/proc"], check=True)
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            status = program()
        except KeyboardInterrupt:
            status = 130
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: os.kill(child, received))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def interrupt(*_):
    # A second signal must not interrupt the clean-up.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def others():
    """Returns the processes of this namespace except this one, as a map from their numbers to their command lines."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as line, open(f"/proc/{entry}/stat") as stat:
                    if stat.read().rsplit(")", 1)[1].split()[0] != "Z":
                        found[int(entry)] = line.read().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
    return found
