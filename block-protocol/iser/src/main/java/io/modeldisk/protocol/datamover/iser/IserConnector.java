package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.rdma.ConnectionDetails;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.Rdma;
import io.modeldisk.protocol.rdma.RdmaDomains;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * Makes iSER connections from the initiator's side. Those of one connector share what is registered with a device: memory that
 * several sessions use is registered once. Thread-safe.
 */
public final class IserConnector {
    private static final int STEP_MILLIS = 100;

    /** The reason of a rejection with which the connection manager says that nobody listens. */
    private static final int INVALID_SERVICE_ID = 8;

    private final RdmaDomains domains = new RdmaDomains();
    private final boolean keysMayGo;

    /** What is registered stays registered, so that a target is asked to invalidate nothing. */
    public IserConnector() {
        this(false);
    }

    /**
     * @param keysMayGo whether targets are asked to invalidate the keys of a command with its response
     */
    IserConnector(boolean keysMayGo) {
        this.keysMayGo = keysMayGo;
    }

    /**
     * Connects.
     *
     * @param queueDepth how many commands are in flight at most
     * @throws IOException if there is no RDMA here, or no connection within the time, in words
     */
    public InitiatorDatamover connect(
        InetSocketAddress portal, long timeoutMillis, InitiatorDatamover.Numbering numbering, int queueDepth)
        throws IOException {
        if (portal.isUnresolved()) {
            throw new IOException("is on a host that is not known");
        }
        Rdma.ensureAvailability();
        Attempt attempt = new Attempt(portal, timeoutMillis);
        try {
            return attempt.run(numbering, queueDepth);
        } catch (IOException | RuntimeException e) {
            attempt.giveUp();
            throw e;
        }
    }

    /** One attempt: what it has made so far, and until when it may go on. */
    private final class Attempt {
        private final String portal;
        private final InetSocketAddress address;
        private final long timeoutMillis;
        private final long deadline;
        private final RdmaEventChannel channel;
        private RdmaCmId id;
        private QueuePair queue;

        Attempt(InetSocketAddress address, long timeoutMillis) throws IOException {
            this.address = address;
            this.portal = IserPortal.text(address);
            this.timeoutMillis = timeoutMillis;
            this.deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
            this.channel = RdmaEventChannel.createEventChannel();
        }

        InitiatorDatamover run(InitiatorDatamover.Numbering numbering, int queueDepth) throws IOException {
            id = channel.createId(RdmaCm.RDMA_PS_TCP);
            id.resolveAddr(null, address, (int) timeoutMillis);
            await(EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
            id.resolveRoute((int) timeoutMillis);
            await(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
            queue = IserIncoming.open(domains, id, IserInitiatorDatamover.sendRequests(),
                IserInitiatorDatamover.receives(queueDepth), portal);
            queue.releaseAtEnd(channel::destroyEventChannel);
            IserInitiatorDatamover datamover = new IserInitiatorDatamover(queue, numbering, queueDepth);
            connect();
            await(EventType.RDMA_CM_EVENT_ESTABLISHED);
            queue.idleCheck(this::look);
            return datamover;
        }

        private void connect() throws IOException {
            try (Arena arena = Arena.ofConfined()) {
                byte[] data = IserPrivateData.bytes(keysMayGo);
                MemorySegment privateData = arena.allocateFrom(ValueLayout.JAVA_BYTE, data);
                RdmaConnParam parameters = IserIncoming.connectionParameters();
                parameters.setPrivate_data(privateData.address());
                parameters.setPrivate_data_len((byte) data.length);
                id.connect(parameters);
            }
        }

        private void await(EventType expected) throws IOException {
            while (System.nanoTime() - deadline < 0) {
                RdmaCmEvent event = channel.getCmEvent(STEP_MILLIS);
                if (event != null) {
                    EventType type = EventType.values()[event.getEvent()];
                    if (type == expected) {
                        return;
                    }
                    throw new IOException(
                        portal + describe(type, ConnectionDetails.shared().lastEvent(channel).status()));
                }
            }
            throw new IOException("does not answer over RDMA within " + timeoutMillis + " ms" + device()
                + "; does `rping -c -a " + address.getAddress().getHostAddress() + "` reach it?");
        }

        private String describe(EventType type, int status) {
            return switch (type) {
                case RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR -> "cannot be reached over RDMA: no device ("
                    + String.join(", ", Rdma.devices()) + ") leads there (status " + status
                    + "); see `rdma link` and `ip route get "
                    + address.getAddress().getHostAddress() + "`";
                case RDMA_CM_EVENT_REJECTED -> status == INVALID_SERVICE_ID
                    ? "takes no iSER connections" + device() + "; does the shard there serve with --datamover iser?"
                    : "refuses the iSER connection (reason " + status + ")" + device() + "; the shard's log says why";
                case RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_CONNECT_ERROR ->
                    "does not answer over RDMA (status " + status
                        + ")" + device() + "; are both devices in the same network, with the same kind of RoCE?";
                default -> "cannot be connected to over RDMA: " + type + ", status " + status + device();
            };
        }

        private String device() {
            String name = ConnectionDetails.shared().deviceName(id);
            return name.isEmpty() ? "" : " through device " + name;
        }

        /** What became of the connection, while nothing else comes; one thread at a time. */
        private void look() throws IOException {
            RdmaCmEvent event = channel.getCmEvent(0);
            if (event == null) {
                return;
            }
            switch (EventType.values()[event.getEvent()]) {
                case RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL -> queue.peerClosed();
                default -> {
                    // Nothing that ends the connection.
                }
            }
        }

        /** Gives back what there is so far. */
        private void giveUp() throws IOException {
            if (queue != null) {
                queue.close();
                return;
            }
            if (id != null) {
                id.destroyId();
            }
            channel.destroyEventChannel();
        }
    }
}
