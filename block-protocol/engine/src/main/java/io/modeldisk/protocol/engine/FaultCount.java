package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.LogThinning;

/**
 * The number of faulty PDUs and writes of one connection. An initiator can cause any number of such faults, so the target logs
 * only some of them. Used only by the receiver thread.
 */
final class FaultCount {
    private long count;

    /** Counts a fault. Returns whether the caller must log this fault. */
    boolean add() {
        return LogThinning.isLogged(++count);
    }

    long count() {
        return count;
    }
}
