package io.modeldisk.mount.exchange;

/**
 * The times of an exchange that has pulled weights. From {@code startNs}, the gradient is searched for NaN and infinity; from
 * {@code checkedNs}, it is pushed. From {@code pushedNs} to {@code weightsNs}, when the first weights arrive, nothing is
 * moved. From {@code lagNs}, the weights of only one shard are missing. {@code endNs} is the end of the pull.
 */
record ExchangeSpan(long startNs, long checkedNs, long pushedNs, long weightsNs, long lagNs, long endNs, int lastShard,
    long movedBytes) {
    /**
     * Returns the parts of an iteration.
     *
     * @param sinceNs the start of the computation
     * @param calledNs the time at which the learner has called fsync
     * @param nowNs the end of the iteration
     * @param copyNs the time of copies during the computation
     */
    TimeShares of(long sinceNs, long calledNs, long nowNs, long copyNs) {
        long copied = Math.min(copyNs, calledNs - sinceNs);
        return new TimeShares(1, nowNs - sinceNs, calledNs - sinceNs - copied,
            copied + within(startNs, checkedNs, calledNs, nowNs), within(pushedNs, weightsNs, calledNs, nowNs),
            within(checkedNs, pushedNs, calledNs, nowNs) + within(weightsNs, lagNs, calledNs, nowNs),
            within(lagNs, endNs, calledNs, nowNs), lastShard, movedBytes, pushedNs - checkedNs + endNs - weightsNs);
    }

    private static long within(long fromNs, long toNs, long startNs, long endNs) {
        long from = fromNs - startNs > 0 ? fromNs : startNs;
        long to = toNs - endNs < 0 ? toNs : endNs;
        return Math.max(0, to - from);
    }
}
