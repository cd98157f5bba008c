package io.modeldisk.protocol.engine;

import io.modeldisk.protocol.scsi.ScsiStatus;

/** Why a task has to end early. A later value replaces an earlier one. */
enum EndReason {
    /** It does not. */
    NONE(ScsiStatus.GOOD),
    /** The command, its data or its logical unit has failed: CHECK CONDITION with the task's sense. */
    FAILED(ScsiStatus.CHECK_CONDITION),
    /** It has waited too long for its logical unit. */
    EXPIRED(ScsiStatus.BUSY),
    /** Another session has aborted it. The TAS bit of the Control mode page is set: it ends with TASK ABORTED. */
    ABORTED_BY_OTHER(ScsiStatus.TASK_ABORTED),
    /** Its own session has aborted it, or is over: no status is sent. */
    ABORTED(ScsiStatus.TASK_ABORTED);

    private final int status;

    EndReason(int status) {
        this.status = status;
    }

    /** The SCSI status that it ends with; not sent for {@link #ABORTED}. */
    int status() {
        return status;
    }

    /** The later of two. */
    static EndReason later(EndReason one, EndReason other) {
        return one.compareTo(other) < 0 ? other : one;
    }
}
