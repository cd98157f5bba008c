package io.modeldisk.server.consistency;

import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.BlockLayout;
import java.util.Arrays;

/**
 * Which logical blocks of which round a learner has pushed, for each block. Guarded, block by block, by the block's lock. Takes
 * 24 bytes a block, and more only for blocks of more than 64 logical blocks.
 *
 * <p>Marks belong to a round: marks of an earlier round do not count, so that closing a round need not visit the learners.
 */
public final class RoundMarks {
    private final int wordsPerBlock;
    private final long[] clock;
    private final long[] markedRound;
    private final long[] marks;

    /** No marks yet, for all blocks of a shard. */
    public RoundMarks(BlockLayout layout) {
        int logicalBlocks = layout.blockSizeBytes() / LogicalBlock.BYTES;
        this.wordsPerBlock = (logicalBlocks + Long.SIZE - 1) / Long.SIZE;
        this.clock = new long[layout.blocks()];
        this.markedRound = new long[layout.blocks()];
        this.marks = new long[Math.multiplyExact(layout.blocks(), wordsPerBlock)];
    }

    /** The bytes that it takes for each block, from the logical blocks of a block. */
    public static long bytesPerBlock(int logicalBlocks) {
        return (2 + (logicalBlocks + Long.SIZE - 1) / Long.SIZE) * (long) Long.BYTES;
    }

    /** The last round that was pushed in full; 0 before the first. */
    public long clock(int block) {
        return clock[block];
    }

    /** The last round that is finished: it was pushed in full, or a later one has begun. 0 before the first. */
    public long finishedRound(int block) {
        return Math.max(clock[block], markedRound[block] - 1);
    }

    /** The last round that has begun; 0 before the first. */
    long markedRound(int block) {
        return markedRound[block];
    }

    /** The first logical block from {@code from} on that is not marked for this round; {@code end} if all before that are. */
    int nextUnmarked(int block, long round, int from, int end) {
        int i = from;
        while (i < end && isMarked(block, round, i)) {
            i++;
        }
        return i;
    }

    /** The first logical block from {@code from} on that is marked for this round; {@code end} if there is no such one before. */
    int nextMarked(int block, long round, int from, int end) {
        int i = from;
        while (i < end && !isMarked(block, round, i)) {
            i++;
        }
        return i;
    }

    private boolean isMarked(int block, long round, int logicalBlock) {
        return markedRound[block] == round && (marks[word(block, logicalBlock)] & 1L << logicalBlock) != 0;
    }

    /**
     * Marks the logical blocks of a range for this round, and moves the clock on if all of the block are.
     *
     * @return whether that moved the clock on
     */
    boolean mark(int block, long round, int from, int end, int logicalBlocks) {
        if (markedRound[block] != round) {
            Arrays.fill(marks, block * wordsPerBlock, (block + 1) * wordsPerBlock, 0);
            markedRound[block] = round;
        }
        for (int i = from; i < end; i++) {
            marks[word(block, i)] |= 1L << i;
        }
        if (clock[block] >= round || marked(block) < logicalBlocks) {
            return false;
        }
        clock[block] = round;
        return true;
    }

    private int marked(int block) {
        int marked = 0;
        for (int i = block * wordsPerBlock; i < (block + 1) * wordsPerBlock; i++) {
            marked += Long.bitCount(marks[i]);
        }
        return marked;
    }

    private int word(int block, int logicalBlock) {
        return block * wordsPerBlock + logicalBlock / Long.SIZE;
    }
}
