package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.pdu.RequestPdu;

/** The numbers of a connection that carries no request. */
final class Unnumbered implements InitiatorDatamover.Numbering {
    @Override
    public void stamp(RequestPdu pdu) {
        throw new IllegalStateException("nothing is sent");
    }

    @Override
    public int expStatSn() {
        return 0;
    }
}
