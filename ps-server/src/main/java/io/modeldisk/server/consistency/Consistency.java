package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;

/**
 * What a push does to the weights, and which weights a pull may see. Called by many threads at once.
 *
 * <p>A method that answers {@code false} keeps the task and resumes it when it may try again. A task may be resumed without
 * cause, and a resume may come as late as just after {@link #forget}: the caller asks again, or ignores it.
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

    /** Whether all writes of the task's nexus have been taken. */
    boolean synchronize(IoTask task);

    /** Forgets a task that waits, if it does. */
    void forget(IoTask task);

    /** Learners left, or take part from a later round on: looks again at what waited for them. */
    void learnersLeft();

    /** How many tasks wait. */
    int waiting();

    /** How many rounds a learner may be behind another before that one waits for it. */
    long allowance();

    /** How many rounds a block has been updated with; -1 in a mode without rounds. Asked with the block locked. */
    long rounds(int block);

    /** Gives its memory back, if it has any of its own. The owner makes sure that nobody calls it any more. */
    @Override
    default void close() {}
}
