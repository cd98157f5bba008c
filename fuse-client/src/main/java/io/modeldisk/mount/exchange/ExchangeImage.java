package io.modeldisk.mount.exchange;

import java.nio.ByteBuffer;

/**
 * The state of a {@link BufferedExchange} without its buffer sets, as another process goes on with it.
 *
 * @param learning whether a learner has the model open
 * @param mapped whether the learner maps the buffers
 * @param unfinished whether the last fsync has not ended its iteration
 * @param untold whether the next fsync must report that the gradient was discarded
 * @param activeSet the number of the active set
 * @param iteration the number of the iteration
 * @param round the round of the gradient that the learner computes
 */
record ExchangeImage(
    boolean learning, boolean mapped, boolean unfinished, boolean untold, int activeSet, long iteration, long round) {
    /** The size of the saved state. */
    static final int BYTES = 5 + 2 * Long.BYTES;

    void save(ByteBuffer to) {
        for (boolean flag : new boolean[]{learning, mapped, unfinished, untold}) {
            to.put((byte) (flag ? 1 : 0));
        }
        to.put((byte) activeSet).putLong(iteration).putLong(round);
    }

    static ExchangeImage of(ByteBuffer from) {
        return new ExchangeImage(from.get() != 0, from.get() != 0, from.get() != 0, from.get() != 0, from.get(),
            from.getLong(), from.getLong());
    }
}
