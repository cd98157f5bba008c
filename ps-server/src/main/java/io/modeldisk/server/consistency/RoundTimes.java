package io.modeldisk.server.consistency;

import io.modeldisk.platform.time.NanoClock;

/**
 * The time at which each of the last 1024 rounds was first pushed completely, by any learner and for any block, and the time at
 * which the first learner pushed block 0 of the open round. Thread-safe.
 */
public final class RoundTimes {
    /** The value for an unknown time. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    // If a learner is behind by more than 1024 rounds, its delay counts from the oldest recorded round.
    private static final int ROUNDS = 1024;

    private final NanoClock clock;
    private final long[] timesNs = new long[ROUNDS];
    private final long[] ofRound = new long[ROUNDS];
    // Read without the lock, because for nearly every push, the time of the round is already recorded.
    private volatile long last;
    // The last round whose block 0 a learner has pushed, and the time of the first such push. Guarded by the lock of the block.
    private long firstBlockRound;
    private long firstBlockNs;

    /** Creates an empty record that reads the times from {@code clock}. */
    public RoundTimes(NanoClock clock) {
        this.clock = clock;
    }

    /** Records that a learner has pushed a round of a block completely. */
    void finished(long round) {
        if (round > last) {
            note(round);
        }
    }

    private synchronized void note(long round) {
        int at = (int) (round % ROUNDS);
        if (round > ofRound[at]) {
            ofRound[at] = round;
            timesNs[at] = clock.nanoTime();
            last = Math.max(last, round);
        }
    }

    /**
     * Records that a learner has pushed block 0 of a round. Returns the time since the first learner has pushed this block; 0 for
     * the first one. The caller holds the lock of the block.
     */
    long firstBlockPushed(long round) {
        long nowNs = clock.nanoTime();
        if (round != firstBlockRound) {
            firstBlockRound = round;
            firstBlockNs = nowNs;
        }
        return nowNs - firstBlockNs;
    }

    /** Returns the time of this round, or of the first later round with a recorded time; {@link #UNKNOWN} if there is none. */
    public synchronized long since(long round) {
        for (long each = Math.max(round, last - ROUNDS + 1); each <= last; each++) {
            int at = (int) (each % ROUNDS);
            if (ofRound[at] == each) {
                return timesNs[at];
            }
        }
        return UNKNOWN;
    }
}
