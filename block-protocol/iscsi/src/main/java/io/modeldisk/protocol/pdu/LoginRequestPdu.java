package io.modeldisk.protocol.pdu;

import java.nio.ByteBuffer;

/** Login Request (RFC 7143 section 11.12). */
public final class LoginRequestPdu extends RequestPdu {
    private static final int FLAG_TRANSIT = 0x80;
    private static final int VERSION_MIN = 3;
    private static final int ISID_AND_TSIH = 8;
    private static final int CID = 20;

    /** Creates a view of {@code header}. */
    public LoginRequestPdu(ByteBuffer header) {
        super(header);
    }

    /** Fills the header with a Login Request. Every Login Request is for immediate delivery. */
    public LoginRequestPdu begin(int currentStage, int nextStage, boolean transit) {
        int stages = currentStage << 2 | (transit ? FLAG_TRANSIT | nextStage : 0);
        clear(Opcode.LOGIN_REQUEST, stages, 0);
        setImmediate();
        return this;
    }

    /** Sets the ISID and the TSIH, which identify the session. */
    public LoginRequestPdu session(long isid, int tsih) {
        header.putLong(ISID_AND_TSIH, isid << 16 | tsih & 0xFFFF);
        return this;
    }

    /** Returns whether the initiator is ready for the next stage. */
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

    /** The lowest version that the initiator accepts. */
    public int versionMin() {
        return header.get(VERSION_MIN) & 0xFF;
    }

    /** The ISID, the initiator's part of the session's identity, in the low 48 bits. */
    public long isid() {
        return header.getLong(ISID_AND_TSIH) >>> 16;
    }

    /** The TSIH, the target's part of the session's identity; 0 for a new session. */
    public int tsih() {
        return (int) header.getLong(ISID_AND_TSIH) & 0xFFFF;
    }

    /** The number of the connection in the session. */
    public int cid() {
        return header.getShort(CID) & 0xFFFF;
    }
}
