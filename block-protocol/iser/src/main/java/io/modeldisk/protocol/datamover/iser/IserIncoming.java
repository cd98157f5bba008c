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
 * A connection request from an initiator. The target accepts the connection before the login, in the protection domain that all
 * connections of the device share. Nevertheless, the initiator cannot access memory of the target, because the target registers
 * its memory without remote rights ({@link IserTargetDatamover#DATA_RIGHTS}).
 */
final class IserIncoming implements IncomingConnection {
    /** The maximum retry count of InfiniBand. For requests that find no posted receive at the peer (RNR), 7 means no limit. */
    private static final byte RETRIES = 7;

    private static final Logger LOG = LogManager.getLogger(IserIncoming.class);

    private final IserPortal portal;
    private final RdmaCmId id;
    private final InetSocketAddress peer;
    private final InetSocketAddress localAddress;
    private final boolean invalidates;
    private boolean taken;

    /** @throws IOException if an address of the connection is not an IPv4 address; in this case, {@code id} is destroyed */
    IserIncoming(IserPortal portal, RdmaCmId id, byte[] privateData) throws IOException {
        this.portal = portal;
        this.id = id;
        this.peer = (InetSocketAddress) id.getDestination();
        this.localAddress = (InetSocketAddress) id.getSource();
        if (peer == null || localAddress == null) {
            id.destroyId();
            throw new IOException("the address of the initiator is not an IPv4 address, but DiSNI supports only IPv4");
        }
        this.invalidates = IserPrivateData.wantsInvalidation(privateData)
            && ConnectionDetails.canInvalidate(id);
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
            IserTargetDatamover.receives(slots), IserPortal.text(peer), clock);
        taken = true;
        // After opened(), the portal can close the queue pair at any time. This use delays the release of its resources.
        try (QueuePair.Use _ = queue.enter()) {
            portal.opened(id, queue);
            return open(queue, numbering, slots);
        }
    }

    private TargetDatamover open(QueuePair queue, TargetDatamover.Numbering numbering, int slots)
        throws IOException {
        IserTargetDatamover datamover = new IserTargetDatamover(queue, numbering, slots, invalidates);
        try {
            ConnectionDetails.accept(id, connectionParameters(), IserPrivateData.bytes(invalidates));
            if (invalidates) {
                LOG.info("responses to {} invalidate the memory keys of their commands, as the initiator requested",
                    IserPortal.text(peer));
            }
            return datamover;
        } catch (IOException e) {
            datamover.close();
            throw e;
        }
    }

    /** Creates a queue pair on the device of {@code id}, in the protection domain of the device. */
    static QueuePair open(RdmaDomains domains, RdmaCmId id, int sendRequests, int receives, String peer,
        NanoClock clock)
        throws IOException {
        RdmaDomain domain = domains.enter(id);
        try {
            QueuePair queue = new QueuePair(domain, id, sendRequests, receives, peer, clock);
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
            LOG.warn("could not refuse the iSER connection from {}: {}", peer, e.getMessage());
        } finally {
            portal.refused();
        }
    }
}
