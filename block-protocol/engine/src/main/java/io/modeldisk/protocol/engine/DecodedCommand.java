package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiStatus;

/** What a task has to do: its CDB, and what {@link ScsiCommands} makes of it. Reused; owned by its task's owner. */
final class DecodedCommand {
    final Cdb cdb = new Cdb();
    int lun;
    /** Null if the LUN has no unit. */
    LogicalUnit unit;
    MediumAccess access;
    /** Where the range on the medium starts, in bytes. */
    long offset;
    /** The round of a PUSH or PULL. */
    long round;
    /** Whether the initiator has found the gradient of a PUSH finite. */
    boolean finite;
    /** How much data it moves. */
    int moveBytes;
    /** How much more (positive) or less it moves than the initiator expects. */
    long residual;
    /** How much data the initiator expects to be moved. */
    long expectedBytes;
    /** Whether the initiator has said that it sends data. */
    boolean sendsData;
    /** The status if nothing goes wrong. */
    int goodStatus;
    /** The parameter data that it returns; null for a command on the medium. */
    byte[] parameterData;

    /** Starts over with a command that is not decoded yet. */
    void begin(ScsiCommandPdu command) {
        command.copyCdb(cdb.bytes());
        lun = Pdu.decodeLun(command.lunField());
        unit = null;
        access = MediumAccess.NONE;
        offset = 0;
        round = IoTask.IMPLIED_ROUND;
        finite = false;
        moveBytes = 0;
        residual = 0;
        expectedBytes = command.expectedDataTransferBytes();
        sendsData = command.writes();
        goodStatus = ScsiStatus.GOOD;
        parameterData = null;
    }

    /** Sets what the command moves, and the residual against what the initiator expects. */
    void move(long wantedBytes, long possibleBytes) {
        moveBytes = (int) Math.min(wantedBytes, possibleBytes);
        residual = wantedBytes - expectedBytes;
    }

    /** The command moves nothing of what the initiator expects. */
    void moveNothing() {
        residual = -expectedBytes;
    }
}
