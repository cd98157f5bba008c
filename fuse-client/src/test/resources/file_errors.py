"""Checks the error number of each operation that a mount does not allow, and the result of some that it does. Usage: file_errors.py DIR"""

import errno
import fcntl
import os
import socket
import stat
import sys

os.chdir(sys.argv[1])
NAMES = ("model", "weights")
size = os.stat("model").st_size


def fails(expected, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except OSError as e:
        assert e.errno == expected, f"{call.__name__}{arguments}: {errno.errorcode[e.errno]} instead of {errno.errorcode[expected]}"
    else:
        raise AssertionError(f"{call.__name__}{arguments} succeeded")


for name in NAMES:
    for flags in (os.O_CREAT | os.O_RDWR, os.O_RDWR | os.O_SYNC, os.O_RDWR | os.O_DSYNC | os.O_NONBLOCK, os.O_PATH):
        os.close(os.open(name, flags))
    fails(errno.EEXIST, os.open, name, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    fails(errno.ENOTDIR, os.open, name, os.O_DIRECTORY)
    fails(errno.ENOTDIR, os.listdir, name)
    fails(errno.ENOTDIR, os.stat, name + "/x")
    fails(errno.EPERM, os.unlink, name)
    fails(errno.ENOTDIR, os.rmdir, name)
    fails(errno.EPERM, os.rename, name, "other")
    fails(errno.EXDEV, os.rename, name, "/tmp/other")
    fails(errno.EPERM, os.link, name, "other")
    fails(errno.EEXIST, os.symlink, "target", name)
    fails(errno.EPERM, os.chmod, name, 0o777)
    fails(errno.EPERM, os.chown, name, 5, 5)
    fails(errno.EPERM, os.truncate, name, size + 1)
    fails(errno.EPERM, os.truncate, name, 1)
    fails(errno.EINVAL, os.readlink, name)
    fails(errno.EOPNOTSUPP, os.setxattr, name, "user.x", b"1")
    fails(errno.EOPNOTSUPP, os.removexattr, name, "user.x")
    fails(errno.ENODATA, os.getxattr, name, "user.unknown")
    os.utime(name, (1, 1))
    assert not os.access(name, os.X_OK) and os.access(name, os.R_OK | os.W_OK)

    fd = os.open(name, os.O_RDONLY)
    fails(errno.EBADF, os.write, fd, b"x")
    fails(errno.EINVAL, os.ftruncate, fd, size)
    fails(errno.EINVAL, os.pread, fd, 1, -1)
    fails(errno.EINVAL, os.lseek, fd, -1, os.SEEK_SET)
    assert os.lseek(fd, -1, os.SEEK_END) == size - 1
    fails(errno.ENOTTY, fcntl.ioctl, fd, 0x5401, bytes(64))
    os.fsync(fd)
    os.close(fd)
    fd = os.open(name, os.O_WRONLY)
    fails(errno.EBADF, os.read, fd, 1)
    fails(errno.ENOSPC, os.pwrite, fd, b"x", size)
    fails(errno.ENOSPC, os.pwrite, fd, b"x", 1 << 62)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    os.close(fd)
    assert os.stat(name).st_size == size and stat.S_ISREG(os.stat(name).st_mode)

fails(errno.EISDIR, os.open, ".", os.O_RDWR)
fails(errno.EPERM, os.open, "new", os.O_CREAT | os.O_RDWR)
fails(errno.EPERM, os.mkdir, "new")
fails(errno.EPERM, os.mknod, "new", stat.S_IFREG | 0o600)
fails(errno.EPERM, os.mkfifo, "new")
fails(errno.EPERM, os.symlink, "target", "new")
fails(errno.EPERM, socket.socket(socket.AF_UNIX).bind, "new")
fails(errno.EPERM, os.rename, "model", "weights")
fails(errno.ENOENT, os.open, "new", os.O_RDWR)
fails(errno.ENOENT, os.unlink, "new")
fails(errno.ENAMETOOLONG, os.stat, "x" * 1000)
fails(errno.EACCES, os.open, "status.json", os.O_RDWR)
if os.path.isdir("mapped"):
    fails(errno.EPERM, os.rmdir, "mapped")
    fails(errno.EPERM, os.unlink, "mapped/control")
    fails(errno.EPERM, os.open, "mapped/new", os.O_CREAT | os.O_RDWR)
assert os.statvfs(".").f_namemax == 255
