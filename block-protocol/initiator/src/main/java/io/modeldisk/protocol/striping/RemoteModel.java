package io.modeldisk.protocol.striping;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;

/**
 * A model on its shards as one range of bytes. Each call moves its range in blocks, many in flight at once over all shards,
 * and returns when the last is done.
 *
 * <p>Thread-safe; calls run concurrently. Every wait is bounded. Offsets and lengths are in bytes; ranges lie within the model's
 * size rounded up to 4096. Failures are an {@link IOException} that says which shard and why; a call that fails may have moved
 * some of its blocks.
 */
public interface RemoteModel extends AutoCloseable {
    /** What the shards agree on; {@link ModelFacts#shard()} is 0. */
    ModelFacts facts();

    /**
     * Allocates memory for what is pushed and pulled, of the kind that the way to the shards needs: other memory may be refused.
     * The caller closes it, when no call uses it any more.
     *
     * @throws IOException if the machine has not so much, in words
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
     * Pushes a gradient (LUN 0): when this returns, the shards have it; alignment as in {@link #pull}.
     *
     * <p>A call that fails may have pushed some of its logical blocks. To call again for the same range is the same push: what
     * the shards have counts once. That ends when this learner leaves, and where a shard has forgotten it (its lease ended, or
     * the shard was started again): the failure says so, and what is pushed there again may count twice.
     */
    void push(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Reads weights as they are (LUN 1). */
    void read(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Writes weights (LUN 1). */
    void write(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
        throws IOException;

    /** Returns when all that was pushed has been aggregated, on every shard (SYNCHRONIZE CACHE). */
    void synchronize(Cancellation cancellation) throws IOException;

    /** Becomes a learner: from now on, pulls and pushes are of one learner's iterations. Does nothing if it is one. */
    void join() throws IOException;

    /** Stops being a learner: the rounds it has not pushed go on without it. Does nothing if it is none. */
    void leave() throws IOException;

    /** The shards' status, by shard. A shard looks at each of its blocks for it: for people, not for each iteration. */
    JsonNode status() throws IOException;

    /** The counters of all shards, taken together; costs a shard nearly nothing. */
    ShardCounters counters() throws IOException;

    /** Logs out everywhere. */
    @Override
    void close();
}
