package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** Decodes PUSH and PULL, for the logical units that have them among their vendor-specific commands. */
final class RoundCommands {
    private static final int BLOCK = LogicalBlock.BYTES;

    private RoundCommands() {}

    /** Sets what the task moves and its round; answers false if its command is neither of the two. */
    static boolean decode(TaskSlot task, CdbUsage usage) throws ScsiException {
        boolean push = usage == RoundCdb.PUSH_USAGE;
        if (!push && usage != RoundCdb.PULL_USAGE) {
            return false;
        }
        task.round = RoundCdb.round(task.cdb);
        if (push && task.round == 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(RoundCdb.ROUND_FIELD),
                "a PUSH of round 0; rounds are from 1");
        }
        long bytes = rangeBytes(task);
        if (push) {
            task.kind = TaskSlot.Kind.WRITE;
            ScsiCommands.moveOut(task, bytes);
        } else {
            task.kind = TaskSlot.Kind.READ;
            task.move(bytes, Math.min(bytes, task.expectedBytes));
        }
        return true;
    }

    /** As {@link ScsiCommands#rangeBytes}, for the fields of these two. */
    private static long rangeBytes(TaskSlot task) throws ScsiException {
        int blocks = RoundCdb.blocks(task.cdb);
        if (blocks > ScsiCommands.MAX_TRANSFER_BLOCKS) {
            throw new ScsiException(Sense.invalidFieldInCdb(RoundCdb.BLOCKS_FIELD),
                "a transfer of " + blocks + " blocks, the limit is " + ScsiCommands.MAX_TRANSFER_BLOCKS);
        }
        long lba = RoundCdb.lba(task.cdb);
        long capacity = task.unit.sizeBytes() / BLOCK;
        if (lba > capacity || lba == capacity && blocks > 0 || blocks > capacity - lba) {
            throw new ScsiException(Sense.LBA_OUT_OF_RANGE.at(RoundCdb.LBA_FIELD),
                "blocks " + lba + " to +" + blocks + " of a unit of " + capacity);
        }
        task.offset = lba * BLOCK;
        return (long) blocks * BLOCK;
    }
}
