package io.modeldisk.striping;

/**
 * The distribution of a model's bytes over its n shards. Block i of the model is on shard i mod n, where the block has the number
 * i / n (rounded down).
 *
 * @param blockBytes the size of a block
 * @param shards the number of shards
 * @param requestBytes the maximum number of bytes that one command moves, if the model has only one shard and this value is
 *     larger than {@code blockBytes}. Otherwise one command moves at most one block
 */
record Striping(int blockBytes, int shards, int requestBytes) {
    /** Returns the shard that stores the byte at {@code offset}. */
    int shard(long offset) {
        return (int) (offset / blockBytes % shards);
    }

    /** Returns the offset on the shard that corresponds to {@code offset} in the model. */
    long offsetOnShard(long offset) {
        return offset / blockBytes / shards * blockBytes + offset % blockBytes;
    }

    /** Returns the maximum number of bytes that one command can move, starting at {@code offset}. */
    long contiguousBytes(long offset) {
        int unit = shards == 1 ? Math.max(blockBytes, requestBytes) : blockBytes;
        return unit - offset % unit;
    }
}
