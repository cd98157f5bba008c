"""Follows DIR/version: follow_version.py DIR poll|select|epoll COUNT. Prints each version, or the error number if a read fails."""
import os
import select
import sys

BOUND_S = 40

path, way, count = os.path.join(sys.argv[1], "version"), sys.argv[2], int(sys.argv[3])
version = os.open(path, os.O_RDONLY)


def events():
    """Waits for events of the file. Returns their bits; 0 after a timeout."""
    if way == "poll":
        poll = select.poll()
        poll.register(version, select.POLLIN | select.POLLPRI)
        found = poll.poll(BOUND_S * 1000)
    elif way == "epoll":
        with select.epoll() as poll:
            poll.register(version, select.EPOLLIN | select.EPOLLPRI)
            found = poll.poll(BOUND_S)
    else:
        readable, _, exceptional = select.select([version], [], [version], BOUND_S)
        found = [(version, select.POLLIN * bool(readable) | select.POLLPRI * bool(exceptional))]
    return found[0][1] if found else 0


try:
    # poll reports events at once for a descriptor through which nothing was read yet.
    assert events() & select.POLLIN
    print(os.pread(version, 100, 0).decode().strip(), flush=True)
    for _ in range(count):
        got = events()
        assert got & select.POLLIN and got & select.POLLPRI, got
        print(os.pread(version, 100, 0).decode().strip(), flush=True)
except OSError as failure:
    print("error", failure.errno, flush=True)
