package io.modeldisk.mount.fuse;

/** The error numbers that a file system answers with, as Linux numbers them on every architecture that Java runs on. */
public enum Errno {
    EPERM(1), ENOENT(2), EINTR(4), EIO(5), EAGAIN(11), EACCES(13), EBUSY(16), ENODEV(19), ENOTDIR(20), EISDIR(
        21), EINVAL(
            22), EFBIG(27), ENOSPC(28), ERANGE(34), ENOSYS(38), ENODATA(61), EPROTO(71), EOPNOTSUPP(95), ENOTCONN(107);

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /** The positive number. */
    public int number() {
        return number;
    }

    /** The name of an error number, or the number itself where this list has none. */
    static String nameOf(long number) {
        for (Errno errno : values()) {
            if (errno.number == number) {
                return errno.name();
            }
        }
        return "errno " + number;
    }
}
