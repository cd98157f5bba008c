package io.modeldisk.server.consistency;

import io.modeldisk.server.block.BlockLayout;
import java.util.Arrays;

/**
 * Which logical blocks of which round a learner has pushed, for each block. Guarded, block by block, by the block's lock.
 *
 * <p>Marks belong to a round: those of an earlier round count as none, so that closing a round need not visit the learners.
 */
public final class RoundMarks {
    /** For a mode without rounds: no block has any. */
    public static final RoundMarks NONE = new RoundMarks(0, 0);

    private final int wordsPerBlock;
    private final long[] clock;
    private final long[] markedRound;
    private final long[] marks;

    /** No marks yet, for all blocks of a shard. */
    public RoundMarks(BlockLayout layout) {
        this(layout.blocks(), layout.blockSizeBytes() / BlockLayout.LOGICAL_BLOCK_BYTES);
    }

    private RoundMarks(int blocks, int logicalBlocksPerBlock) {
        this.wordsPerBlock = (logicalBlocksPerBlock + Long.SIZE - 1) / Long.SIZE;
        this.clock = new long[blocks];
        this.markedRound = new long[blocks];
        this.marks = new long[Math.multiplyExact(blocks, wordsPerBlock)];
    }

    /** The last round that was pushed in full; 0 before the first. */
    public long clock(int block) {
        return clock[block];
    }

    /** Whether any of {@code count} logical blocks from {@code first} on is marked for this round. */
    boolean anyMarked(int block, long round, int first, int count) {
        if (markedRound[block] != round) {
            return false;
        }
        for (int i = first; i < first + count; i++) {
            if ((marks[word(block, i)] & 1L << i) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Marks {@code count} logical blocks from {@code first} on for this round, and moves the clock on if all are. */
    void mark(int block, long round, int first, int count, int logicalBlocks) {
        if (markedRound[block] != round) {
            Arrays.fill(marks, block * wordsPerBlock, (block + 1) * wordsPerBlock, 0);
            markedRound[block] = round;
        }
        for (int i = first; i < first + count; i++) {
            marks[word(block, i)] |= 1L << i;
        }
        if (marked(block) == logicalBlocks) {
            clock[block] = round;
        }
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
