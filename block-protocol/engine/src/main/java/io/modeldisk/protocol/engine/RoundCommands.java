package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiException;

/** Decodes the vendor-specific commands PUSH, PULL, ABSENT and AWAIT VERSION for logical units that support them. */
final class RoundCommands {
    private RoundCommands() {}

    /** Sets the round and the data length of a PUSH, PULL, ABSENT or AWAIT VERSION. Returns false for any other command. */
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
        Cdb cdb = command.cdb;
        return ScsiCommands.rangeBytes(command, RoundCdb.lba(cdb), RoundCdb.LBA_FIELD, RoundCdb.blocks(cdb),
            RoundCdb.BLOCKS_FIELD, ScsiCommands.MAX_TRANSFER_BLOCKS);
    }
}
