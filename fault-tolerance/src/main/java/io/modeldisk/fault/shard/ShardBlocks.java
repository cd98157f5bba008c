package io.modeldisk.fault.shard;

/** The blocks of a shard. Thread-safe. */
public interface ShardBlocks {
    /** The division of the shard into blocks. */
    BlockLayout layout();

    /** Returns a block by its index. */
    ShardBlock block(int index);

    /** The total number of updates of all blocks. */
    long updates();

    /**
     * Sets the listener that is called before each change of a block; null for no listener. When this method has returned, every
     * change that locks its block later calls the listener. A change that is already in progress might not call it.
     */
    void watch(ChangeListener listener);

    /** Waits until the device has done all operations that are in its queue. Does nothing without a device. */
    void awaitDevice();
}
