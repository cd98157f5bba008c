package io.modeldisk.fault.shard;

import io.modeldisk.protocol.scsi.LogicalBlock;

/**
 * The division of a shard into blocks.
 *
 * @param sizeBytes the size of the shard, a positive multiple of {@value LogicalBlock#BYTES}; the last block can be shorter
 * @param blockSizeBytes the size of a block, a power of two from 4096 to 1 MiB
 */
public record BlockLayout(long sizeBytes, int blockSizeBytes) {
    /** The number of blocks. */
    public int blocks() {
        return Math.toIntExact((sizeBytes + blockSizeBytes - 1) / blockSizeBytes);
    }

    /** The index of the block that contains the byte at {@code offset}. */
    public int blockOf(long offset) {
        return (int) (offset >>> Integer.numberOfTrailingZeros(blockSizeBytes));
    }

    /** Converts the offset of a byte in the shard to the offset of the byte in its block. */
    public int offsetInBlock(long offset) {
        return (int) offset & (blockSizeBytes - 1);
    }

    /** The offset of a block within the shard, in bytes. */
    public long offsetOf(int block) {
        return (long) block * blockSizeBytes;
    }

    /** The number of logical blocks in a block. */
    public int logicalBlocks(int block) {
        return lengthOf(block) / LogicalBlock.BYTES;
    }

    /**
     * The index of the last block that the range overlaps. If the range ends beyond the shard, returns the index of the last
     * block of the shard. If the range is empty, returns {@code blockOf(offset) - 1}.
     */
    public int lastBlock(long offset, int lengthBytes) {
        return lengthBytes <= 0 ? blockOf(offset) - 1 : Math.min(blocks() - 1, blockOf(offset + lengthBytes - 1));
    }

    /** The start of a range within {@code block}, in logical blocks from the start of the block. */
    public int firstLogicalBlock(long offset, int block) {
        return (int) (Math.max(0, offset - offsetOf(block)) / LogicalBlock.BYTES);
    }

    /** The end of a range within {@code block}, exclusive, in logical blocks from the start of the block. */
    public int endLogicalBlock(long offset, int lengthBytes, int block) {
        return (int) Math.min(logicalBlocks(block), (offset + lengthBytes - offsetOf(block)) / LogicalBlock.BYTES);
    }

    /** The length of a block, in bytes. */
    public int lengthOf(int block) {
        return (int) Math.min(blockSizeBytes, sizeBytes - offsetOf(block));
    }
}
