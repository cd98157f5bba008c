package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.ScsiStatus;

/** The reason why a task must end early. If a task has several reasons, the reason declared last in this enum applies. */
enum EndReason {
    /** The task does not end early. */
    NONE(ScsiStatus.GOOD),
    /** The command, its data or its logical unit failed. The status is CHECK CONDITION with the sense of the task. */
    FAILED(ScsiStatus.CHECK_CONDITION),
    /** The target port group is no longer active. The status is CHECK CONDITION with the sense of the group's state. */
    ACCESS_STATE_CHANGED(ScsiStatus.CHECK_CONDITION),
    /** The task waited too long for its logical unit. The status is BUSY. */
    EXPIRED(ScsiStatus.BUSY),
    /** Another session aborted the task. The status is TASK ABORTED, because the TAS bit of the Control mode page is set. */
    ABORTED_BY_OTHER(ScsiStatus.TASK_ABORTED),
    /** The session that sent the command has aborted the task. No status is sent. */
    ABORTED(ScsiStatus.TASK_ABORTED);

    private static final EndReason[] ALL = values();

    private final int status;

    EndReason(int status) {
        this.status = status;
    }

    static EndReason of(int ordinal) {
        return ALL[ordinal];
    }

    /** Returns the SCSI status for this reason. The target sends no status for {@link #ABORTED}. */
    int status() {
        return status;
    }

    /** Returns whether this reason's status means that the command had no effect, so initiators send the command again. */
    boolean meansNoEffect() {
        return switch (this) {
            case ACCESS_STATE_CHANGED, EXPIRED, ABORTED_BY_OTHER -> true;
            case NONE, FAILED, ABORTED -> false;
        };
    }

    /** Returns whichever of two reasons is declared later in this enum. */
    static EndReason later(EndReason one, EndReason other) {
        return one.compareTo(other) < 0 ? other : one;
    }
}
