package io.modeldisk.server;

import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.engine.TargetServer;
import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A shard of a model, served over iSCSI. {@link #launch} starts it, {@link #close} ends it; {@link ShardModel} is the same
 * without a network.
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
     * Reads the weights and serves them.
     *
     * @throws IllegalArgumentException for a wrong setting, with its name, its value and a remedy
     * @throws IOException if the weights cannot be read, or the address is not available
     */
    public static ParameterServer launch(ServerContext context) throws IOException {
        ShardModel shard = ShardModel.open(context);
        LeaseTimer timer = new LeaseTimer(shard, context.settings().clock());
        try {
            TargetServer server = TargetServer.launch(context.network().target(shard.target()));
            timer.start();
            return new ParameterServer(shard, timer, server);
        } catch (IOException | RuntimeException e) {
            shard.close();
            throw e;
        }
    }

    /** The address it listens at, with the real port if port 0 was asked for. */
    public InetSocketAddress localAddress() {
        return server.localAddress();
    }

    /** The socket at which it shares memory with learners on this host; null if it does not. */
    public String sharesMemoryAt() {
        return server.portals().stream().filter(portal -> portal.datamover().equals(ShmPortal.NAME))
            .map(TargetPortal::toString).findFirst().orElse(null);
    }

    /** The shard it serves. */
    public ShardModel shard() {
        return shard;
    }

    /** Ends all sessions and frees the memory. */
    @Override
    public void close() {
        server.close();
        timer.close();
        shard.close();
    }
}
