package io.modeldisk.protocol.engine;

import io.modeldisk.platform.text.LogThinning;

/**
 * The number of faulty PDUs and writes of one connection. An initiator can send any number of them, so only some are logged. Used
 * only by the receiver thread.
 */
final class FaultCount {
    private long count;

    /** Counts a fault. Returns whether it is logged. */
    boolean add() {
        return LogThinning.isLogged(++count);
    }

    /** Returns the number of faults so far. */
    long count() {
        return count;
    }
}
