package io.modeldisk.protocol.datamover;

import io.modeldisk.protocol.pdu.RequestPdu;

/** The numbering of a connection that sends no request. */
public final class Unnumbered implements InitiatorDatamover.Numbering {
    @Override
    public void stamp(RequestPdu pdu) {
        throw new IllegalStateException("the initiator sent a PDU, but the test expects none");
    }

    @Override
    public int expStatSn() {
        return 0;
    }
}
