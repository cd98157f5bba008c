package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;

/** Decodes the vendor-specific commands PUSH, PULL, ABSENT and AWAIT VERSION for logical units that support them. */
final class RoundCommands {
    private static final int BLOCK = LogicalBlock.BYTES;

    private RoundCommands() {}

    /** Sets the round of a command and the data that the command moves. Returns false for any other command. */
    static boolean decode(DecodedCommand command, CdbUsage usage) throws ScsiException {
        if (usage == AwaitCommand.USAGE) {
            command.access = MediumAccess.AWAIT;
            command.round = AwaitCommand.known(command.cdb);
            return true;
        }
        if (usage == AbsentCommand.USAGE) {
            command.access = MediumAccess.MARK;
            command.round = RoundCdb.existingRound(command.cdb, "ABSENT");
            command.nonFinite = AbsentCommand.isNonFinite(command.cdb);
            command.moveBytes = Math.toIntExact(rangeBytes(command));
            return true;
        }
        boolean push = usage == RoundCdb.PUSH_USAGE;
        if (!push && usage != RoundCdb.PULL_USAGE) {
            return false;
        }
        long round = RoundCdb.round(command.cdb);
        command.round = push && round == RoundCdb.NO_ROUND ? IoTask.IMPLIED_ROUND : round;
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

    /** Checks the range of a PUSH, PULL or ABSENT, and sets the start of the range. Returns the length of the range in bytes. */
    private static long rangeBytes(DecodedCommand command) throws ScsiException {
        int blocks = RoundCdb.blocks(command.cdb);
        if (blocks > ScsiCommands.MAX_TRANSFER_BLOCKS) {
            throw new ScsiException(Sense.invalidFieldInCdb(RoundCdb.BLOCKS_FIELD),
                "a transfer of " + blocks + " blocks exceeds the limit of " + ScsiCommands.MAX_TRANSFER_BLOCKS);
        }
        long lba = RoundCdb.lba(command.cdb);
        long capacity = command.unit.sizeBytes() / BLOCK;
        if (lba > capacity || lba == capacity && blocks > 0 || blocks > capacity - lba) {
            throw new ScsiException(Sense.LBA_OUT_OF_RANGE.at(RoundCdb.LBA_FIELD),
                "a range of " + blocks + " blocks at LBA " + lba + " exceeds the capacity of " + capacity + " blocks");
        }
        command.offset = lba * BLOCK;
        return (long) blocks * BLOCK;
    }
}
