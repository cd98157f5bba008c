package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.ScsiStatus;

/** Why a task has to end early. A later value replaces an earlier one. */
enum EndReason {
    /** The task is not to end early. */
    NONE(ScsiStatus.GOOD),
    /** The command, its data or its logical unit has failed: CHECK CONDITION with the task's sense. */
    FAILED(ScsiStatus.CHECK_CONDITION),
    /** The task has waited too long for its logical unit: BUSY. */
    EXPIRED(ScsiStatus.BUSY),
    /** Another session has aborted the task: TASK ABORTED, as the TAS bit of the Control mode page says. */
    ABORTED_BY_OTHER(ScsiStatus.TASK_ABORTED),
    /** The task's own session has aborted it, or has ended: no status is sent. */
    ABORTED(ScsiStatus.TASK_ABORTED);

    private final int status;

    EndReason(int status) {
        this.status = status;
    }

    /** The SCSI status of the task; not sent for {@link #ABORTED}. */
    int status() {
        return status;
    }

    /** The later of two. */
    static EndReason later(EndReason one, EndReason other) {
        return one.compareTo(other) < 0 ? other : one;
    }
}
