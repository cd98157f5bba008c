package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.modeldisk.platform.time.NanoClock;
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
 * Creates the iSER connections of initiators. The connections of one connector share registrations: memory that several sessions
 * use is registered once with each device. Thread-safe.
 */
public final class IserConnector {
    /** The reason code of a rejected connection if no process listens on the port of the target. */
    private static final int INVALID_SERVICE_ID = 8;

    private final RdmaDomains domains = new RdmaDomains();
    private final boolean asksForInvalidation;

    /** Creates a connector that does not let targets invalidate memory keys, so registrations stay valid. */
    public IserConnector() {
        this(false);
    }

    /** @param asksForInvalidation whether to request that each response invalidates the memory key of its command */
    IserConnector(boolean asksForInvalidation) {
        this.asksForInvalidation = asksForInvalidation;
    }

    /**
     * Connects to a target.
     *
     * @param queueDepth the maximum number of commands in flight
     * @throws IOException with the reason, if this machine cannot use RDMA or the connection is not established in time
     */
    public InitiatorDatamover connect(
        InetSocketAddress portal, long timeoutMs, InitiatorDatamover.Numbering numbering, int queueDepth,
        NanoClock clock)
        throws IOException {
        if (portal.isUnresolved()) {
            throw new IOException("the host name '" + portal.getHostString() + "' is unknown; check the address");
        }
        Rdma.ensureAvailability();
        Attempt attempt = new Attempt(portal, timeoutMs, clock);
        try {
            return attempt.run(numbering, queueDepth);
        } catch (IOException | RuntimeException e) {
            attempt.giveUp();
            throw e;
        }
    }

    /** One attempt to connect, with its deadline and the objects that the attempt has created. */
    private final class Attempt {
        private final String portal;
        private final InetSocketAddress address;
        private final long timeoutMs;
        private final long deadlineNs;
        private final NanoClock clock;
        private final RdmaEventChannel channel;
        private RdmaCmId id;
        private QueuePair queue;

        Attempt(InetSocketAddress address, long timeoutMs, NanoClock clock) throws IOException {
            this.address = address;
            this.portal = IserPortal.text(address);
            this.timeoutMs = timeoutMs;
            this.clock = clock;
            this.deadlineNs = clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            this.channel = RdmaEventChannel.createEventChannel();
        }

        InitiatorDatamover run(InitiatorDatamover.Numbering numbering, int queueDepth) throws IOException {
            id = channel.createId(RdmaCm.RDMA_PS_TCP);
            id.resolveAddr(null, address, (int) timeoutMs);
            await(EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
            id.resolveRoute((int) timeoutMs);
            await(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
            queue = IserIncoming.open(domains, id, IserInitiatorDatamover.sendRequests(),
                IserInitiatorDatamover.receives(queueDepth), portal, clock);
            queue.releaseAtEnd(channel::destroyEventChannel);
            IserInitiatorDatamover datamover = new IserInitiatorDatamover(queue, numbering, queueDepth);
            connect();
            await(EventType.RDMA_CM_EVENT_ESTABLISHED);
            queue.idleCheck(this::look);
            return datamover;
        }

        private void connect() throws IOException {
            try (Arena arena = Arena.ofConfined()) {
                byte[] data = IserPrivateData.bytes(asksForInvalidation);
                MemorySegment privateData = arena.allocateFrom(ValueLayout.JAVA_BYTE, data);
                RdmaConnParam parameters = IserIncoming.connectionParameters();
                parameters.setPrivate_data(privateData.address());
                parameters.setPrivate_data_len((byte) data.length);
                id.connect(parameters);
            }
        }

        private void await(EventType expected) throws IOException {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - clock.nanoTime());
            RdmaCmEvent event = leftMs <= 0 ? null : channel.getCmEvent((int) leftMs);
            if (event != null) {
                EventType type = EventType.values()[event.getEvent()];
                if (type == expected) {
                    return;
                }
                throw new IOException(
                    describe(type, ConnectionDetails.lastEvent(channel).status()));
            }
            throw new IOException("the target does not respond over RDMA within " + timeoutMs + " ms" + device()
                + "; check whether `rping -c -a " + address.getAddress().getHostAddress() + "` succeeds");
        }

        private String describe(EventType type, int status) {
            return switch (type) {
                case RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR ->
                    "the target cannot be reached over RDMA: no device ("
                        + String.join(", ", Rdma.devices()) + ") has a route to the target (status " + status
                        + "); see `rdma link` and `ip route get "
                        + address.getAddress().getHostAddress() + "`";
                case RDMA_CM_EVENT_REJECTED -> status == INVALID_SERVICE_ID
                    ? "the target accepts no iSER connections" + device() + "; start the shard with --datamover iser"
                    : "the target refuses the iSER connection (reason " + status + ")" + device()
                        + "; the shard's log says why";
                case RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_CONNECT_ERROR ->
                    "the target does not respond over RDMA (status " + status
                        + ")" + device()
                        + "; check that both devices use the same network and the same version of RoCE";
                default -> "the target cannot be reached over RDMA: the connection manager reported " + type
                    + " with status " + status + device();
            };
        }

        private String device() {
            String name = ConnectionDetails.deviceName(id);
            return name.isEmpty() ? "" : " through device " + name;
        }

        /** Checks for events that close the connection. Called by one waiting thread at a time while no completion arrives. */
        private void look() throws IOException {
            RdmaCmEvent event = channel.getCmEvent(0);
            if (event == null) {
                return;
            }
            switch (EventType.values()[event.getEvent()]) {
                case RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DEVICE_REMOVAL -> queue.peerClosed();
                default -> {
                    // Other events do not close the connection.
                }
            }
        }

        /** Releases the objects that this attempt has created. */
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
