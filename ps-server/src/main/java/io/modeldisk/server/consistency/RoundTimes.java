package io.modeldisk.server.consistency;

import io.modeldisk.platform.time.NanoClock;

/** The time at which each of the last rounds was first pushed in full, by any learner, in any block. Thread-safe. */
public final class RoundTimes {
    /** The time of a round that is not known. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    // The delay of a straggler that is further behind counts from the oldest of these.
    private static final int ROUNDS = 1024;

    private final NanoClock clock;
    private final long[] timesNs = new long[ROUNDS];
    private final long[] ofRound = new long[ROUNDS];
    // Read without the lock: nearly every push is of a round whose time is known.
    private volatile long last;

    /** No round yet; times are those of {@code clock}. */
    public RoundTimes(NanoClock clock) {
        this.clock = clock;
    }

    /** Notes that a learner has pushed a round of a block in full. */
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

    /** The time of this round, or of the first later one whose time is known; {@link #UNKNOWN} without any. */
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
