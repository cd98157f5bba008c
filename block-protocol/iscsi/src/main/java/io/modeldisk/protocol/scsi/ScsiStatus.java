package io.modeldisk.protocol.scsi;

/** Status codes (SAM-5 5.3). */
public final class ScsiStatus {
    /** The task completed. */
    public static final int GOOD = 0x00;

    /** The command failed; sense data has the reason. */
    public static final int CHECK_CONDITION = 0x02;

    /** GOOD, and the condition holds: all of a PRE-FETCH is in the cache. */
    public static final int CONDITION_MET = 0x04;

    /** Not now: try again. */
    public static final int BUSY = 0x08;

    /** Another nexus holds a reservation. */
    public static final int RESERVATION_CONFLICT = 0x18;

    /** No room for another task. */
    public static final int TASK_SET_FULL = 0x28;

    /** Another nexus has aborted the task, which had no effect. */
    public static final int TASK_ABORTED = 0x40;

    private ScsiStatus() {}

    /** The standard's name of a status, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case GOOD -> "GOOD";
            case CHECK_CONDITION -> "CHECK CONDITION";
            case CONDITION_MET -> "CONDITION MET";
            case BUSY -> "BUSY";
            case RESERVATION_CONFLICT -> "RESERVATION CONFLICT";
            case TASK_SET_FULL -> "TASK SET FULL";
            case TASK_ABORTED -> "TASK ABORTED";
            default -> "status %02Xh".formatted(status);
        };
    }
}
