package io.modeldisk.protocol.datamover.shm;

import io.modeldisk.platform.Arguments;
import java.util.concurrent.atomic.AtomicLong;

/** Limits the amount of initiator memory that a server maps, for each connection and in total. Thread-safe. */
public final class MappingLimits {
    /**
     * The default limit of one connection in bytes. The limit counts address space, because the pages belong to the initiator.
     */
    public static final long DEFAULT_CONNECTION_BYTES = 256L << 30;

    /** The default limit of all connections together in bytes. */
    public static final long DEFAULT_TOTAL_BYTES = 1L << 40;

    private final long connectionBytes;
    private final long totalBytes;
    private final AtomicLong mappedBytes = new AtomicLong();

    /** Creates the default limits. */
    public MappingLimits() {
        this(DEFAULT_CONNECTION_BYTES, DEFAULT_TOTAL_BYTES);
    }

    /** Creates limits in bytes. Each limit must be more than 0. */
    public MappingLimits(long connectionBytes, long totalBytes) {
        Arguments.require(connectionBytes > 0 && totalBytes > 0,
            "connectionBytes=" + connectionBytes + " and totalBytes=" + totalBytes + " must be positive");
        this.connectionBytes = connectionBytes;
        this.totalBytes = totalBytes;
    }

    long connectionBytes() {
        return connectionBytes;
    }

    long totalBytes() {
        return totalBytes;
    }

    /** The number of bytes that all connections together map now. */
    public long mappedBytes() {
        return mappedBytes.get();
    }

    boolean take(long bytes) {
        if (mappedBytes.addAndGet(bytes) > totalBytes) {
            mappedBytes.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    void give(long bytes) {
        mappedBytes.addAndGet(-bytes);
    }
}
