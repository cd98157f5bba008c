package io.modeldisk.striping;

import io.modeldisk.protocol.initiator.ShardException;
import java.net.InetSocketAddress;
import java.util.function.IntConsumer;

/**
 * Knows where the shards of a model are served. {@link ModelAddress} is a fixed list; a coordinator knows shards that move from
 * one process to another. No method waits. Thread-safe.
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

    /** True if a shard can move to another process. Then a new connection waits until a process serves each shard. */
    default boolean shardsMove() {
        return false;
    }

    /** Sets the action after a shard has moved to another process. Its argument is the number of the shard. It must not block. */
    default void onMove(IntConsumer moved) {}

    @Override
    default void close() {}
}
