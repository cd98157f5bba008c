package io.modeldisk.striping;

import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;

/**
 * The push of a range in which an earlier, failed call has left logical blocks that must be repeated. These blocks are pushed
 * first, so they do not wait for the other blocks. If this call fails too and is repeated, the blocks that it has pushed keep
 * their round.
 */
final class RepeatedPush {
    /** Moves a part of the range. */
    @FunctionalInterface
    interface Mover {
        /** Moves a range of the model, or marks it as absent. */
        void move(Direction direction, long offset, long memoryOffset, long bytes) throws IOException;
    }

    private final PushLedger ledger;
    private final Direction direction;
    private final long offset;
    private final long memoryOffset;
    private final Mover mover;
    /** The logical blocks that must be repeated after an earlier call has failed. Bit 0 is the range's first logical block. */
    private final BitRanges left;

    RepeatedPush(PushLedger ledger, Direction direction, long offset, long memoryOffset, long bytes, Mover mover) {
        this.ledger = ledger;
        this.direction = direction;
        this.offset = offset;
        this.memoryOffset = memoryOffset;
        this.mover = mover;
        this.left = ledger.repeatable(first(), first() + bytes / LogicalBlock.BYTES);
    }

    private long first() {
        return offset / LogicalBlock.BYTES;
    }

    void run() throws IOException {
        push(true);
        try {
            push(false);
        } catch (IOException e) {
            repeatLater(true, left.size());
            throw e;
        }
    }

    /** Pushes the logical blocks that must be repeated after an earlier call, or all other logical blocks of the range. */
    private void push(boolean ofEarlierCall) throws IOException {
        long at = 0;
        while (at < left.size()) {
            long from = begin(at, left.size(), ofEarlierCall);
            at = begin(from, left.size(), !ofEarlierCall);
            long start = from * LogicalBlock.BYTES;
            long startInMemory = direction.isAbsent() ? start / StripedTransfer.ABSENT_BYTES_PER_BYTE : start;
            try {
                mover.move(from == 0 ? direction : direction.uncounted(), offset + start, memoryOffset + startInMemory,
                    (at - from) * LogicalBlock.BYTES);
            } catch (IOException e) {
                repeatLater(ofEarlierCall, from);
                throw e;
            }
        }
    }

    /**
     * Marks the logical blocks before {@code end} that this call has pushed, so they keep their round when the call is repeated.
     */
    private void repeatLater(boolean ofEarlierCall, long end) {
        long at = 0;
        while (at < end) {
            long start = begin(at, end, ofEarlierCall);
            at = begin(start, end, !ofEarlierCall);
            ledger.repeat(first() + start, first() + at);
        }
    }

    private long begin(long from, long end, boolean ofEarlierCall) {
        return ofEarlierCall ? left.nextSet(from, end) : left.nextClear(from, end);
    }
}
