package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Task Management Function Response (RFC 7143 section 11.6). */
public final class TaskManagementResponsePdu extends ResponsePdu {
    /** The function has completed. */
    public static final int FUNCTION_COMPLETE = 0;

    /** The task does not exist. */
    public static final int TASK_DOES_NOT_EXIST = 1;

    /** The unit does not exist. */
    public static final int LUN_DOES_NOT_EXIST = 2;

    /** The target does not support TASK REASSIGN. */
    public static final int REASSIGN_NOT_SUPPORTED = 4;

    /** The target does not support the function. */
    public static final int FUNCTION_NOT_SUPPORTED = 5;

    /** The initiator is not authorized to request the function. */
    public static final int FUNCTION_AUTHORIZATION_FAILED = 6;

    private static final int RESPONSE = 2;

    /** Creates a view of {@code header}. */
    public TaskManagementResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Task Management Function Response. */
    public TaskManagementResponsePdu begin(int initiatorTaskTag, int response) {
        clear(Opcode.TASK_MANAGEMENT_RESPONSE, FLAG_FINAL, initiatorTaskTag);
        header.put(RESPONSE, (byte) response);
        return this;
    }
}
