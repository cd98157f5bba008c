package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;

/** The numbering of a connection that sends no request. */
final class Unnumbered implements InitiatorDatamover.Numbering {
    @Override
    public void stamp(RequestPdu pdu) {
        throw new IllegalStateException("this connection must not send a PDU");
    }

    @Override
    public int expStatSn() {
        return 0;
    }
}
