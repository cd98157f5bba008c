package io.modeldisk.protocol.datamover.iser;

import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IncomingConnection;
import io.modeldisk.protocol.datamover.TargetDatamover;
import io.modeldisk.protocol.rdma.ConnectionDetails;
import io.modeldisk.protocol.rdma.QueuePair;
import io.modeldisk.protocol.rdma.RdmaDomain;
import io.modeldisk.protocol.rdma.RdmaDomains;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A connection that an initiator asks for. It is accepted before any login, in the protection domain that all connections of the
 * device share. That exposes no memory: what a target registers has no remote rights ({@link IserTargetDatamover#DATA_RIGHTS}).
 */
final class IserIncoming implements IncomingConnection {
    /** As often as InfiniBand allows: seven times, and for ever while the other side has posted no receive. */
    private static final byte RETRIES = 7;

    private static final Logger LOG = LogManager.getLogger(IserIncoming.class);

    private final IserPortal portal;
    private final RdmaCmId id;
    private final InetSocketAddress peer;
    private final InetSocketAddress localAddress;
    private final boolean invalidates;
    private boolean taken;

    /**
     * @param said what the initiator said with its wish
     */
    IserIncoming(IserPortal portal, RdmaCmId id, byte[] said) throws IOException {
        this.portal = portal;
        this.id = id;
        this.peer = (InetSocketAddress) id.getDestination();
        this.localAddress = (InetSocketAddress) id.getSource();
        if (peer == null || localAddress == null) {
            id.destroyId();
            throw new IOException("a connection from an address that is not of IPv4, which is all that DiSNI knows");
        }
        this.invalidates = IserPrivateData.wantsInvalidation(said) && ConnectionDetails.shared().canInvalidate(id);
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public InetAddress peerAddress() {
        return peer.getAddress();
    }

    @Override
    public TargetDatamover open(TargetDatamover.Numbering numbering, int slots, NanoClock clock) throws IOException {
        QueuePair queue = open(portal.domains(), id, IserTargetDatamover.sendRequests(),
            IserTargetDatamover.receives(slots), IserPortal.text(peer));
        taken = true;
        // From the next line on the connection may end at any time.
        queue.enter();
        try {
            portal.opened(id, queue);
            return open(queue, numbering, slots, clock);
        } finally {
            queue.exit();
        }
    }

    private TargetDatamover open(QueuePair queue, TargetDatamover.Numbering numbering, int slots, NanoClock clock)
        throws IOException {
        IserTargetDatamover datamover = new IserTargetDatamover(queue, numbering, slots, invalidates, clock);
        try {
            ConnectionDetails.shared().accept(id, connectionParameters(), IserPrivateData.bytes(invalidates));
            if (invalidates) {
                LOG.info("{}: responses invalidate the keys of their commands, as it asks for", IserPortal.text(peer));
            }
            return datamover;
        } catch (IOException e) {
            datamover.close();
            throw e;
        }
    }

    /** A queue pair on the device of an identifier, in the device's domain. */
    static QueuePair open(RdmaDomains domains, RdmaCmId id, int sendRequests, int receives, String peer)
        throws IOException {
        RdmaDomain domain = domains.enter(id);
        try {
            QueuePair queue = new QueuePair(domain, id, sendRequests, receives, peer);
            queue.releaseAtEnd(() -> domains.leave(domain));
            return queue;
        } catch (IOException e) {
            domains.leave(domain);
            throw e;
        }
    }

    static RdmaConnParam connectionParameters() throws IOException {
        RdmaConnParam parameters = new RdmaConnParam();
        parameters.setRetry_count(RETRIES);
        parameters.setRnr_retry_count(RETRIES);
        return parameters;
    }

    @Override
    public void close() {
        if (taken) {
            return;
        }
        taken = true;
        try {
            id.destroyId();
        } catch (IOException e) {
            LOG.warn("the iSER connection from {} is not refused as it should be: {}", peer, e.getMessage());
        }
    }
}
