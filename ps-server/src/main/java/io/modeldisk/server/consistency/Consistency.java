package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.fault.shard.ShardRounds;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;

/**
 * A consistency mode decides when a push changes the weights, and which weights a pull may return. Thread-safe.
 *
 * <p>If a method returns {@code false} for a task, the task waits. The mode keeps the task and later calls {@link IoTask#resume}.
 * The caller then calls the method again for the task. The mode may resume a task too early, or shortly after {@link #forget}.
 * The caller ignores the resumption of a forgotten task.
 */
public interface Consistency extends ShardRounds<Learner>, AutoCloseable {
    /** Creates the consistency mode of one shard. The caller closes the returned object. */
    static Consistency of(
        ConsistencyMode mode, BlockStore store, Aggregator aggregator,
        Learners membership) {
        return switch (mode.kind()) {
            case ASP -> new Asp(store, aggregator, membership);
            case SSP -> new Ssp(mode.stalenessRounds(), store, aggregator, membership);
            case BSP -> new Bsp(store, aggregator, membership);
        };
    }

    /**
     * Accepts a push completely, or makes the push wait. Returns whether the push was accepted. Parts that the learner has
     * already pushed in the round of the push have no effect.
     *
     * @param skipped whether the gradient is left out, or the task has no gradient (ABSENT); the push still counts for its round
     * @throws ScsiException if the learner does not take part in the round of the push, or too few learners are left; the push
     *     then has no effect
     */
    boolean push(IoTask task, boolean skipped) throws ScsiException;

    /** Accepts a push completely and uses its gradient, or makes the push wait. Returns whether the push was accepted. */
    default boolean push(IoTask task) throws ScsiException {
        return push(task, false);
    }

    /**
     * Returns whether a pull is admitted. Otherwise the pull waits.
     *
     * @throws ScsiException if the pull would wait for learners, but too few learners are left
     */
    default boolean admitPull(IoTask task) throws ScsiException {
        try {
            return admit(task);
        } catch (ScsiException e) {
            // The pull is refused, but it may still be in a list of waiting tasks from an earlier call.
            forget(task);
            throw e;
        }
    }

    /** Does what {@link #admitPull} describes, but may leave a refused pull in the list of waiting tasks. */
    boolean admit(IoTask task) throws ScsiException;

    /** Returns whether all writes of the task's nexus have been accepted. Otherwise the task waits. */
    boolean synchronize(IoTask task);

    /** Removes a task from the waiting tasks. Does nothing if the task does not wait. */
    default void forget(IoTask task) {}

    /** Checks all waiting tasks again after learners have left or have postponed their first round. */
    default void learnersLeft() {}

    /** The number of waiting tasks. */
    default int waiting() {
        return 0;
    }

    /** The number of rounds by which a learner may be behind before other learners wait for it. */
    long allowance();

    /** Appends a record of each change to a log from now on. Must be called before other threads use this object. */
    void record(RecordLog log);

    /** Frees the memory of this object. May be called only when no other method of this object is running. */
    @Override
    default void close() {}
}
