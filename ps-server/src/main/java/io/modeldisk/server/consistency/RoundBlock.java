package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.Block;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A block's open round: the sum of the gradients so far, and their number for each logical block. Guarded by the block's lock.
 */
final class RoundBlock {
    private final Block block;
    private final MemorySegment sum;
    private final int[] contributions;
    private final ParkedTasks parked = new ParkedTasks();
    private long round = 1;

    /** Round 1 is open. {@code sum} is as long as the block; its first content does not matter. */
    RoundBlock(Block block, MemorySegment sum) {
        this.block = block;
        this.sum = sum;
        this.contributions = new int[block.lengthBytes() / LogicalBlock.BYTES];
    }

    Block block() {
        return block;
    }

    /** The round that is open, from 1; those below have been applied. */
    long round() {
        return round;
    }

    int logicalBlocks() {
        return contributions.length;
    }

    /** The tasks that wait for this round to close. */
    ParkedTasks parked() {
        return parked;
    }

    /** Adds a gradient to the sum. */
    void contribute(int offset, MemorySegment data, long dataOffset, int lengthBytes) {
        for (int done = 0; done < lengthBytes; done += LogicalBlock.BYTES) {
            // The first contribution overwrites the sum of an earlier round, which is cheaper than zeroing and adding.
            if (contributions[(offset + done) / LogicalBlock.BYTES]++ == 0) {
                MemorySegment.copy(data, dataOffset + done, sum, offset + done, LogicalBlock.BYTES);
            } else {
                FloatSum.add(sum, offset + done, data, dataOffset + done, LogicalBlock.BYTES);
            }
        }
    }

    /** Whether every logical block has a contribution. */
    boolean isCovered() {
        return leastContributions() > 0;
    }

    /** The contributions of the logical block that has fewest. */
    int leastContributions() {
        int least = Integer.MAX_VALUE;
        for (int count : contributions) {
            least = Math.min(least, count);
        }
        return least;
    }

    /** Applies the mean of each logical block's contributions, in runs of equal counts, and opens the next round. */
    void close(Aggregator aggregator) {
        boolean updated = false;
        int start = 0;
        while (start < contributions.length) {
            int count = contributions[start];
            int end = start + 1;
            while (end < contributions.length && contributions[end] == count) {
                end++;
            }
            if (count > 0) {
                long offset = (long) start * LogicalBlock.BYTES;
                long lengthBytes = (long) (end - start) * LogicalBlock.BYTES;
                aggregator.aggregate(block.writable(), offset, sum, offset, lengthBytes, 1f / count);
                updated = true;
            }
            Arrays.fill(contributions, start, end, 0);
            start = end;
        }
        round++;
        if (updated) {
            block.updated();
        }
    }

    /** Opens a later round at once; the open one, and those between, have no contributions. */
    void skipTo(long later) {
        round = Math.max(round, later);
    }
}
