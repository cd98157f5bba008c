package io.modeldisk.protocol.target;

import io.modeldisk.protocol.scsi.RoundCdb;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** Decodes PUSH and PULL, for the logical units that keep rounds. */
final class RoundCommands {
    private static final int BLOCK = LogicalUnit.LOGICAL_BLOCK_BYTES;

    private RoundCommands() {}

    /** Sets what the task moves and its round; answers false if its command is none of these, or its unit has no rounds. */
    static boolean decode(TaskSlot task) throws ScsiException {
        int opcode = task.cdb.opcode();
        if (opcode != RoundCdb.PUSH && opcode != RoundCdb.PULL || task.unit == null || !task.unit.keepsRounds()) {
            return false;
        }
        check(task, opcode);
        long bytes = (long) RoundCdb.blocks(task.cdb) * BLOCK;
        task.offset = RoundCdb.lba(task.cdb) * BLOCK;
        task.round = RoundCdb.round(task.cdb);
        if (opcode == RoundCdb.PUSH) {
            task.kind = TaskSlot.Kind.WRITE;
            // As of a WRITE that the initiator cuts short: only whole logical blocks can be taken.
            task.move(bytes, Math.min(bytes, task.expectedBytes / BLOCK * BLOCK));
        } else {
            task.kind = TaskSlot.Kind.READ;
            task.move(bytes, Math.min(bytes, task.expectedBytes));
        }
        return true;
    }

    private static void check(TaskSlot task, int opcode) throws ScsiException {
        int reserved = RoundCdb.reservedByteSet(task.cdb);
        if (reserved >= 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(reserved), "byte " + reserved + " must be 0");
        }
        if (opcode == RoundCdb.PUSH && RoundCdb.round(task.cdb) == 0) {
            throw new ScsiException(Sense.invalidFieldInCdb(RoundCdb.ROUND_FIELD),
                "a PUSH of round 0; rounds are from 1");
        }
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
    }
}
