package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Task Management Function Request (RFC 7143 section 11.5). */
public final class TaskManagementRequestPdu extends RequestPdu {
    /** Aborts one task. */
    public static final int ABORT_TASK = 1;

    /** Aborts all tasks of this nexus on a unit. */
    public static final int ABORT_TASK_SET = 2;

    /** CLEAR ACA, which this target does not support. */
    public static final int CLEAR_ACA = 3;

    /** Aborts all tasks of every nexus on a unit. */
    public static final int CLEAR_TASK_SET = 4;

    /** Aborts all tasks of a unit and resets it. */
    public static final int LOGICAL_UNIT_RESET = 5;

    /** Aborts all tasks of all units. */
    public static final int TARGET_WARM_RESET = 6;

    /** The same, and closes all sessions. */
    public static final int TARGET_COLD_RESET = 7;

    /** Takes over a task of a connection that is gone. */
    public static final int TASK_REASSIGN = 8;

    private static final int REFERENCED_TASK_TAG = 20;
    private static final int REF_CMD_SN = 32;

    /** A view of {@code header}. */
    public TaskManagementRequestPdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a request for immediate delivery. */
    public TaskManagementRequestPdu begin(int initiatorTaskTag, int function, long lunField, int referencedTaskTag) {
        clear(Opcode.TASK_MANAGEMENT_REQUEST, FLAG_FINAL | function);
        setImmediate();
        lunField(lunField);
        initiatorTaskTag(initiatorTaskTag);
        header.putInt(REFERENCED_TASK_TAG, referencedTaskTag);
        return this;
    }

    /** The function. */
    public int function() {
        return flags() & 0x7F;
    }

    /** The task that ABORT TASK means. */
    public int referencedTaskTag() {
        return header.getInt(REFERENCED_TASK_TAG);
    }

    /** The command number of that task. */
    public int refCmdSn() {
        return header.getInt(REF_CMD_SN);
    }
}
