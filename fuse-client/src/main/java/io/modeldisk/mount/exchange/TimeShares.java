package io.modeldisk.mount.exchange;

/**
 * The time of one or more iterations of a learner, divided into parts. {@link #otherNs} is the rest, which belongs to no part.
 *
 * @param iterations the number of iterations
 * @param totalNs the time of all these iterations
 * @param computeNs the time between two fsyncs in which the mount copied nothing
 * @param copyNs the time of copies between the learner and the buffers of the mount, and of searches for NaN and infinity
 * @param waitNs the time in which fsync waited, and neither the gradient nor the weights were moved
 * @param moveNs the time in which fsync waited for bytes that were moved
 * @param lagNs the time in which fsync waited for the weights of only one shard
 * @param shard the shard to which {@code lagNs} belongs
 * @param movedBytes the number of bytes that were pushed and pulled
 * @param movingNs the duration of all pushes and pulls, also of those during a computation; without waits
 */
public record TimeShares(int iterations, long totalNs, long computeNs, long copyNs, long waitNs, long moveNs,
    long lagNs,
    int shard, long movedBytes, long movingNs) {
    /** No iteration. */
    public static final TimeShares NONE = new TimeShares(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** Returns the sum of both. {@code other} must have the same {@link #shard}, or no {@link #lagNs}. */
    TimeShares plus(TimeShares other) {
        return new TimeShares(iterations + other.iterations, totalNs + other.totalNs, computeNs + other.computeNs,
            copyNs + other.copyNs, waitNs + other.waitNs, moveNs + other.moveNs, lagNs + other.lagNs, shard,
            movedBytes + other.movedBytes, movingNs + other.movingNs);
    }

    /** Returns these times with another {@link #shard}: {@link #lagNs} of the old shard is moved to {@link #moveNs}. */
    TimeShares waitingFor(int awaited) {
        return awaited == shard
            ? this
            : new TimeShares(iterations, totalNs, computeNs, copyNs, waitNs, moveNs + lagNs, 0, awaited, movedBytes,
                movingNs);
    }

    /** Returns the time that is in no part. */
    public long otherNs() {
        return Math.max(0, totalNs - computeNs - copyNs - waitNs - moveNs - lagNs);
    }
}
