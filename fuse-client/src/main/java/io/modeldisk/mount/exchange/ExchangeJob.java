package io.modeldisk.mount.exchange;

/**
 * One exchange of buffer sets with the shards.
 *
 * @param set the set to exchange, which the caller has lent
 * @param iteration the number of the iteration whose gradient is pushed; 0 if no gradient is pushed
 * @param versionInUse the version of the weights that the learner uses during the exchange
 * @param copy a second lent set that receives the same weights, or null
 */
record ExchangeJob(BufferSet set, long iteration, long versionInUse, BufferSet copy) {
    /**
     * Returns a job that pulls weights into {@code set}. If {@code copy} is not null, the job also copies the weights into
     * {@code copy}.
     */
    static ExchangeJob pull(BufferSet set, BufferSet copy) {
        return new ExchangeJob(set, 0, VersionProbe.UNKNOWN, copy);
    }

    boolean pushes() {
        return iteration > 0;
    }

    /** Gives the sets back to the learner after the exchange has ended. */
    void giveBack() {
        set.giveBack();
        if (copy != null) {
            copy.giveBack();
        }
    }
}
