package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.rdma.ConnectionDetails;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.Rdma;
import io.modeldisk.protocol.rdma.RdmaDomain;
import io.modeldisk.protocol.rdma.RdmaDomains;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Listens for iSER connections on the addresses of this machine's RDMA devices. One thread receives the events of the connection
 * manager: {@link #accept} hands out new connections, and queue pairs are told of their end. Thread-safe.
 */
public final class IserPortal implements TargetPortal {
    /** The datamover's name. */
    public static final String NAME = "iser";

    /** Listens at the target's address: TCP and iSER use the same port number. */
    public record Opener() implements TargetPortal.Opener {
        @Override
        public TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
            return listen(address);
        }

        @Override
        public String toString() {
            return NAME;
        }
    }

    private static final Logger LOG = LogManager.getLogger(IserPortal.class);
    private static final int BACKLOG = 64;
    /** The longest time until {@link #close} is noticed: no call wakes a wait for an event. */
    private static final int EVENT_POLL_MS = 100;

    private final RdmaDomains domains = new RdmaDomains();
    private final RdmaEventChannel channel;
    private final List<RdmaCmId> listeners = new ArrayList<>();
    private final Map<RdmaCmId, QueuePair> connections = new ConcurrentHashMap<>();
    /** The devices of the listeners: they keep prepared memory registered until the portal has ended. */
    private final List<RdmaDomain> prepared = new ArrayList<>();
    /** New connections; an empty element wakes {@link #accept} at the end. */
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
     * Listens; on the address of every RDMA device if the address is the wildcard.
     *
     * @throws IOException if there is no RDMA, or no device has the address, or it is in use, with the reason
     */
    public static IserPortal listen(InetSocketAddress address) throws IOException {
        if (address.isUnresolved()) {
            throw new IOException("cannot listen on " + address.getHostString() + ": unknown host");
        }
        Rdma.ensureAvailability();
        List<InetAddress> available = Rdma.addresses();
        List<InetAddress> wanted = address.getAddress().isAnyLocalAddress() ? available : List.of(address.getAddress());
        if (wanted.isEmpty()) {
            throw new IOException("no RDMA device has an IPv4 address (devices: " + String.join(", ", Rdma.devices())
                + "); `ip addr` shows and sets them");
        }
        IserPortal portal = new IserPortal(RdmaEventChannel.createEventChannel(), address);
        try {
            for (InetAddress one : wanted) {
                // With port 0, all addresses get the port that the system chose for the first.
                portal.listen(new InetSocketAddress(one, portal.port), available);
            }
        } catch (IOException e) {
            portal.stopListening();
            portal.channel.destroyEventChannel();
            throw e;
        }
        Thread.ofPlatform().daemon().name("iser-events " + portal).start(portal::run);
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
                + "; the addresses of RDMA devices (" + String.join(", ", Rdma.devices()) + ") are " + available, e);
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
        if (prepared.isEmpty()) {
            for (RdmaCmId listener : listeners) {
                prepared.add(domains.enter(listener));
            }
        }
        for (RdmaDomain domain : prepared) {
            domain.register(memory, IserTargetDatamover.DATA_RIGHTS);
        }
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

    /** From now on the queue pair of a connection is told of its end. */
    void opened(RdmaCmId id, QueuePair queue) {
        connections.put(id, queue);
        queue.releaseAtEnd(() -> connections.remove(id));
    }

    private void run() {
        boolean listening = true;
        try {
            // The identifiers of connections use the channel, which must stay until the last of them is gone.
            while (!closed || !connections.isEmpty()) {
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
            LOG.error("the thread for iSER events of {} ended: {}", this, e.toString());
        } finally {
            close();
        }
    }

    /** A failure of one connection does not concern the others. */
    private void handleAlone(EventType type, RdmaCmEvent event) {
        try {
            handle(type, event);
        } catch (IOException | RuntimeException e) {
            LOG.warn("{} cannot be handled: {}", type, e.toString());
        }
    }

    private void handle(EventType type, RdmaCmEvent event) throws IOException {
        RdmaCmId id = event.getConnIdPriv();
        switch (type) {
            case RDMA_CM_EVENT_CONNECT_REQUEST -> {
                IserIncoming incoming = new IserIncoming(this, id,
                    ConnectionDetails.shared().lastEvent(channel).privateData());
                if (closed || !incomings.offer(Optional.of(incoming))) {
                    LOG.warn("iSER connection from {} refused: {} others are waiting", incoming.peerAddress(), BACKLOG);
                    incoming.close();
                }
            }
            case RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE,
                RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_DEVICE_REMOVAL -> {
                QueuePair queue = id == null ? null : connections.get(id);
                LOG.debug("{}: {}", queue == null ? "a connection that is gone" : queue.peer(), type);
                if (queue != null) {
                    queue.peerClosed();
                }
            }
            default -> LOG.debug("iSER acceptor: {}", type);
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

    /** Stops listening; the portal's resources are released when the last of its connections has ended. */
    @Override
    public void close() {
        closed = true;
        // If the queue is full, its first element wakes the accepting thread.
        incomings.offer(Optional.empty());
    }
}
