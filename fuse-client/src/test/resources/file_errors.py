"""Checks the error number of each operation that a mount does not allow, and the results of some operations that it allows.

Usage: file_errors.py DIR

The mount has an exchange with local buffers. The program runs as root, or as the owner of the files.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import socket
import stat
import struct
import sys

os.chdir(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
NAMES = ("model", "weights")
AT_FDCWD = -100
KEEP_SIZE, PUNCH_HOLE = 1, 2
RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = 1, 2, 4
LONGEST = "x" * 255
PATH_MAX = 4096
size = os.stat("model").st_size
# The directory has no write permission, so the kernel refuses all users except root.
FIXED = errno.EPERM if os.geteuid() == 0 else errno.EACCES


def fails(expected, call, *arguments, **options):
    """Checks that a call fails with this error number, or with one of these numbers if the result depends on the kernel or the binding."""
    allowed = expected if isinstance(expected, tuple) else (expected,)
    try:
        call(*arguments, **options)
    except OSError as e:
        names = " or ".join(errno.errorcode[number] for number in allowed)
        assert e.errno in allowed, f"{call.__name__}{arguments}: {errno.errorcode[e.errno]} instead of {names}"
    else:
        raise AssertionError(f"{call.__name__}{arguments} succeeded")


def libc_call(name, *arguments):
    """Calls a function of the C library for which Python has no function."""
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def fallocate(fd, mode, offset, length):
    libc_call("fallocate", fd, mode, ctypes.c_long(offset), ctypes.c_long(length))


def renameat2(old, new, flags):
    libc_call("renameat2", AT_FDCWD, old.encode(), AT_FDCWD, new.encode(), flags)


def at_address(name, fd, address, length, offset):
    return libc_call(name, fd, ctypes.c_void_p(address), ctypes.c_long(length), ctypes.c_long(offset))


# Two pages. The process can access only the first page.
pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
page = ctypes.addressof(ctypes.c_char.from_buffer(pages))
libc_call("mprotect", ctypes.c_void_p(page + mmap.PAGESIZE), ctypes.c_long(mmap.PAGESIZE), 0)


for name in NAMES:
    for flags in (os.O_CREAT | os.O_RDWR, os.O_RDWR | os.O_SYNC, os.O_RDWR | os.O_DSYNC | os.O_NONBLOCK, os.O_PATH):
        os.close(os.open(name, flags))
    fails(errno.EEXIST, os.open, name, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    fails(errno.ENOTDIR, os.open, name, os.O_DIRECTORY)
    fails(errno.ENOTDIR, os.listdir, name)
    fails(errno.ENOTDIR, os.stat, name + "/x")
    fails(FIXED, os.unlink, name)
    fails((errno.ENOTDIR, errno.EACCES), os.rmdir, name)
    fails(FIXED, os.rename, name, "other")
    fails(errno.EXDEV, os.rename, name, "/tmp/other")
    fails(FIXED, os.link, name, "other")
    fails(errno.EEXIST, os.link, "status.json", name)
    fails(errno.EXDEV, os.link, "/proc/self/status", name + "2")
    for call in (os.mkdir, os.mkfifo, os.mknod):
        fails(errno.EEXIST, call, name)
    fails(errno.ENOTDIR, os.open, name + "/", os.O_RDWR)
    fails(errno.ENOTDIR, os.stat, name + "/.")
    fails(errno.ENOTDIR, os.chdir, name)
    fails(errno.EACCES, os.execv, name, [name])
    fails(errno.EEXIST, os.symlink, "target", name)
    fails(errno.EPERM, os.chmod, name, 0o777)
    fails(errno.EPERM, os.chown, name, 5, 5)
    fails(errno.EPERM, os.truncate, name, size + 1)
    fails(errno.EPERM, os.truncate, name, 1)
    fails(errno.EPERM, os.truncate, name, (1 << 63) - 1)
    fails(errno.EINVAL, os.truncate, name, -1)
    fails(errno.EPERM, os.chmod, name, 0o4600)
    fails(errno.EPERM, os.lchown, name, 5, -1)
    os.chown(name, -1, -1)
    fails(errno.EINVAL, os.readlink, name)
    fails(errno.EOPNOTSUPP, os.setxattr, name, "user.x", b"1")
    fails(errno.EOPNOTSUPP, os.removexattr, name, "user.x")
    fails(errno.ENODATA, os.getxattr, name, "user.unknown")
    os.utime(name, (1, 1))
    os.utime(name)
    fails(errno.EINVAL, libc_call, "utimensat", AT_FDCWD, name.encode(), struct.pack("qqqq", 1, 1 << 40, 1, 1), 0)
    assert os.stat(name).st_mtime > 1, "the time of a file with weights is the time of the stat"
    assert not os.access(name, os.X_OK) and os.access(name, os.R_OK | os.W_OK)

    fd = os.open(name, os.O_RDONLY)
    fails(errno.EBADF, os.write, fd, b"x")
    fails(errno.EINVAL, os.ftruncate, fd, size)
    fails(errno.EINVAL, os.pread, fd, 1, -1)
    fails(errno.EINVAL, os.lseek, fd, -1, os.SEEK_SET)
    assert os.lseek(fd, -1, os.SEEK_END) == size - 1
    fails(errno.ENXIO, os.lseek, fd, size, os.SEEK_DATA)
    assert os.lseek(fd, 5, os.SEEK_DATA) == 5 and os.lseek(fd, 5, os.SEEK_HOLE) == size
    fails(errno.ENOTTY, fcntl.ioctl, fd, 0x5401, bytes(64))
    fails(errno.EBADF, fallocate, fd, 0, 0, 1)
    assert os.pread(fd, 10, 1 << 62) == b""
    # A read or write that reaches memory which the process cannot access moves only the bytes before this memory, or fails.
    fails(errno.EFAULT, at_address, "pread", fd, 8, mmap.PAGESIZE, 0)
    assert at_address("pread", fd, page, 2 * mmap.PAGESIZE, 0) == mmap.PAGESIZE
    assert at_address("pread", fd, page + 4000, mmap.PAGESIZE, 0) == 96
    os.fsync(fd)
    os.close(fd)
    fd = os.open(name, os.O_WRONLY)
    fails(errno.EBADF, os.read, fd, 1)
    fails(errno.ENOSPC, os.pwrite, fd, b"x", size)
    fails(errno.ENOSPC, os.pwrite, fd, b"x", 1 << 62)
    fails(errno.EINVAL, os.pwrite, fd, b"x", -1)
    fails(errno.EFAULT, at_address, "pwrite", fd, 8, mmap.PAGESIZE, 0)
    assert at_address("pwrite", fd, page, 2 * mmap.PAGESIZE, 0) == mmap.PAGESIZE
    assert at_address("pwrite", fd, page + 4000, mmap.PAGESIZE, 1) == 96
    assert at_address("pwrite", fd, 8, 0, 0) == 0
    os.posix_fallocate(fd, 0, size)
    fallocate(fd, KEEP_SIZE, size - 1, 1)
    fails(errno.ENOSPC, os.posix_fallocate, fd, 0, size + 1)
    fails(errno.ENOSPC, fallocate, fd, KEEP_SIZE, size, 1)
    fails(errno.EOPNOTSUPP, fallocate, fd, KEEP_SIZE | PUNCH_HOLE, 0, 4096)
    fails((errno.EINVAL, errno.EOPNOTSUPP), fallocate, fd, 1 << 6, 0, 4096)
    fails(errno.EINVAL, fallocate, fd, 0, 0, 0)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
    os.close(fd)
    assert os.stat(name).st_size == size and stat.S_ISREG(os.stat(name).st_mode)

for name in ("new", LONGEST):
    fails(FIXED, os.open, name, os.O_CREAT | os.O_RDWR)
    fails(FIXED, os.mkdir, name)
    fails(FIXED, os.mknod, name, stat.S_IFREG | 0o600)
    fails(FIXED, os.mkfifo, name)
    fails(FIXED, os.symlink, "target", name)
    fails(errno.ENOENT, os.open, name, os.O_RDWR)
    for call in (os.stat, os.unlink, os.rmdir, os.listdir, os.readlink, os.utime):
        fails(errno.ENOENT, call, name)
    fails(errno.ENOENT, os.truncate, name, 0)
    fails(errno.ENOENT, os.chmod, name, 0o600)
    fails(errno.ENOENT, os.rename, name, "model")
    fails(errno.ENOENT, os.link, name, "other")
for name in (LONGEST + "x", "x" * 1000):
    for call in (os.stat, os.unlink, os.rmdir, os.mkdir, os.mkfifo, os.listdir):
        fails(errno.ENAMETOOLONG, call, name)
    fails(errno.ENAMETOOLONG, os.open, name, os.O_CREAT | os.O_RDWR)
    fails(errno.ENAMETOOLONG, os.rename, "model", name)
    fails(errno.ENAMETOOLONG, os.link, "model", name)
    fails(errno.ENAMETOOLONG, os.symlink, "target", name)
assert os.stat("./" * ((PATH_MAX - 1 - len("model")) // 2) + "model").st_size == size
fails(errno.ENAMETOOLONG, os.stat, "./" * (PATH_MAX // 2) + "model")
fails(errno.ENOENT, os.stat, "")
fails(errno.ENOENT, os.stat, b"model\xff\xfe")
fails(FIXED, socket.socket(socket.AF_UNIX).bind, "new")
fails((errno.EPERM, errno.EACCES, errno.EOPNOTSUPP), os.open, ".", os.O_TMPFILE | os.O_RDWR)

fails(errno.EISDIR, os.open, ".", os.O_RDWR)
fails(errno.EISDIR, os.truncate, ".", 0)
fails(errno.EISDIR, os.unlink, ".")
fails(errno.EINVAL, os.rmdir, ".")
fails(errno.EEXIST, os.mkdir, ".")
fails(errno.EPERM, os.chmod, ".", 0o700)
fails(errno.EPERM, os.chown, ".", 5, 5)
os.utime(".")
directory = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
fails(errno.EISDIR, os.read, directory, 10)
fails(errno.EBADF, os.write, directory, b"x")
os.fsync(directory)
os.close(os.open("model", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=directory))
fails(errno.EFAULT, libc_call, "syscall", 217 if os.uname().machine == "x86_64" else 61, directory, ctypes.c_void_p(8), 4096)
os.close(directory)

os.rename("model", "model")
fails(errno.EEXIST, renameat2, "model", "weights", RENAME_NOREPLACE)
fails((errno.EPERM, errno.EACCES, errno.EINVAL), renameat2, "model", "weights", RENAME_EXCHANGE)
fails((errno.EPERM, errno.EACCES, errno.EINVAL), renameat2, "model", "new", RENAME_WHITEOUT)
fails(FIXED, os.rename, "model", "weights")
if os.geteuid() != 0:
    fails(errno.EACCES, os.open, "status.json", os.O_RDONLY | os.O_TRUNC)
fails(errno.EACCES, os.open, "status.json", os.O_RDWR)

if os.path.isdir("mapped"):
    fails(FIXED, os.rmdir, "mapped")
    fails((errno.EISDIR, errno.EACCES), os.unlink, "mapped")
    fails(FIXED, os.unlink, "mapped/control")
    fails(FIXED, os.open, "mapped/new", os.O_CREAT | os.O_RDWR)
    fails(errno.EISDIR, os.open, "mapped", os.O_CREAT | os.O_RDONLY)
    fails(FIXED, os.rename, "mapped", "new")
    fails(FIXED, os.rename, "mapped/control", "new")
    fails((errno.ENOTDIR, errno.EACCES), os.rename, "mapped", "model")
    fails((errno.EISDIR, errno.EACCES), os.rename, "model", "mapped")
    fails((errno.EINVAL, errno.EACCES), os.rename, "mapped", "mapped/new")
    fails((errno.EPERM, errno.EACCES), os.link, "mapped", "new")
    # A buffer has a fixed size and might be in use, so O_TRUNC fails instead of clearing it.
    fails((errno.EPERM, errno.EACCES), os.open, "mapped/gradient.0", os.O_RDWR | os.O_TRUNC)
    fails((errno.EPERM, errno.EACCES), os.truncate, "mapped/gradient.0", 0)
assert os.statvfs(".").f_namemax == 255
