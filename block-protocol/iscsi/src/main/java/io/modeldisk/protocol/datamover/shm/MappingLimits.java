package io.modeldisk.protocol.datamover.shm;

import java.util.concurrent.atomic.AtomicLong;

/** The limits of the memory of initiators that a server maps: for each connection, and in total. Thread-safe. */
public final class MappingLimits {
    /** The limit of one connection. It counts address space, not memory: the pages belong to the peer. */
    public static final long DEFAULT_CONNECTION_BYTES = 256L << 30;

    /** The limit of all connections together. */
    public static final long DEFAULT_TOTAL_BYTES = 1L << 40;

    private final long connectionBytes;
    private final long totalBytes;
    private final AtomicLong mappedBytes = new AtomicLong();

    /** The default limits. */
    public MappingLimits() {
        this(DEFAULT_CONNECTION_BYTES, DEFAULT_TOTAL_BYTES);
    }

    /** Limits in bytes, each more than 0. */
    public MappingLimits(long connectionBytes, long totalBytes) {
        if (connectionBytes <= 0 || totalBytes <= 0) {
            throw new IllegalArgumentException(
                "connectionBytes=" + connectionBytes + " totalBytes=" + totalBytes + " must be positive");
        }
        this.connectionBytes = connectionBytes;
        this.totalBytes = totalBytes;
    }

    long connectionBytes() {
        return connectionBytes;
    }

    long totalBytes() {
        return totalBytes;
    }

    /** The bytes that all connections have mapped now. */
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
