package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** Decodes PUSH and PULL for logical units with these vendor-specific commands. */
final class RoundCommands {
    private static final int BLOCK = LogicalBlock.BYTES;

    private RoundCommands() {}

    /** Sets what the command moves and its round. Returns false if it is neither PUSH nor PULL. */
    static boolean decode(DecodedCommand command, CdbUsage usage) throws ScsiException {
        boolean push = usage == RoundCdb.PUSH_USAGE;
        if (!push && usage != RoundCdb.PULL_USAGE) {
            return false;
        }
        long round = RoundCdb.round(command.cdb);
        command.round = push && round == 0 ? IoTask.IMPLIED_ROUND : round;
        command.finite = push && RoundCdb.isFinite(command.cdb);
        long bytes = rangeBytes(command);
        if (push) {
            command.access = MediumAccess.WRITE;
            ScsiCommands.moveOut(command, bytes);
        } else {
            command.access = MediumAccess.READ;
            command.move(bytes, Math.min(bytes, command.expectedBytes));
        }
        return true;
    }

    /** As {@link ScsiCommands#rangeBytes}, for the fields of PUSH and PULL. */
    private static long rangeBytes(DecodedCommand command) throws ScsiException {
        int blocks = RoundCdb.blocks(command.cdb);
        if (blocks > ScsiCommands.MAX_TRANSFER_BLOCKS) {
            throw new ScsiException(Sense.invalidFieldInCdb(RoundCdb.BLOCKS_FIELD),
                "a transfer of " + blocks + " blocks, the limit is " + ScsiCommands.MAX_TRANSFER_BLOCKS);
        }
        long lba = RoundCdb.lba(command.cdb);
        long capacity = command.unit.sizeBytes() / BLOCK;
        if (lba > capacity || lba == capacity && blocks > 0 || blocks > capacity - lba) {
            throw new ScsiException(Sense.LBA_OUT_OF_RANGE.at(RoundCdb.LBA_FIELD),
                "blocks " + lba + " to +" + blocks + " of a unit of " + capacity);
        }
        command.offset = lba * BLOCK;
        return (long) blocks * BLOCK;
    }
}
