package io.modeldisk.striping;

import io.modeldisk.protocol.initiator.ShardException;
import java.net.InetSocketAddress;
import java.util.function.IntConsumer;

/**
 * Finds the processes that serve the shards of a model. {@link ModelAddress} is a fixed list of addresses. With a coordinator,
 * shards can move from one process to another. No method waits. Thread-safe.
 */
public interface ShardLocator extends AutoCloseable {
    /** The name of the model. */
    String model();

    /** The number of shards. */
    int shardCount();

    /**
     * Returns the portal of the process that serves a shard at this moment.
     *
     * @throws ShardException of the kind {@link ShardException.Kind#PATH_LOST} if no process serves the shard
     */
    InetSocketAddress portal(int shard) throws ShardException;

    /** True if a shard can move to another process. If so, a new connection to the model waits until every shard is served. */
    default boolean shardsMove() {
        return false;
    }

    /** Sets the action that is called with the number of a shard after the shard has moved. The action must not block. */
    default void onMove(IntConsumer moved) {}

    @Override
    default void close() {}
}
