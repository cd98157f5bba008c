package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.initiator.TransferSizes;

/**
 * How a model's bytes are distributed: block i lives on shard i mod n, as that shard's block i / n.
 *
 * @param blockBytes the size of a block
 * @param shards the number of shards
 * @param requestBytes with a single shard, one command moves neighbouring blocks up to this size
 */
record Striping(int blockBytes, int shards, int requestBytes) {
    /** With requests of the default size. */
    Striping(int blockBytes, int shards) {
        this(blockBytes, shards, TransferSizes.DEFAULTS.requestBytes());
    }

    /** The shard that has the byte at {@code offset}. */
    int shard(long offset) {
        return (int) (offset / blockBytes % shards);
    }

    /** The offset on its shard of the byte at {@code offset}. */
    long offsetOnShard(long offset) {
        return offset / blockBytes / shards * blockBytes + offset % blockBytes;
    }

    /** The number of bytes from {@code offset} on that one command moves. */
    long contiguousBytes(long offset) {
        int unit = shards == 1 ? Math.max(blockBytes, requestBytes) : blockBytes;
        return unit - offset % unit;
    }
}
