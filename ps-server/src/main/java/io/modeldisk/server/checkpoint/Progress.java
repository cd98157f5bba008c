package io.modeldisk.server.checkpoint;

import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.consistency.Learners;
import java.util.function.LongSupplier;

/**
 * How far a shard has come. Thread-safe.
 *
 * @param store the blocks of the shard
 * @param learners the learners of the shard
 * @param rawWrites the number of writes of weights so far, which are not updates
 */
record Progress(BlockStore store, Learners learners, LongSupplier rawWrites) {
    /** The number of updates of all blocks together. */
    long updates() {
        return store.versions().total();
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
