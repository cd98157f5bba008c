package io.modeldisk.server.consistency;

import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The logical blocks that a learner has pushed in its last round, for each block. The marks of a block are guarded by the lock of
 * the block. The marks need 24 bytes per block, or more if a block has more than 64 logical blocks.
 *
 * <p>Marks belong to a round. Marks of an earlier round are ignored, so the marks need no reset when a round closes.
 */
public final class RoundMarks {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int wordsPerBlock;
    private final long[] clock;
    private final long[] markedRound;
    private final long[] marks;
    /** The marks of the logical blocks without a gradient in the last started round; null before the first ABSENT. */
    private volatile long[] absent;

    /** Creates empty marks for all blocks of a shard. */
    public RoundMarks(BlockLayout layout) {
        int logicalBlocks = layout.blockSizeBytes() / LogicalBlock.BYTES;
        this.wordsPerBlock = (logicalBlocks + Long.SIZE - 1) / Long.SIZE;
        this.clock = new long[layout.blocks()];
        this.markedRound = new long[layout.blocks()];
        this.marks = new long[Math.multiplyExact(layout.blocks(), wordsPerBlock)];
    }

    /** Sets the clock of each block to a round, because the learner had pushed it in the previous process of the shard. */
    void continueAfter(long round) {
        Arrays.fill(clock, round);
    }

    /** The number of bytes that the marks need for a block of {@code logicalBlocks} logical blocks. */
    public static long bytesPerBlock(int logicalBlocks) {
        return (2 + (logicalBlocks + Long.SIZE - 1) / Long.SIZE) * (long) Long.BYTES;
    }

    /** The last round of the block that the learner has pushed completely; 0 if there is none. */
    public long clock(int block) {
        return clock[block];
    }

    /** The last finished round of the block (pushed completely, or followed by a started round); 0 if there is none. */
    public long finishedRound(int block) {
        return Math.max(clock[block], markedRound[block] - 1);
    }

    /** The last started round of the block; 0 if there is none. */
    long markedRound(int block) {
        return markedRound[block];
    }

    /**
     * Returns the first logical block from {@code from} to {@code end} (exclusive) without a mark for this round; {@code end} if
     * there is none.
     */
    int nextUnmarked(int block, long round, int from, int end) {
        int i = from;
        while (i < end && isMarked(block, round, i)) {
            i++;
        }
        return i;
    }

    /**
     * Returns the first logical block from {@code from} to {@code end} (exclusive) with a mark for this round; {@code end} if
     * there is none.
     */
    int nextMarked(int block, long round, int from, int end) {
        int i = from;
        while (i < end && !isMarked(block, round, i)) {
            i++;
        }
        return i;
    }

    /**
     * Records that the learner has no gradient for those logical blocks of a range that have no mark for this round. Called
     * before {@link #mark}. A repeated ABSENT must return the same number as the first ABSENT, whose response may be lost. After
     * a restart, a shard may return a lower number, because its records do not contain these marks.
     *
     * @return the number of logical blocks that had no mark
     */
    int leaveOut(int block, long round, int from, int end) {
        begin(block, round);
        long[] words = absentWords();
        int count = 0;
        for (int i = from; i < end; i++) {
            if (!isMarked(block, round, i)) {
                words[word(block, i)] |= 1L << i;
                count++;
            }
        }
        return count;
    }

    /** The number of logical blocks from {@code from} to {@code end} (exclusive) without a gradient in this round. */
    int absent(int block, long round, int from, int end) {
        long[] words = absent;
        int count = 0;
        for (int i = from; i < end && words != null && markedRound[block] == round; i++) {
            count += (words[word(block, i)] & 1L << i) != 0 ? 1 : 0;
        }
        return count;
    }

    private long[] absentWords() {
        // The lock that the caller holds guards only one block, but the array contains the words of all blocks.
        synchronized (marks) {
            if (absent == null) {
                absent = new long[marks.length];
            }
            return absent;
        }
    }

    private void begin(int block, long round) {
        if (markedRound[block] != round) {
            Arrays.fill(marks, block * wordsPerBlock, (block + 1) * wordsPerBlock, 0);
            long[] words = absent;
            if (words != null) {
                Arrays.fill(words, block * wordsPerBlock, (block + 1) * wordsPerBlock, 0);
            }
            markedRound[block] = round;
        }
    }

    private boolean isMarked(int block, long round, int logicalBlock) {
        return markedRound[block] == round && (marks[word(block, logicalBlock)] & 1L << logicalBlock) != 0;
    }

    /**
     * Marks a range of logical blocks for this round. If the whole block is marked, sets the clock of the block to this round.
     *
     * @return whether the clock of the block has changed
     */
    boolean mark(int block, long round, int from, int end, int logicalBlocks) {
        begin(block, round);
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

    /** The number of bytes that {@link #write} writes. */
    int writtenBytes() {
        return (2 + wordsPerBlock) * Long.BYTES;
    }

    /** Writes the marks of a block to memory: the clock, the last started round, and the words with the marks. */
    void write(int block, MemorySegment memory, long start) {
        memory.set(LONG, start, clock[block]);
        memory.set(LONG, start + Long.BYTES, markedRound[block]);
        for (int i = 0; i < wordsPerBlock; i++) {
            memory.set(LONG, start + (2 + i) * Long.BYTES, marks[block * wordsPerBlock + i]);
        }
    }

    /** Reads the marks of a block from memory. */
    void read(int block, MemorySegment memory, long start) {
        clock[block] = memory.get(LONG, start);
        markedRound[block] = memory.get(LONG, start + Long.BYTES);
        for (int i = 0; i < wordsPerBlock; i++) {
            marks[block * wordsPerBlock + i] = memory.get(LONG, start + (2 + i) * Long.BYTES);
        }
    }

    private int word(int block, int logicalBlock) {
        return block * wordsPerBlock + logicalBlock / Long.SIZE;
    }
}
