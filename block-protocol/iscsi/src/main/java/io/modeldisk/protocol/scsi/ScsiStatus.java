package io.modeldisk.protocol.scsi;

import io.modeldisk.platform.text.PlainText;

/** SCSI status codes (SAM-5 5.3). */
public final class ScsiStatus {
    /** The command completed without an error. */
    public static final int GOOD = 0x00;

    /** The command failed; the sense data contains the reason. */
    public static final int CHECK_CONDITION = 0x02;

    /** The command completed and its condition is met: all blocks of a PRE-FETCH are in the cache. */
    public static final int CONDITION_MET = 0x04;

    /** The unit cannot accept the command now; the initiator can send the command again later. */
    public static final int BUSY = 0x08;

    /** Another nexus holds a reservation. */
    public static final int RESERVATION_CONFLICT = 0x18;

    /** The unit has reached its limit of tasks. */
    public static final int TASK_SET_FULL = 0x28;

    /** Another nexus has aborted the task. The task had no effect, except that a WRITE SAME might have written some blocks. */
    public static final int TASK_ABORTED = 0x40;

    private ScsiStatus() {}

    /** Returns the name that SAM-5 gives a status, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case GOOD -> "GOOD";
            case CHECK_CONDITION -> "CHECK CONDITION";
            case CONDITION_MET -> "CONDITION MET";
            case BUSY -> "BUSY";
            case RESERVATION_CONFLICT -> "RESERVATION CONFLICT";
            case TASK_SET_FULL -> "TASK SET FULL";
            case TASK_ABORTED -> "TASK ABORTED";
            default -> PlainText.format("status %02Xh", status);
        };
    }
}
