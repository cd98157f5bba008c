package io.modeldisk.server.consistency;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.block.Block;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/** The open round of a block: the sum of the gradients, and their number for each logical block. Guarded by the block's lock. */
final class RoundBlock {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Block block;
    private final RoundSum sum;
    private final int[] contributions;
    private final ParkedTasks parked = new ParkedTasks();
    /** The open rounds of all blocks. Without the lock of the block, a read may return a slightly older round. */
    private final AtomicLongArray rounds;

    /**
     * Creates the block with round 1 open.
     *
     * @param sum the memory for the sum of the block's gradients; its content does not matter
     * @param rounds the open rounds of all blocks; this object sets and reads the entry of its block
     */
    RoundBlock(Block block, RoundSum sum, AtomicLongArray rounds) {
        this.block = block;
        this.rounds = rounds;
        rounds.setOpaque(block.index(), 1);
        this.sum = sum;
        this.contributions = new int[block.lengthBytes() / LogicalBlock.BYTES];
    }

    Block block() {
        return block;
    }

    /** The ordinal number of the open round, from 1. Earlier rounds have been applied. */
    long round() {
        return rounds.getOpaque(block.index());
    }

    int logicalBlocks() {
        return contributions.length;
    }

    /** The tasks that wait until the open round closes. */
    ParkedTasks parked() {
        return parked;
    }

    /** Adds the gradient of a range of logical blocks to the sum. */
    void contribute(int offset, MemorySegment data, long dataOffset, GradientType type, int lengthBytes) {
        int start = offset / LogicalBlock.BYTES;
        int last = start + lengthBytes / LogicalBlock.BYTES;
        while (start < last) {
            // The first gradient overwrites the sum of an earlier round. This is faster than filling the sum with zeros first.
            boolean first = contributions[start] == 0;
            int end = start;
            while (end < last && contributions[end] == 0 == first) {
                contributions[end++]++;
            }
            int from = start * LogicalBlock.BYTES;
            sum.add(from, data, dataOffset + (from - offset) / type.widening(), type,
                (end - start) * LogicalBlock.BYTES, first);
            start = end;
        }
    }

    /** Returns whether every logical block has a gradient. */
    boolean isCovered() {
        return leastContributions() > 0;
    }

    /** The lowest number of gradients that a logical block of this block has. */
    int leastContributions() {
        int least = Integer.MAX_VALUE;
        for (int count : contributions) {
            least = Math.min(least, count);
        }
        return least;
    }

    /**
     * Applies the mean of the gradients and opens the next round. Adjacent logical blocks with the same number of gradients are
     * applied together.
     */
    void close(Aggregator aggregator) {
        long round = round();
        boolean updated = false;
        int start = 0;
        while (start < contributions.length) {
            int count = contributions[start];
            int end = start + 1;
            while (end < contributions.length && contributions[end] == count) {
                end++;
            }
            if (count > 0) {
                sum.apply(block, aggregator, round, start * LogicalBlock.BYTES, (end - start) * LogicalBlock.BYTES,
                    1f / count);
                updated = true;
            }
            Arrays.fill(contributions, start, end, 0);
            start = end;
        }
        rounds.setOpaque(block.index(), round + 1);
        if (updated) {
            block.updated();
        }
    }

    /** The highest number of gradients that a logical block of this block has. */
    int mostContributions() {
        int most = 0;
        for (int count : contributions) {
            most = Math.max(most, count);
        }
        return most;
    }

    /** Returns the sum of the gradients. May wait for a device. */
    MemorySegment sum() {
        return sum.readable();
    }

    /**
     * Writes the number of gradients of each logical block and, unless {@code ofGradients} is null, the sum of the gradients.
     * Returns the offset after the last byte.
     */
    long write(MemorySegment memory, long start, MemorySegment ofGradients) {
        for (int i = 0; i < contributions.length; i++) {
            memory.set(INT, start + (long) i * Integer.BYTES, contributions[i]);
        }
        long end = start + (long) contributions.length * Integer.BYTES;
        if (ofGradients != null) {
            MemorySegment.copy(ofGradients, 0, memory, end, block.lengthBytes());
            end += block.lengthBytes();
        }
        return end;
    }

    /** Reads the data that {@link #write} has written. Returns the offset after the last byte. */
    long read(long openRound, MemorySegment memory, long start, boolean withSum) {
        rounds.setOpaque(block.index(), openRound);
        for (int i = 0; i < contributions.length; i++) {
            contributions[i] = memory.get(INT, start + (long) i * Integer.BYTES);
        }
        long end = start + (long) contributions.length * Integer.BYTES;
        if (withSum) {
            sum.load(memory, end);
            end += block.lengthBytes();
        }
        return end;
    }

    /** Opens the round {@code later} if this round is later than the open round. The skipped rounds must have no gradients. */
    void skipTo(long later) {
        rounds.setOpaque(block.index(), Math.max(round(), later));
    }
}
