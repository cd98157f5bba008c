package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Login Response (RFC 7143 section 11.13). */
public final class LoginResponsePdu extends ResponsePdu {
    private static final int FLAG_TRANSIT = 0x80;
    private static final int ISID_AND_TSIH = 8;
    private static final int STATUS = 36;

    /** Creates a view of {@code header}. */
    public LoginResponsePdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Login Response of status success. */
    public LoginResponsePdu begin(int initiatorTaskTag, int currentStage, int nextStage, boolean transit) {
        clear(Opcode.LOGIN_RESPONSE, currentStage << 2 | (transit ? FLAG_TRANSIT | nextStage : 0), initiatorTaskTag);
        return this;
    }

    /** Sets the ISID and the TSIH, which identify the session. */
    public LoginResponsePdu session(long isid, int tsih) {
        header.putLong(ISID_AND_TSIH, isid << 16 | tsih & 0xFFFF);
        return this;
    }

    /** Sets the {@link LoginStatus}: status class (high byte) and status detail (low byte). */
    public LoginResponsePdu status(int status) {
        header.putShort(STATUS, (short) status);
        return this;
    }

    /** The {@link LoginStatus}: status class (high byte) and status detail (low byte). */
    public int status() {
        return header.getShort(STATUS) & 0xFFFF;
    }

    /** Returns whether the target changes to the next stage. */
    public boolean transit() {
        return (flags() & FLAG_TRANSIT) != 0;
    }

    /** The current stage of the login. */
    public int currentStage() {
        return flags() >> 2 & 3;
    }

    /** The stage that follows if the transit bit is set. */
    public int nextStage() {
        return flags() & 3;
    }
}
