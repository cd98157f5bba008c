package io.modeldisk.fault.record;

import java.util.Arrays;

/**
 * The stamp of each block: the epoch and the position of the last record that changed the block. If two processes have the same
 * stamp for a block, they have the same contents of this block. The stamp of a block that no record has changed consists of the
 * epoch 0 and the number {@code start} of the constructor. The stamp of a block is guarded by the lock of the block.
 */
public final class BlockStamps {
    /** The length of an encoded stamp in bytes. */
    public static final int BYTES = 2 * Long.BYTES;

    private final long[] epochs;
    private final long[] positions;

    /**
     * Creates the stamps of blocks that no record has changed.
     *
     * @param start a number that two processes have in common only if they started with the same weights; 0 for initial weights
     */
    public BlockStamps(int blocks, long start) {
        this.epochs = new long[blocks];
        this.positions = new long[blocks];
        Arrays.fill(positions, start);
    }

    /** The number of blocks. */
    public int blocks() {
        return epochs.length;
    }

    /** The epoch of the last record that changed the block; 0 if there is none. */
    public long epoch(int block) {
        return epochs[block];
    }

    /** The position of the last record that changed the block; the number {@code start} of the constructor if there is none. */
    public long position(int block) {
        return positions[block];
    }

    /** Sets the stamp of a block. */
    public void set(int block, long epoch, long position) {
        epochs[block] = epoch;
        positions[block] = position;
    }

    /** True if a block has this stamp. */
    public boolean is(int block, long epoch, long position) {
        return epochs[block] == epoch && positions[block] == position;
    }
}
