package io.modeldisk.protocol.pdu;

/** The opcodes of iSCSI PDUs (RFC 7143 section 11.2.1.2). */
public final class Opcode {
    /** NOP-Out. */
    public static final int NOP_OUT = 0x00;

    /** SCSI Command. */
    public static final int SCSI_COMMAND = 0x01;

    /** SCSI Task Management Function Request. */
    public static final int TASK_MANAGEMENT_REQUEST = 0x02;

    /** Login Request. */
    public static final int LOGIN_REQUEST = 0x03;

    /** Text Request. */
    public static final int TEXT_REQUEST = 0x04;

    /** SCSI Data-Out. */
    public static final int DATA_OUT = 0x05;

    /** Logout Request. */
    public static final int LOGOUT_REQUEST = 0x06;

    /** SNACK Request. */
    public static final int SNACK_REQUEST = 0x10;

    /** NOP-In. */
    public static final int NOP_IN = 0x20;

    /** SCSI Response. */
    public static final int SCSI_RESPONSE = 0x21;

    /** SCSI Task Management Function Response. */
    public static final int TASK_MANAGEMENT_RESPONSE = 0x22;

    /** Login Response. */
    public static final int LOGIN_RESPONSE = 0x23;

    /** Text Response. */
    public static final int TEXT_RESPONSE = 0x24;

    /** SCSI Data-In. */
    public static final int DATA_IN = 0x25;

    /** Logout Response. */
    public static final int LOGOUT_RESPONSE = 0x26;

    /** Ready To Transfer. */
    public static final int R2T = 0x31;

    /** Asynchronous Message. */
    public static final int ASYNC_MESSAGE = 0x32;

    /** Reject. */
    public static final int REJECT = 0x3F;

    private Opcode() {}
}
