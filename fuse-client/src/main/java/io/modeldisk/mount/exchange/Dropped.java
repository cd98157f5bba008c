package io.modeldisk.mount.exchange;

/**
 * The fate of a gradient that a learner has dropped.
 *
 * @param iteration the number of the learner's iteration
 * @param acceptedBytes the number of bytes that the shards had accepted, and that count
 * @param leftOutBytes the number of bytes that count as pushed without a gradient
 * @param discardedBytes the number of bytes of which nothing had been sent, and that have no round
 */
public record Dropped(long iteration, long acceptedBytes, long leftOutBytes, long discardedBytes) {
    /** Nothing was dropped. */
    public static final Dropped NOTHING = new Dropped(0, 0, 0, 0);

    Dropped and(long moreDiscardedBytes) {
        return new Dropped(iteration, acceptedBytes, leftOutBytes, discardedBytes + moreDiscardedBytes);
    }

    /** Returns the sum of this report and a later one. */
    Dropped and(Dropped later) {
        return new Dropped(later.iteration, acceptedBytes + later.acceptedBytes, leftOutBytes + later.leftOutBytes,
            discardedBytes + later.discardedBytes);
    }

    @Override
    public String toString() {
        return acceptedBytes + " bytes were accepted and count, " + leftOutBytes
            + " bytes are left out of their round, "
            + discardedBytes + " bytes were not sent";
    }
}
