package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import java.lang.foreign.MemorySegment;

/**
 * Runs the commands that only a plain disk supports: VERIFY, WRITE AND VERIFY and WRITE SAME (SBC-3 sections 5.33 to 5.47). The
 * range of a WRITE SAME, or of a VERIFY with one block of data, can be long. Such a command processes one block of the shard at a
 * time, and stops between two blocks if its task must end early.
 */
final class DiskCommands {
    /** The maximum range of a WRITE SAME, and of a VERIFY with one block of data, in logical blocks. Equals 256 MiB. */
    static final int MAX_SAME_BLOCKS = 1 << 16;

    private static final int BLOCK = LogicalBlock.BYTES;
    private static final int NO_DATA_OUT_BUFFER = 0x01;

    /** The values of the BYTCHK field. */
    private static final int MEDIUM_ONLY = 0;
    private static final int COMPARE_ALL = 1;
    private static final int RESERVED = 2;
    private static final int COMPARE_ONE_BLOCK = 3;
    private static final int BYTE_CHECK_BYTE = 1;
    private static final int BYTE_CHECK_BIT = 2;

    private DiskCommands() {}

    static void decodeVerify(DecodedCommand command) throws ScsiException {
        switch (command.cdb.byteCheck()) {
            case MEDIUM_ONLY -> {
                // The medium is memory and has no media errors, so only the range is checked.
                ScsiCommands.rangeBytes(command, Long.MAX_VALUE);
                command.access = MediumAccess.COMPARE;
                command.move(0, 0);
            }
            case COMPARE_ALL -> {
                command.access = MediumAccess.COMPARE;
                ScsiCommands.moveOut(command, ScsiCommands.rangeBytes(command, ScsiCommands.MAX_TRANSFER_BLOCKS));
            }
            case COMPARE_ONE_BLOCK -> {
                command.access = MediumAccess.COMPARE_SAME;
                moveOneBlock(command, ScsiCommands.rangeBytes(command, MAX_SAME_BLOCKS) > 0);
            }
            default -> throw reservedByteCheck();
        }
    }

    static void decodeWriteAndVerify(DecodedCommand command) throws ScsiException {
        if (command.cdb.byteCheck() >= RESERVED) {
            throw reservedByteCheck();
        }
        command.access = command.cdb.byteCheck() == COMPARE_ALL ? MediumAccess.WRITE_AND_COMPARE : MediumAccess.WRITE;
        ScsiCommands.moveOut(command, ScsiCommands.rangeBytes(command, ScsiCommands.MAX_TRANSFER_BLOCKS));
    }

    private static ScsiException reservedByteCheck() {
        return new ScsiException(Sense.invalidFieldInCdb(BYTE_CHECK_BYTE, BYTE_CHECK_BIT),
            "the BYTCHK field of the CDB has a reserved value");
    }

    static void decodeWriteSame(DecodedCommand command) throws ScsiException {
        Cdb cdb = command.cdb;
        if (cdb.blocks() == 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(cdb.blocksField()),
                "WRITE SAME has a length of 0 blocks, which the Block Limits page does not allow (WSNZ)");
        }
        ScsiCommands.rangeBytes(command, MAX_SAME_BLOCKS);
        command.access = MediumAccess.WRITE_SAME;
        moveOneBlock(command, !isWithoutData(cdb));
    }

    /** True if a WRITE SAME command writes zeros (NDOB). Only WRITE SAME (16) has this bit. */
    private static boolean isWithoutData(Cdb cdb) {
        return (cdb.u8(1) & NO_DATA_OUT_BUFFER) != 0;
    }

    private static void moveOneBlock(DecodedCommand command, boolean withData) throws ScsiException {
        int bytes = withData ? BLOCK : 0;
        if (bytes > (command.sendsData ? command.expectedBytes : 0)) {
            throw new ScsiException(Sense.INVALID_FIELD_IN_COMMAND_UNIT,
                "the command needs " + bytes + " bytes of data, but " + (command.sendsData
                    ? "its expected data transfer length is " + command.expectedBytes
                    : "its W bit is 0, so the initiator sends no data"));
        }
        command.move(bytes, bytes);
    }

    /** Runs a command whose data has arrived. Returns false if the task must wait or end early. */
    static boolean run(TaskSlot task) throws ScsiException {
        DiskUnit disk = (DiskUnit) task.command.unit;
        switch (task.command.access) {
            case COMPARE -> check(task.command.moveBytes == 0 ? -1 : disk.firstDifference(task));
            case WRITE_AND_COMPARE -> {
                if (task.command.moveBytes > 0) {
                    if (!disk.write(task)) {
                        return false;
                    }
                    check(disk.firstDifference(task));
                }
            }
            case COMPARE_SAME -> compareSame(task, disk);
            case WRITE_SAME -> {
                // One synchronization makes all blocks durable after the last block is filled.
                return fill(task, disk) && disk.synchronizeCache(task);
            }
            default ->
                throw new IllegalStateException(
                    "a plain disk cannot run a command with the access " + task.command.access);
        }
        return !task.isToEnd();
    }

    private static void check(long difference) throws ScsiException {
        if (difference >= 0) {
            throw new ScsiException(Sense.MISCOMPARE.information(difference),
                "the data of the command differs from the medium at byte " + difference + " of the range");
        }
    }

    private static void compareSame(TaskSlot task, DiskUnit disk) throws ScsiException {
        long end = end(task);
        long offset = task.command.offset;
        while (offset < end && !task.isToEnd()) {
            int bytes = bytesOfBlock(disk, offset, end);
            long difference = disk.firstDifference(offset, bytes, logicalBlock(task));
            check(difference < 0 ? -1 : offset - task.command.offset + difference);
            offset += bytes;
        }
    }

    /** Fills the rest of a WRITE SAME's range. Returns false if the task must wait or end early. */
    private static boolean fill(TaskSlot task, DiskUnit disk) throws ScsiException {
        long end = end(task);
        long offset = task.command.offset + task.command.filledBytes;
        while (offset < end) {
            int bytes = bytesOfBlock(disk, offset, end);
            if (task.isToEnd() || !disk.fill(task, offset, bytes, logicalBlock(task))) {
                return false;
            }
            task.command.filledBytes += bytes;
            offset += bytes;
        }
        return true;
    }

    private static long end(TaskSlot task) {
        return task.command.offset + task.command.cdb.blocks() * BLOCK;
    }

    /** Returns the number of bytes from {@code offset} to the end of the range or of the shard's block, whichever is nearer. */
    private static int bytesOfBlock(DiskUnit disk, long offset, long end) {
        int step = disk.optimalTransferBytes();
        return (int) Math.min(end - offset, step - offset % step);
    }

    /** Returns the logical block of data of a command; null if the command has no data. */
    private static MemorySegment logicalBlock(TaskSlot task) {
        long data = task.pieceOffset(0);
        return task.command.moveBytes == 0
            ? null
            : task.memory().slab(data).asSlice(DataMemory.offsetInSlab(data), BLOCK);
    }
}
