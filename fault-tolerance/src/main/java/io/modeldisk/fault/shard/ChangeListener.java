package io.modeldisk.fault.shard;

/** Called before a block changes, for example to save the block first. */
@FunctionalInterface
public interface ChangeListener {
    /**
     * Called before the weights or the aggregator state of a block change. The caller holds the lock of the block. Must not
     * throw an exception. May be called several times for one change.
     */
    void beforeChange(ShardBlock block);
}
