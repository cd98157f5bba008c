package io.modeldisk.server.consistency;

import io.modeldisk.platform.time.NanoClock;

/** When the last rounds of a shard were first pushed in full, by anybody and in any block: since then some wait. Thread-safe. */
public final class RoundTimes {
    /** Where no time is known. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    // How far back a straggler's delay is known in full.
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

    /** Somebody has pushed a round of a block in full. */
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

    /** When this round, or the first one after it of which the time is known, was first pushed; {@link #UNKNOWN} if none was. */
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
