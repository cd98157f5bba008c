package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.rdma.ConnectionDetails;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.Rdma;
import io.modeldisk.protocol.rdma.RdmaDomain;
import io.modeldisk.protocol.rdma.RdmaDomains;
import io.modeldisk.protocol.rdma.RegisteredMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.stream.Collectors;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Listens for iSER connections on the addresses of this machine's RDMA devices. One thread receives the events of the connection
 * manager, passes new connections to {@link #accept}, and closes the queue pair when a peer closes a connection. Thread-safe.
 */
public final class IserPortal implements TargetPortal {
    /** The name of the datamover. */
    public static final String NAME = "iser";

    /** Opens a portal at the address of the target. TCP and iSER use the same port number. */
    public record Opener() implements TargetPortal.Opener {
        @Override
        public TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
            return listen(address);
        }

        @Override
        public boolean mayReachDevices() {
            return true;
        }

        @Override
        public String toString() {
            return NAME;
        }
    }

    private static final Logger LOG = LogManager.getLogger(IserPortal.class);
    private static final int BACKLOG = 64;
    /** The maximum time until the event thread notices {@link #close}. No call can wake a thread that waits for an event. */
    private static final int EVENT_POLL_MS = 100;

    private final RdmaDomains domains = new RdmaDomains();
    private final RdmaEventChannel channel;
    private final List<RdmaCmId> listeners = new ArrayList<>();
    private final ChannelUses<RdmaCmId, QueuePair> uses = new ChannelUses<>();
    /** The protection domains of the listeners. Prepared memory stays registered in these domains until the portal is closed. */
    private final List<RdmaDomain> prepared = new ArrayList<>();
    /** New connections. An empty element wakes {@link #accept} when the portal is closed. */
    private final ArrayBlockingQueue<Optional<IserIncoming>> incomings = new ArrayBlockingQueue<>(BACKLOG);
    private final InetAddress host;
    private int port;
    private volatile boolean closed;

    private IserPortal(RdmaEventChannel channel, InetSocketAddress address) {
        this.channel = channel;
        this.host = address.getAddress();
        this.port = address.getPort();
    }

    /**
     * Opens a portal at an address. The wildcard address stands for the addresses of all RDMA devices.
     *
     * @throws IOException with the reason, if this machine cannot use RDMA, no device has the address, or the address is in use
     */
    public static IserPortal listen(InetSocketAddress address) throws IOException {
        if (address.isUnresolved()) {
            throw new IOException("cannot listen on " + address.getHostString()
                + ": the host name is unknown; choose another address with --listen");
        }
        Rdma.ensureAvailability();
        List<InetAddress> available = Rdma.addresses();
        List<InetAddress> wanted = address.getAddress().isAnyLocalAddress() ? available : List.of(address.getAddress());
        if (wanted.isEmpty()) {
            throw new IOException("no RDMA device has an IPv4 address (devices: " + String.join(", ", Rdma.devices())
                + "); set an address with `ip addr add`");
        }
        IserPortal portal = new IserPortal(RdmaEventChannel.createEventChannel(), address);
        try {
            for (InetAddress one : wanted) {
                // If the port is 0, all addresses get the port that the system chose for the first address.
                portal.listen(new InetSocketAddress(one, portal.port), available);
            }
        } catch (IOException e) {
            portal.stopListening();
            portal.channel.destroyEventChannel();
            throw e;
        }
        ThreadName.RDMA_EVENTS.builder(portal).start(portal::run);
        return portal;
    }

    private void listen(InetSocketAddress address, List<InetAddress> available) throws IOException {
        RdmaCmId id = channel.createId(RdmaCm.RDMA_PS_TCP);
        listeners.add(id);
        try {
            id.bindAddr(address);
            id.getVerbs();
            id.listen(BACKLOG);
            port = ((InetSocketAddress) id.getSource()).getPort();
        } catch (IOException e) {
            throw new IOException("cannot listen for iSER on " + text(address) + ": " + e.getMessage()
                + "; the RDMA devices (" + String.join(", ", Rdma.devices()) + ") have the addresses " + available, e);
        }
    }

    static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + ":" + address.getPort();
    }

    @Override
    public InetSocketAddress localAddress() {
        return new InetSocketAddress(host, port);
    }

    @Override
    public String datamover() {
        return NAME;
    }

    @Override
    public synchronized void prepare(DataMemory memory) throws IOException {
        for (RdmaDomain domain : prepareDomains()) {
            domain.register(memory, IserTargetDatamover.DATA_RIGHTS);
        }
    }

    private List<RdmaDomain> prepareDomains() throws IOException {
        if (prepared.isEmpty()) {
            for (RdmaCmId listener : listeners) {
                prepared.add(domains.enter(listener));
            }
        }
        return prepared;
    }

    @Override
    public synchronized String prepareOnDevice(DataMemory memory) throws IOException {
        Map<RdmaDomain, RegisteredMemory> done = new LinkedHashMap<>();
        try {
            for (RdmaDomain domain : prepareDomains()) {
                done.put(domain, domain.register(memory, IserTargetDatamover.DATA_RIGHTS));
            }
        } catch (IOException e) {
            for (Map.Entry<RdmaDomain, RegisteredMemory> each : done.entrySet()) {
                each.getKey().release(each.getValue());
            }
            throw e;
        }
        return done.values().stream().map(RegisteredMemory::way).distinct().collect(Collectors.joining(", "));
    }

    private synchronized void leaveDomains() throws IOException {
        for (RdmaDomain domain : prepared) {
            domains.leave(domain);
        }
        prepared.clear();
    }

    @Override
    public IncomingConnection accept() throws IOException {
        try {
            Optional<IserIncoming> incoming = closed ? Optional.empty() : incomings.take();
            if (incoming.isPresent() && !closed) {
                return incoming.get();
            }
            incoming.ifPresent(IserIncoming::close);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new ClosedChannelException();
    }

    RdmaDomains domains() {
        return domains;
    }

    /** Registers the queue pair of a connection. If the peer closes the connection, the portal closes the queue pair. */
    void opened(RdmaCmId id, QueuePair queue) {
        uses.opened(id, queue);
        queue.releaseAtEnd(() -> uses.ended(id));
    }

    /** Records that the identifier of a connection request was destroyed. */
    void refused() {
        uses.refused();
    }

    private void run() {
        boolean listening = true;
        try {
            // The event channel must stay open after close() while connections use it. Some of them might not have logged in yet.
            while (!closed || !uses.isEmpty()) {
                if (closed && listening) {
                    listening = false;
                    stopListening();
                }
                RdmaCmEvent event = channel.getCmEvent(EVENT_POLL_MS);
                if (event != null) {
                    handleAlone(EventType.values()[event.getEvent()], event);
                }
            }
            if (listening) {
                stopListening();
            }
            leaveDomains();
            channel.destroyEventChannel();
        } catch (IOException | RuntimeException e) {
            LOG.error("the thread for the iSER events of the portal {} has stopped: {}", this, e.toString());
        } finally {
            close();
        }
    }

    /** Handles an event. A failure for one connection does not affect the other connections. */
    private void handleAlone(EventType type, RdmaCmEvent event) {
        try {
            handle(type, event);
        } catch (IOException | RuntimeException e) {
            LOG.warn("the RDMA event {} cannot be handled: {}", type, e.toString());
        }
    }

    private void handle(EventType type, RdmaCmEvent event) throws IOException {
        RdmaCmId id = event.getConnIdPriv();
        switch (type) {
            case RDMA_CM_EVENT_CONNECT_REQUEST -> {
                IserIncoming incoming = new IserIncoming(this, id,
                    ConnectionDetails.lastEvent(channel).privateData());
                uses.requested();
                if (closed) {
                    LOG.debug("the iSER connection from {} is refused because the portal is closed",
                        incoming.peerAddress());
                    incoming.close();
                } else if (!incomings.offer(Optional.of(incoming))) {
                    LOG.warn("the iSER connection from {} is refused because {} other connections wait to be accepted",
                        incoming.peerAddress(), BACKLOG);
                    incoming.close();
                }
            }
            case RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE,
                RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_DEVICE_REMOVAL -> {
                QueuePair queue = uses.connection(id);
                LOG.debug("{}: the portal received the RDMA event {}",
                    queue == null ? "an unknown connection" : queue.peer(), type);
                if (queue != null) {
                    queue.peerClosed();
                }
            }
            default -> LOG.debug("the RDMA event {} is ignored", type);
        }
    }

    private void stopListening() throws IOException {
        for (RdmaCmId listener : listeners) {
            listener.destroyId();
        }
        for (Optional<IserIncoming> next = incomings.poll(); next != null; next = incomings.poll()) {
            next.ifPresent(IserIncoming::close);
        }
        incomings.offer(Optional.empty());
    }

    @Override
    public String toString() {
        return text(localAddress());
    }

    /** Stops listening. The portal releases its resources after its last connection was released. */
    @Override
    public void close() {
        closed = true;
        // If the queue is full, its first element wakes the accepting thread.
        incomings.offer(Optional.empty());
    }
}
