package io.modeldisk.server;

import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.engine.TargetServer;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A server of one shard of a model over iSCSI. {@link #launch} starts the server, and {@link #close} stops it. {@link ShardModel}
 * is a shard without a network.
 */
public final class ParameterServer implements AutoCloseable {
    private final ShardModel shard;
    private final LeaseTimer timer;
    private final TargetServer server;

    private ParameterServer(ShardModel shard, LeaseTimer timer, TargetServer server) {
        this.shard = shard;
        this.timer = timer;
        this.server = server;
    }

    /**
     * Reads the weights of a shard and starts a server for the shard.
     *
     * @throws IllegalArgumentException if a setting is wrong; the message has its name, its value and a remedy
     * @throws IOException if the weights cannot be read, or the address is not available
     */
    public static ParameterServer launch(ServerContext context) throws IOException {
        ShardModel shard = ShardModel.open(context);
        LeaseTimer timer = new LeaseTimer(shard, context.settings().clock());
        TargetServer server = null;
        try {
            server = TargetServer.launch(context.network().target(shard.target()));
            timer.start();
            return new ParameterServer(shard, timer, server);
        } catch (IOException | RuntimeException | Error e) {
            if (server != null) {
                server.close();
            }
            shard.close();
            throw e;
        }
    }

    /** The address at which the server listens. If port 0 was requested, the address has the port that the kernel chose. */
    public InetSocketAddress localAddress() {
        return server.localAddress();
    }

    /** The socket at which the server shares memory with learners on this host; null if the server shares no memory. */
    public String sharesMemoryAt() {
        return server.portals().stream().filter(portal -> portal.datamover().equals(ShmPortal.NAME))
            .map(TargetPortal::toString).findFirst().orElse(null);
    }

    /** The shard that the server serves. */
    public ShardModel shard() {
        return shard;
    }

    /** Stops the server: closes all sessions and frees the memory of the shard. */
    @Override
    public void close() {
        server.close();
        timer.close();
        shard.close();
    }
}
