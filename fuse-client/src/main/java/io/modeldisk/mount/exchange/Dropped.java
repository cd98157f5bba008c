package io.modeldisk.mount.exchange;

/**
 * The outcome of the drop of a gradient: how many of its bytes count, are left out, or are discarded.
 *
 * @param iteration the number of the learner's iteration
 * @param acceptedBytes the number of bytes that the shards had accepted before the drop; they count
 * @param leftOutBytes the number of bytes that the shards had not accepted; their blocks count as pushed without a gradient
 * @param discardedBytes the number of written bytes of which nothing was sent; they belong to no round
 */
public record Dropped(long iteration, long acceptedBytes, long leftOutBytes, long discardedBytes) {
    /** The value if nothing was dropped. */
    public static final Dropped NOTHING = new Dropped(0, 0, 0, 0);

    Dropped and(long moreDiscardedBytes) {
        return new Dropped(iteration, acceptedBytes, leftOutBytes, discardedBytes + moreDiscardedBytes);
    }

    /** Adds a later report to this one. Returns the sum, with the iteration of the later report. */
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
