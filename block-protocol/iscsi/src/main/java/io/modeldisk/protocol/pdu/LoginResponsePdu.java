package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Login Response (RFC 7143 section 11.13). */
public final class LoginResponsePdu extends ResponsePdu {
    private static final int FLAG_TRANSIT = 0x80;
    private static final int ISID_AND_TSIH = 8;
    private static final int STATUS = 36;

    /** A view of {@code header}. */
    public LoginResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Begins a response of status success. */
    public LoginResponsePdu begin(int initiatorTaskTag, int currentStage, int nextStage, boolean transit) {
        clear(Opcode.LOGIN_RESPONSE, currentStage << 2 | (transit ? FLAG_TRANSIT | nextStage : 0));
        initiatorTaskTag(initiatorTaskTag);
        return this;
    }

    /** Sets the session's identity. */
    public LoginResponsePdu session(long isid, int tsih) {
        header.putLong(ISID_AND_TSIH, isid << 16 | tsih & 0xFFFF);
        return this;
    }

    /** Sets status class (high byte) and detail (low byte): {@link LoginStatus}. */
    public LoginResponsePdu status(int status) {
        header.putShort(STATUS, (short) status);
        return this;
    }

    /** Status class and detail. */
    public int status() {
        return header.getShort(STATUS) & 0xFFFF;
    }

    /** Whether the target changes to the next stage. */
    public boolean transit() {
        return (flags() & FLAG_TRANSIT) != 0;
    }

    /** Whether more text follows in another response. */
    public boolean continues() {
        return (flags() & LoginRequestPdu.FLAG_CONTINUE) != 0;
    }

    /** The stage that the login is in. */
    public int currentStage() {
        return flags() >> 2 & 3;
    }

    /** The stage to go to. */
    public int nextStage() {
        return flags() & 3;
    }

    /** The target's part of the session's identity. */
    public int tsih() {
        return (int) header.getLong(ISID_AND_TSIH) & 0xFFFF;
    }
}
