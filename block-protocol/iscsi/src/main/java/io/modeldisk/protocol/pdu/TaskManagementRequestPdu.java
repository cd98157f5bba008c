package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Task Management Function Request (RFC 7143 section 11.5). */
public final class TaskManagementRequestPdu extends RequestPdu {
    /** ABORT TASK, which aborts one task. */
    public static final int ABORT_TASK = 1;

    /** ABORT TASK SET, which aborts all tasks of this nexus on a unit. */
    public static final int ABORT_TASK_SET = 2;

    /** CLEAR TASK SET, which aborts the tasks of all nexuses on a unit. */
    public static final int CLEAR_TASK_SET = 4;

    /** LOGICAL UNIT RESET, which aborts all tasks of a unit and resets the unit. */
    public static final int LOGICAL_UNIT_RESET = 5;

    /** TARGET WARM RESET, which aborts all tasks of all units. */
    public static final int TARGET_WARM_RESET = 6;

    /** TASK REASSIGN, which continues a task of a lost connection on another connection. */
    public static final int TASK_REASSIGN = 8;

    private static final int REFERENCED_TASK_TAG = 20;
    private static final int REF_CMD_SN = 32;

    /** Creates a view of {@code header}. */
    public TaskManagementRequestPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a request for immediate delivery. */
    public TaskManagementRequestPdu begin(int initiatorTaskTag, int function, long lunField, int referencedTaskTag) {
        clear(Opcode.TASK_MANAGEMENT_REQUEST, FLAG_FINAL | function, initiatorTaskTag);
        setImmediate();
        lunField(lunField);
        header.putInt(REFERENCED_TASK_TAG, referencedTaskTag);
        return this;
    }

    /** The code of the function. */
    public int function() {
        return flags() & 0x7F;
    }

    /** The tag of the task that ABORT TASK refers to. */
    public int referencedTaskTag() {
        return header.getInt(REFERENCED_TASK_TAG);
    }

    /** The command number of the task that ABORT TASK refers to. */
    public int refCmdSn() {
        return header.getInt(REF_CMD_SN);
    }
}
