package io.modeldisk.mount.exchange;

/**
 * One exchange: what to push and to pull.
 *
 * @param set the set to exchange, which the caller has lent
 * @param iteration the number of the iteration whose gradient is pushed; 0 if the weights are only pulled
 * @param versionInUse the version of the weights that the learner uses during the exchange
 * @param copy a second set that was lent, which receives the same weights; or null
 */
record ExchangeJob(BufferSet set, long iteration, long versionInUse, BufferSet copy) {
    /** Pushes the gradient of an iteration, then pulls. */
    static ExchangeJob exchange(BufferSet set, long iteration, long versionInUse) {
        return new ExchangeJob(set, iteration, versionInUse, null);
    }

    /** Pulls into one set, and into a second one if it is not null. */
    static ExchangeJob pull(BufferSet set, BufferSet copy) {
        return new ExchangeJob(set, 0, VersionProbe.UNKNOWN, copy);
    }

    boolean pushes() {
        return iteration > 0;
    }

    /** The exchange has ended. */
    void giveBack() {
        set.giveBack();
        if (copy != null) {
            copy.giveBack();
        }
    }
}
