"""Simulates systemd for one service: keeps the file descriptors that the service stores, and passes them to its next process.

Usage: service_manager.py SOCKET COMMAND...
Reads commands from standard input, one a line. `restart` ends the service with SIGTERM and starts it again. `kill` does the same
with SIGKILL. `stop` ends the service with SIGTERM and closes the stored descriptors. A shell command can follow `restart` or
`kill` on the same line. It runs after the old process has exited and before the new process starts.
"""

import os
import signal
import socket
import subprocess
import sys
import threading

path, command = sys.argv[1], sys.argv[2:]
FIRST = 3
store = {}
notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notices.bind(path)


def receive():
    while True:
        text, descriptors, _, _ = socket.recv_fds(notices, 65536, 253)
        fields = dict(line.split("=", 1) for line in text.decode().splitlines())
        name = fields.get("FDNAME", "stored")
        if "FDSTOREREMOVE" in fields:
            for old in store.pop(name, []):
                os.close(old)
        if "FDSTORE" in fields:
            store.setdefault(name, []).extend(descriptors)


def start():
    passed = [(name, fd) for name, all in store.items() for fd in all]
    child = os.fork()
    if child:
        print("started", child, "with", len(passed), flush=True)
        return child
    high = [os.dup2(fd, 200 + i) for i, (_, fd) in enumerate(passed)]
    for i, fd in enumerate(high):
        os.dup2(fd, FIRST + i)
        os.close(fd)
    os.set_blocking(0, True)
    environment = dict(os.environ, NOTIFY_SOCKET=path, LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(passed)),
                       LISTEN_FDNAMES=":".join(name for name, _ in passed))
    os.execvpe(command[0], command, environment)


threading.Thread(target=receive, daemon=True).start()
service = start()
for line in sys.stdin:
    action, _, meanwhile = line.strip().partition(" ")
    os.kill(service, signal.SIGKILL if action == "kill" else signal.SIGTERM)
    os.waitpid(service, 0)
    print("ended", service, flush=True)
    if action == "stop":
        break
    subprocess.run(meanwhile, shell=True, check=True)
    service = start()
