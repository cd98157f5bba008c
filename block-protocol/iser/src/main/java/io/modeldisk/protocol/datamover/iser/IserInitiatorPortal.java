package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.pdu.RequestPdu;
import io.modeldisk.protocol.rdma.Rdma;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * Connects to a target over iSER.
 *
 * @param connector the connector that the connections of one process share
 * @param address the address at which the target listens
 */
public record IserInitiatorPortal(IserConnector connector, InetSocketAddress address) implements InitiatorPortal {
    private static final long PROBE_MS = 2000;

    @Override
    public String datamover() {
        return IserPortal.NAME;
    }

    @Override
    public boolean needsPreparedMemory() {
        return true;
    }

    @Override
    public String obstacle() {
        if (!Rdma.isAvailable()) {
            return Rdma.unavailabilityCause();
        }
        try (InitiatorDatamover _ = connector.connect(address, PROBE_MS, new Unnumbered(), 1, NanoClock.SYSTEM)) {
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    /** The numbering of a connection that sends no PDU. */
    private static final class Unnumbered implements InitiatorDatamover.Numbering {
        @Override
        public void stamp(RequestPdu pdu) {
            throw new IllegalStateException("the connection cannot send a PDU, because it only checks the target");
        }

        @Override
        public int expStatSn() {
            return 0;
        }
    }

    @Override
    public InitiatorDatamover connect(
        InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock) throws IOException {
        return connector.connect(address, timeoutMs, numbering, queueDepth, clock);
    }
}
