package io.modeldisk.mount.file;

import io.modeldisk.mount.fuse.Errno;
import io.modeldisk.mount.fuse.ErrnoException;

/** The size of a file that neither grows nor shrinks, and when it last changed. Thread-safe. */
final class FixedSize {
    private final String name;
    private final long bytes;
    private volatile long modifiedMs = System.currentTimeMillis();

    FixedSize(String name, long bytes) {
        this.name = name;
        this.bytes = bytes;
    }

    long bytes() {
        return bytes;
    }

    long modifiedMs() {
        return modifiedMs;
    }

    void modified() {
        modifiedMs = System.currentTimeMillis();
    }

    /** How much of a read lies within the file. */
    int readable(long offset, int lengthBytes) {
        return offset < 0 ? 0 : (int) Math.clamp(bytes - offset, 0L, lengthBytes);
    }

    /**
     * How much of a write lies within the file; a write over the end is a short one, as POSIX has it for a full disk.
     *
     * @throws ErrnoException ENOSPC if nothing does, as a block device answers
     */
    int writable(long offset, int lengthBytes) throws ErrnoException {
        int within = readable(offset, lengthBytes);
        if (within == 0 && lengthBytes > 0) {
            throw new ErrnoException(Errno.ENOSPC, name + " ends at " + bytes + ", its size is fixed");
        }
        return within;
    }
}
