package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.lang.foreign.MemorySegment;

/**
 * The commands that only a plain disk has: VERIFY, WRITE AND VERIFY and WRITE SAME (SBC-3 5.33 to 5.47). Each works a block of
 * the unit at a time, so that others get their turn, and ends early for a task that is aborted.
 */
final class DiskCommands {
    /** The longest range of a WRITE SAME, and of a VERIFY with one block, in logical blocks: 256 MiB. */
    static final int MAX_SAME_BLOCKS = 1 << 16;

    private static final int BLOCK = LogicalBlock.BYTES;
    private static final int NO_DATA_OUT_BUFFER = 0x01;

    /** The values of BYTCHK. */
    private static final int MEDIUM_ONLY = 0;
    private static final int COMPARE_ALL = 1;
    private static final int RESERVED = 2;
    private static final int COMPARE_ONE_BLOCK = 3;
    private static final int BYTE_CHECK_BYTE = 1;
    private static final int BYTE_CHECK_BIT = 2;

    private DiskCommands() {}

    /** Sets what a VERIFY moves and does. */
    static void decodeVerify(TaskSlot task) throws ScsiException {
        switch (task.cdb.byteCheck()) {
            case MEDIUM_ONLY -> {
                // The medium is memory, which has no errors to find; so there is nothing to do but to check the range.
                ScsiCommands.rangeBytes(task, Long.MAX_VALUE);
                task.kind = TaskSlot.Kind.COMPARE;
                task.move(0, 0);
            }
            case COMPARE_ALL -> {
                task.kind = TaskSlot.Kind.COMPARE;
                ScsiCommands.moveOut(task, ScsiCommands.rangeBytes(task, ScsiCommands.MAX_TRANSFER_BLOCKS));
            }
            case COMPARE_ONE_BLOCK -> {
                task.kind = TaskSlot.Kind.COMPARE_SAME;
                moveOneBlock(task, ScsiCommands.rangeBytes(task, MAX_SAME_BLOCKS) > 0);
            }
            default -> throw reservedByteCheck();
        }
    }

    /** Sets what a WRITE AND VERIFY moves and does. */
    static void decodeWriteAndVerify(TaskSlot task) throws ScsiException {
        if (task.cdb.byteCheck() >= RESERVED) {
            throw reservedByteCheck();
        }
        task.kind = task.cdb.byteCheck() == COMPARE_ALL ? TaskSlot.Kind.WRITE_AND_COMPARE : TaskSlot.Kind.WRITE;
        ScsiCommands.moveOut(task, ScsiCommands.rangeBytes(task, ScsiCommands.MAX_TRANSFER_BLOCKS));
    }

    private static ScsiException reservedByteCheck() {
        return new ScsiException(Sense.invalidFieldInCdb(BYTE_CHECK_BYTE, BYTE_CHECK_BIT), "a reserved BYTCHK");
    }

    /** Sets what a WRITE SAME moves. */
    static void decodeWriteSame(TaskSlot task) throws ScsiException {
        Cdb cdb = task.cdb;
        if (cdb.blocks() == 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(cdb.blocksField()),
                "WRITE SAME of no blocks, which would mean all: the block limits page says WSNZ");
        }
        ScsiCommands.rangeBytes(task, MAX_SAME_BLOCKS);
        task.kind = TaskSlot.Kind.WRITE_SAME;
        moveOneBlock(task, !isWithoutData(cdb));
    }

    /** Whether a WRITE SAME writes zeros: only that of 16 bytes can have the bit. */
    private static boolean isWithoutData(Cdb cdb) {
        return (cdb.u8(1) & NO_DATA_OUT_BUFFER) != 0;
    }

    private static void moveOneBlock(TaskSlot task, boolean withData) throws ScsiException {
        int bytes = withData ? BLOCK : 0;
        if (bytes > (task.sendsData ? task.expectedBytes : 0)) {
            throw new ScsiException(Sense.INVALID_FIELD_IN_COMMAND_UNIT,
                task.expectedBytes + " bytes of data where there must be " + bytes);
        }
        task.move(bytes, bytes);
    }

    /** Runs a command whose data is here. */
    static void run(TaskSlot task) throws ScsiException {
        DiskUnit disk = (DiskUnit) task.unit;
        switch (task.kind) {
            case COMPARE -> check(task.moveBytes == 0 ? -1 : disk.firstDifference(task));
            case WRITE_AND_COMPARE -> {
                if (task.moveBytes > 0) {
                    disk.write(task);
                    check(disk.firstDifference(task));
                }
            }
            case COMPARE_SAME, WRITE_SAME -> goThrough(task, disk);
            default -> throw new IllegalStateException(task.kind + " is no disk's command");
        }
    }

    private static void check(long difference) throws ScsiException {
        if (difference >= 0) {
            throw new ScsiException(Sense.MISCOMPARE.information(difference), "a difference at byte " + difference);
        }
    }

    private static void goThrough(TaskSlot task, DiskUnit disk) throws ScsiException {
        long data = task.pieceOffset(0);
        MemorySegment block = task.moveBytes == 0
            ? null
            : task.memory().slab(data).asSlice(DataMemory.offsetInSlab(data), BLOCK);
        int step = disk.optimalTransferBytes();
        long end = task.offset + task.cdb.blocks() * BLOCK;
        long offset = task.offset;
        while (offset < end && !task.isToEndEarly()) {
            int bytes = (int) Math.min(end - offset, step - offset % step);
            if (task.kind == TaskSlot.Kind.WRITE_SAME) {
                disk.fill(offset, bytes, block);
            } else {
                long difference = disk.firstDifference(offset, bytes, block);
                check(difference < 0 ? -1 : offset - task.offset + difference);
            }
            offset += bytes;
        }
    }
}
