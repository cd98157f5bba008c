package io.modeldisk.server.block;

import io.modeldisk.protocol.scsi.LogicalBlock;

/**
 * How a shard's bytes are cut into blocks.
 *
 * @param sizeBytes the shard's size, a positive multiple of {@value LogicalBlock#BYTES}; the last block may be shorter
 * @param blockSizeBytes a power of two from 4096 to 1 MiB
 */
public record BlockLayout(long sizeBytes, int blockSizeBytes) {
    /** How many blocks there are. */
    public int blocks() {
        return Math.toIntExact((sizeBytes + blockSizeBytes - 1) / blockSizeBytes);
    }

    /** The block that holds the byte at {@code offset}. */
    public int blockOf(long offset) {
        return (int) (offset >>> Integer.numberOfTrailingZeros(blockSizeBytes));
    }

    /** Where the byte at {@code offset} is within its block. */
    public int offsetInBlock(long offset) {
        return (int) offset & (blockSizeBytes - 1);
    }

    /** Where a block starts within the shard. */
    public long offsetOf(int block) {
        return (long) block * blockSizeBytes;
    }

    /** How many logical blocks a block has. */
    public int logicalBlocks(int block) {
        return lengthOf(block) / LogicalBlock.BYTES;
    }

    /** The last block of a range, which may reach past the shard's end; of an empty one, the block before the first. */
    public int lastBlock(long offset, int lengthBytes) {
        return lengthBytes <= 0 ? blockOf(offset) - 1 : Math.min(blocks() - 1, blockOf(offset + lengthBytes - 1));
    }

    /** The first logical block of a block that is in a range that starts at {@code offset}, counted from the block's start. */
    public int firstLogicalBlock(long offset, int block) {
        return (int) (Math.max(0, offset - offsetOf(block)) / LogicalBlock.BYTES);
    }

    /** The first logical block of a block after a range, counted from the block's start; at most the block's end. */
    public int endLogicalBlock(long offset, int lengthBytes, int block) {
        return (int) Math.min(logicalBlocks(block), (offset + lengthBytes - offsetOf(block)) / LogicalBlock.BYTES);
    }

    /** The length of a block, in bytes. */
    public int lengthOf(int block) {
        return (int) Math.min(blockSizeBytes, sizeBytes - offsetOf(block));
    }
}
