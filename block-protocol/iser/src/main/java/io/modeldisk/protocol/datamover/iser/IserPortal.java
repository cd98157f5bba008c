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
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Listens for iSER connections on the addresses of this machine's RDMA devices. One thread hears of connections that are asked
 * for and of those that end; {@link #accept} hands the former out. Thread-safe.
 */
public final class IserPortal implements TargetPortal {
    /** The datamover's name. */
    public static final String NAME = "iser";

    /** Listens on a target's own address: TCP and iSER have the same port number beside one another. */
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
    private static final int EVENT_WAIT_MILLIS = 100;

    private final RdmaDomains domains = new RdmaDomains();
    private final RdmaEventChannel channel;
    private final List<RdmaCmId> listeners = new ArrayList<>();
    private final Map<RdmaCmId, QueuePair> connections = new ConcurrentHashMap<>();
    /** The listeners' devices, which keep what is prepared until the portal has ended. */
    private final List<RdmaDomain> prepared = new ArrayList<>();
    private final ArrayBlockingQueue<IserIncoming> incomings = new ArrayBlockingQueue<>(BACKLOG);
    private final InetAddress host;
    private int port;
    private volatile boolean closed;

    private IserPortal(RdmaEventChannel channel, InetSocketAddress address) {
        this.channel = channel;
        this.host = address.getAddress();
        this.port = address.getPort();
    }

    /**
     * Listens; on every RDMA device's address if the address is the wildcard one.
     *
     * @throws IOException if there is no RDMA, or the address is none of a device or taken, in words
     */
    public static IserPortal listen(InetSocketAddress address) throws IOException {
        if (address.isUnresolved()) {
            throw new IOException("cannot listen on " + address.getHostString() + ": there is no such host");
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
                // Where the system chooses the port, it is the first one's on all of them.
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
            while (!closed) {
                IserIncoming incoming = incomings.poll(EVENT_WAIT_MILLIS, TimeUnit.MILLISECONDS);
                if (incoming != null) {
                    return incoming;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new ClosedChannelException();
    }

    RdmaDomains domains() {
        return domains;
    }

    /** From now on a connection's queue pair hears of its end. */
    void opened(RdmaCmId id, QueuePair queue) {
        connections.put(id, queue);
        queue.releaseAtEnd(() -> connections.remove(id));
    }

    private void run() {
        boolean listening = true;
        try {
            // Identifiers of connections live on the channel, so that it is there until the last of them is gone.
            while (!closed || !connections.isEmpty()) {
                if (closed && listening) {
                    listening = false;
                    stopListening();
                }
                RdmaCmEvent event = channel.getCmEvent(EVENT_WAIT_MILLIS);
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
            LOG.error("listening for iSER connections ended: {}", e.toString());
        } finally {
            closed = true;
        }
    }

    /** What goes wrong with one connection is no matter of the others. */
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
                if (closed || !incomings.offer(incoming)) {
                    LOG.warn("iSER connection from {} refused: too many are asked for at once", incoming.peerAddress());
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
        for (IserIncoming incoming = incomings.poll(); incoming != null; incoming = incomings.poll()) {
            incoming.close();
        }
    }

    @Override
    public String toString() {
        return text(localAddress());
    }

    /** Stops listening; what the portal holds is given back when the last of its connections has ended. */
    @Override
    public void close() {
        closed = true;
    }
}
