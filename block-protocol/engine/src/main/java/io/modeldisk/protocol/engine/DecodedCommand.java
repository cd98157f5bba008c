package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.MediumAccess;
import io.modeldisk.protocol.scsi.ScsiStatus;

/** The CDB of a task, and the values that {@link ScsiCommands} has decoded from the CDB. Used only by the owner of the task. */
final class DecodedCommand {
    final Cdb cdb = new Cdb();
    int lun;
    /** The logical unit, or null if no logical unit has the LUN. */
    LogicalUnit unit;
    MediumAccess access;
    /** The start of the range on the medium, in bytes. */
    long offset;
    /** The round of a PUSH, PULL or ABSENT. */
    long round;
    /** True if the initiator has declared that the gradient of a PUSH is finite. */
    boolean finite;
    /** True if the initiator has left out the gradient of an ABSENT because of a NaN or an infinity. */
    boolean nonFinite;
    /** The number of logical blocks that an ABSENT has marked as pushed. */
    int marked;
    /** The number of logical blocks that lie in the range of an ABSENT and have no gradient in the round of the ABSENT. */
    int absent;
    /** The number of bytes that the command moves. For an ABSENT, which moves no data, the length of its range in bytes. */
    int moveBytes;
    /** The number of bytes that the command needs, minus the number that the initiator expects. Negative for an underflow. */
    long residual;
    /** The number of bytes that the initiator expects the command to move. */
    long expectedBytes;
    /** True if the initiator sends data for this command. */
    boolean sendsData;
    /** The status of the command if it succeeds. */
    int goodStatus;
    /** The number of bytes that a WRITE SAME has filled so far. */
    long filledBytes;
    /** The parameter data that the command returns, or null for a command on the medium. */
    byte[] parameterData;

    /** Resets all fields for a new command that is not decoded yet. */
    void begin(ScsiCommandPdu command) {
        command.copyCdb(cdb.bytes());
        lun = Pdu.decodeLun(command.lunField());
        unit = null;
        access = MediumAccess.NONE;
        offset = 0;
        round = IoTask.IMPLIED_ROUND;
        finite = false;
        nonFinite = false;
        marked = 0;
        absent = 0;
        moveBytes = 0;
        residual = 0;
        expectedBytes = command.expectedDataTransferBytes();
        sendsData = command.writes();
        goodStatus = ScsiStatus.GOOD;
        filledBytes = 0;
        parameterData = null;
    }

    /** Sets the residual and the number of bytes to move, which is the smaller of the two parameters. */
    void move(long wantedBytes, long possibleBytes) {
        moveBytes = (int) Math.min(wantedBytes, possibleBytes);
        residual = wantedBytes - expectedBytes;
    }

    /** Sets the residual of a command that moves no data. */
    void moveNothing() {
        residual = -expectedBytes;
    }
}
