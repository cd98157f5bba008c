package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** SCSI Task Management Function Response (RFC 7143 section 11.6). */
public final class TaskManagementResponsePdu extends ResponsePdu {
    /** Done. */
    public static final int FUNCTION_COMPLETE = 0;

    /** The task does not exist. */
    public static final int TASK_DOES_NOT_EXIST = 1;

    /** The unit does not exist. */
    public static final int LUN_DOES_NOT_EXIST = 2;

    /** This target cannot take over tasks. */
    public static final int REASSIGN_NOT_SUPPORTED = 4;

    /** The function is not known. */
    public static final int FUNCTION_NOT_SUPPORTED = 5;

    private static final int RESPONSE = 2;

    /** A view of {@code header}. */
    public TaskManagementResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a response. */
    public TaskManagementResponsePdu begin(int initiatorTaskTag, int response) {
        clear(Opcode.TASK_MANAGEMENT_RESPONSE, FLAG_FINAL);
        initiatorTaskTag(initiatorTaskTag);
        header.put(RESPONSE, (byte) response);
        return this;
    }

    /** How it went. */
    public int response() {
        return header.get(RESPONSE) & 0xFF;
    }
}
