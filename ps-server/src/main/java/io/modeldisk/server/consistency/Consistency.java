package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;

/**
 * The effect of a push on the weights, and the weights that a pull may return. Thread-safe.
 *
 * <p>A method that answers {@code false} keeps the task and resumes it when it may try again. A task may be resumed
 * needlessly, and even just after {@link #forget}: the caller asks again, or ignores it.
 */
public interface Consistency extends AutoCloseable {
    /** The consistency of one shard; the caller closes it. */
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
     * Takes a push: all of it, or nothing and the task waits. The parts that are a repetition, by their round, have no effect.
     *
     * @param skipped whether the push counts as a round, but its gradient is left out
     * @throws ScsiException if it names a round that its learner is not in, or if too few learners are left; then nothing of it
     *     has been taken
     */
    boolean push(IoTask task, boolean skipped) throws ScsiException;

    /** Takes a push with its gradient. */
    default boolean push(IoTask task) throws ScsiException {
        return push(task, false);
    }

    /**
     * Whether a pull may go ahead.
     *
     * @throws ScsiException if it would wait for learners, and too few are left
     */
    boolean admitPull(IoTask task) throws ScsiException;

    /** Whether all writes of the task's nexus have been taken; otherwise the task waits. */
    boolean synchronize(IoTask task);

    /** Forgets a task that waits, if it does. */
    void forget(IoTask task);

    /** Reconsiders all waiting tasks, because learners have left, or take part from a later round on. */
    void learnersLeft();

    /** The number of tasks that wait. */
    int waiting();

    /** The rounds by which a learner may be behind another before the other waits for it. */
    long allowance();

    /** The number of closed rounds of a block; -1 in a mode without rounds. Asked with the block locked. */
    long rounds(int block);

    /** Frees its memory. The owner makes sure that no other call is in progress. */
    @Override
    default void close() {}
}
