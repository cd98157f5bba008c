package io.modeldisk.protocol.striping;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * A model on its shards as one range of bytes. Each call moves its range in blocks, many in flight at once over all shards,
 * and returns when the last is done.
 *
 * <p>Thread-safe; calls run concurrently. Every wait is bounded. Offsets and lengths are in bytes; ranges lie within the model's
 * size rounded up to 4096. A failure of a shard is a {@link ShardException}, a cancelled call a {@code CancelledException}. A
 * call that fails may have moved some of its blocks.
 */
public interface RemoteModel extends AutoCloseable {
    /** The facts that all shards share; {@link ModelFacts#shard()} is 0. */
    ModelFacts facts();

    /**
     * Allocates memory for pushes and pulls, of the kind that the datamovers need: other memory may be refused. The caller closes
     * it when no call uses it any more.
     *
     * @throws IOException if the machine has not enough memory
     */
    default DataMemory allocate(long bytes) throws IOException {
        return DataMemory.allocate(bytes);
    }

    /**
     * Pulls weights as this learner may see them (LUN 0).
     *
     * @param offset a multiple of 4096
     * @param lengthBytes a multiple of 4096
     * @param cancellation ends the wait early
     */
    void pull(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /**
     * Pushes a gradient (LUN 0): when this returns, the shards have it. Alignment as in {@link #pull}.
     *
     * <p>A failed call may have pushed some of its logical blocks. A repeated call for the same range is the same push: blocks
     * that the shards already have count once. This ends when the learner leaves, and at a shard that has forgotten it (its lease
     * has ended, or the shard was restarted): the failure says so, and a repeated push may count twice there.
     */
    void push(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Reads weights as they are (LUN 1). */
    void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Writes weights (LUN 1). */
    void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Returns when all pushes have been aggregated on every shard (SYNCHRONIZE CACHE). */
    void synchronize(Cancellation cancellation) throws IOException;

    /** Becomes a learner: from now on pulls and pushes belong to its rounds. Does nothing if it is a learner already. */
    void join() throws IOException;

    /** Stops being a learner: rounds that it has not pushed continue without it. Does nothing if it is not a learner. */
    void leave() throws IOException;

    /** The status of each shard, by shard. A shard visits all its blocks for it: call it for people, not in each iteration. */
    JsonNode status() throws IOException;

    /** The counters of all shards together; cheap for the shards. */
    ShardCounters counters() throws IOException;

    /** Logs out everywhere. */
    @Override
    void close();
}
