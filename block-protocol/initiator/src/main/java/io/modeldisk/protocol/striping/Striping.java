package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.initiator.TransferSizes;

/**
 * Where the bytes of a model are: block i lives on shard i mod n, as that shard's block i / n.
 *
 * @param blockBytes the size of a block
 * @param shards how many shards there are
 * @param requestBytes on a single shard neighbouring blocks travel together up to this size
 */
record Striping(int blockBytes, int shards, int requestBytes) {
    /** With requests of the default size. */
    Striping(int blockBytes, int shards) {
        this(blockBytes, shards, TransferSizes.DEFAULTS.requestBytes());
    }

    /** Which shard has the byte at {@code offset}. */
    int shard(long offset) {
        return (int) (offset / blockBytes % shards);
    }

    /** Where on its shard the byte at {@code offset} is. */
    long offsetOnShard(long offset) {
        return offset / blockBytes / shards * blockBytes + offset % blockBytes;
    }

    /** How many bytes from {@code offset} on one command moves. */
    long contiguousBytes(long offset) {
        int unit = shards == 1 ? Math.max(blockBytes, requestBytes) : blockBytes;
        return unit - offset % unit;
    }
}
