package io.modeldisk.server.consistency;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The open rounds of all blocks in one array, so that a scan is fast. The open round of a block is changed under the lock of the
 * block. Without the lock, a read may return a slightly older round.
 */
final class OpenRounds {
    private static final VarHandle ROUND = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] rounds;

    /** Creates blocks in round 0. */
    OpenRounds(int blocks) {
        this.rounds = new long[blocks];
    }

    long of(int block) {
        return (long) ROUND.getOpaque(rounds, block);
    }

    void set(int block, long round) {
        ROUND.setOpaque(rounds, block, round);
    }
}
