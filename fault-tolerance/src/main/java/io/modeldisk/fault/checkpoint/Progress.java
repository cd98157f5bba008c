package io.modeldisk.fault.checkpoint;

import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.shard.ShardBlocks;
import java.util.function.LongSupplier;

/**
 * The progress of a shard. Thread-safe.
 *
 * @param store the blocks of the shard
 * @param learners the learners of the shard
 * @param rawWrites the number of raw writes of weights so far, which do not count as updates
 */
record Progress(ShardBlocks store, Membership<?, ?> learners, LongSupplier rawWrites) {
    /** The total number of updates of all blocks. */
    long updates() {
        return store.updates();
    }

    /** The last round that a learner has begun. */
    long openedRound() {
        return learners.lastOpenedRound();
    }

    /** A number that grows with each change of the weights or of the rounds. */
    long changes() {
        return updates() + rawWrites.getAsLong() + openedRound();
    }
}
