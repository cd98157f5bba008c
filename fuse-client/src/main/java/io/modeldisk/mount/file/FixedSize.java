package io.modeldisk.mount.file;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.linux.Errno;

/** The constant size of a file. Thread-safe. */
record FixedSize(String name, long bytes) {
    /** Returns the number of bytes of a read that lie within the file. */
    int readable(long offset, int lengthBytes) {
        return offset < 0 ? 0 : (int) Math.clamp(bytes - offset, 0L, lengthBytes);
    }

    /**
     * Returns the number of bytes of a write that lie within the file. A write across the end of the file is short, as POSIX
     * specifies for a full disk.
     *
     * @throws ErrnoException ENOSPC if the write starts at or after the end of the file, as for a block device
     */
    int writable(long offset, int lengthBytes) throws ErrnoException {
        int within = readable(offset, lengthBytes);
        if (within == 0 && lengthBytes > 0) {
            // The message does not contain the offset, so FailureLog can count such failures instead of logging each one.
            throw new ErrnoException(Errno.ENOSPC,
                "the write starts at or after the end of file " + name + ", which has " + bytes + " bytes");
        }
        return within;
    }
}
