package io.modeldisk.mount.file;

import io.modeldisk.mount.fuse.ErrnoException;
import io.modeldisk.platform.linux.Errno;
import io.modeldisk.platform.time.NanoClock;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** The constant size of a file, and the time of its last change. Thread-safe. */
final class FixedSize {
    private final String name;
    private final long bytes;
    private final NanoClock clock;
    private final long createdMs = Instant.now().toEpochMilli();
    private final long createdNs;
    private volatile long modifiedNs;

    FixedSize(String name, long bytes, NanoClock clock) {
        this.name = name;
        this.clock = clock;
        this.createdNs = clock.nanoTime();
        this.modifiedNs = createdNs;
        this.bytes = bytes;
    }

    long bytes() {
        return bytes;
    }

    long modifiedMs() {
        return createdMs + TimeUnit.NANOSECONDS.toMillis(modifiedNs - createdNs);
    }

    void modified() {
        modifiedNs = clock.nanoTime();
    }

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
            throw new ErrnoException(Errno.ENOSPC,
                "the write starts at byte " + offset + ", but file " + name + " has only " + bytes + " bytes");
        }
        return within;
    }
}
