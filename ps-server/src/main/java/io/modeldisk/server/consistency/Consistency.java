package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;

/**
 * A consistency mode. It decides when a push changes the weights, and which weights a pull may return. Thread-safe.
 *
 * <p>If a method returns {@code false} for a task, the task waits: this object keeps the task, and resumes it when it may try
 * again. A task may also be resumed without a reason, even shortly after {@link #forget}. Then the caller tries again, or ignores
 * the call for a forgotten task.
 */
public interface Consistency extends AutoCloseable {
    /** Creates the consistency of one shard. The caller closes the returned object. */
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
     * Accepts a whole push, or nothing of it. Returns whether the push was accepted; otherwise the push waits. Parts that were
     * pushed before in the same round have no effect.
     *
     * @param skipped whether the push counts for its round but its gradient is left out
     * @throws ScsiException if the learner does not take part in the round of the push, or too few learners are left; the push
     *     then has no effect
     */
    boolean push(IoTask task, boolean skipped) throws ScsiException;

    /**
     * Accepts a whole push with its gradient, or nothing of it. Returns whether the push was accepted; otherwise the push waits.
     */
    default boolean push(IoTask task) throws ScsiException {
        return push(task, false);
    }

    /**
     * Returns whether a pull is admitted. Otherwise the pull waits.
     *
     * @throws ScsiException if the pull would wait for learners, but too few learners are left
     */
    boolean admitPull(IoTask task) throws ScsiException;

    /** Returns whether all writes of the task's nexus have been accepted. Otherwise the task waits. */
    boolean synchronize(IoTask task);

    /** Removes a task from the waiting tasks. Does nothing if the task does not wait. */
    void forget(IoTask task);

    /** Checks all waiting tasks again after learners have left or have postponed their first round. */
    void learnersLeft();

    /** The number of tasks that wait. */
    int waiting();

    /** The number of rounds by which a learner may be behind before other learners wait for it. */
    long allowance();

    /**
     * The number of closed rounds of a block; -1 if the mode has no rounds that close. The caller holds the lock of the block.
     */
    long rounds(int block);

    /** Frees the memory of this object. May be called only when no other call is in progress. */
    @Override
    default void close() {}
}
