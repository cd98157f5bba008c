package io.modeldisk.platform.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The error numbers that this project uses. Linux has the same numbers on every architecture that Java runs on (errno(3)). */
public enum Errno {
    // @formatter:off
    EPERM(1), ENOENT(2), EINTR(4), EIO(5), ENXIO(6), EAGAIN(11), ENOMEM(12), EACCES(13), EFAULT(14), EBUSY(16), EEXIST(17),
    ENODEV(19), ENOTDIR(20), EISDIR(21), EINVAL(22), EMFILE(24), EFBIG(27), ENOSPC(28), EROFS(30), EPIPE(32),
    ERANGE(34), ENAMETOOLONG(36), ENOSYS(38), ENODATA(61), EPROTO(71), EOPNOTSUPP(95), EADDRINUSE(98),
    ECONNRESET(104), ENOTCONN(107), ETIMEDOUT(110), ECONNREFUSED(111), ESTALE(116), ECANCELED(125);
    // @formatter:on

    private static final int MAX_TEXT_BYTES = 256;

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /** Returns the error number, which is positive. */
    public int number() {
        return number;
    }

    /** Returns whether {@code result} is minus this error number. */
    public boolean is(long result) {
        return result == -number;
    }

    /** Returns the name of an error number, such as {@code ENOENT}. Returns {@code errno N} for a number that this enum lacks. */
    public static String nameOf(long number) {
        for (Errno errno : values()) {
            if (errno.number == number) {
                return errno.name();
            }
        }
        return "errno " + number;
    }

    /** Returns the text of an error number, such as {@code No such file or directory (errno 2)}. */
    // strerror returns a string that is terminated by a zero byte and must not be freed.
    @SuppressWarnings("restricted")
    public static String text(long number) {
        MemorySegment text = MemorySegment.ofAddress(CLibrary.callForLong("strerror", number));
        return text.reinterpret(MAX_TEXT_BYTES).getString(0) + " (errno " + number + ")";
    }

    /**
     * Checks the result of a call.
     *
     * @param action the start of the message, such as {@code cannot listen on /run/a.sock}
     * @return the result, which is not negative
     * @throws IOException if the result is negative; the message contains the text of the error number
     */
    public static long check(String action, long result) throws IOException {
        if (result < 0) {
            throw new IOException(action + ": " + text(-result));
        }
        return result;
    }

    /** Allocates memory for error numbers. Each thread on the data path needs its own memory. */
    public static MemorySegment newCallState(Arena arena) {
        return CLibrary.newCallState(arena);
    }
}
