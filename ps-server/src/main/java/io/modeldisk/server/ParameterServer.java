package io.modeldisk.server;

import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.engine.TargetServer;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.server.role.StandbyServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;

/** An iSCSI server for one shard of a model. To use a shard without a network, see {@link ShardModel}. */
public final class ParameterServer implements AutoCloseable {
    private final ShardModel shard;
    private final LeaseTimer timer;
    private final TargetServer server;

    private ParameterServer(ShardModel shard, LeaseTimer timer, TargetServer server) {
        this.shard = shard;
        this.timer = timer;
        this.server = server;
    }

    /** Does what {@link #launch(ServerContext, Runnable)} does, without an action before the server starts. */
    public static ParameterServer launch(ServerContext context) throws IOException {
        return launch(context, () -> {});
    }

    /**
     * Reads the weights of a shard and starts a server for the shard.
     *
     * @param beforeServing the action between the reading of the weights and the start of the server, such as the closing of a
     *     {@link StandbyServer}
     * @throws IllegalArgumentException if a setting is wrong; the message names the setting, its value and a remedy
     * @throws IOException if the weights cannot be read, or the server cannot listen at its address
     */
    public static ParameterServer launch(ServerContext context, Runnable beforeServing) throws IOException {
        ShardModel shard = ShardModel.open(context);
        LeaseTimer timer = new LeaseTimer(shard, context.clock);
        TargetServer server = null;
        try {
            shard.awaitOtherShards();
            beforeServing.run();
            server = TargetServer.launch(shard.target(), context.network);
            // Learners that were restored from records can connect only from now on, so their leases begin now.
            shard.learners().restartLeases();
            timer.start();
            shard.startCheckpoints();
            return new ParameterServer(shard, timer, server);
        } catch (IOException | RuntimeException | Error e) {
            if (server != null) {
                server.close();
            }
            shard.close();
            throw e;
        }
    }

    /** The address at which the server listens. If port 0 was requested, the address contains the port that the kernel chose. */
    public InetSocketAddress localAddress() {
        return server.localAddress();
    }

    /** The path of the UNIX socket through which learners on this host get shared memory; null if the server shares no memory. */
    public String sharesMemoryAt() {
        return server.portals().stream().filter(portal -> portal.datamover().equals(ShmPortal.NAME))
            .map(TargetPortal::toString).findFirst().orElse(null);
    }

    /** The number of connections, including those that have not logged in. */
    public int connections() {
        return server.connectionCount();
    }

    /** The memory for incoming data, in bytes. */
    public long bufferBytes() {
        return server.bufferBytes();
    }

    /** The part of {@link #bufferBytes} that no session and no write in progress uses. */
    public long freeBufferBytes() {
        return server.freeBufferBytes();
    }

    /** The shard that the server serves. */
    public ShardModel shard() {
        return shard;
    }

    /**
     * Checks that the server serves its connections and that every block can be locked. While a thread holds the lock of a block,
     * this method blocks. Returns the counters of the shard; empty if the server is closed.
     *
     * @throws IOException if the server does not serve its connections
     */
    public Optional<ShardCounters> check() throws IOException {
        if (server.isClosed()) {
            return Optional.empty();
        }
        if (!server.isResponsive()) {
            throw new IOException("the server at " + TargetAddress.text(localAddress())
                + " accepts no connections, or has not checked them for 10 s");
        }
        // The creation of the status locks each block.
        shard.status();
        return Optional.of(shard.counters());
    }

    /**
     * Stops the server in a planned shutdown. If the shard takes checkpoints, this method first takes a last one, so no
     * acknowledged push is lost. The method waits while this shard or another shard makes progress with that checkpoint. A shard
     * that must go back to an earlier checkpoint is stopped with {@link #close} instead.
     */
    public void stop() {
        shard.saveLast(server::close);
        close();
    }

    /** Stops the server: closes all sessions and frees the memory of the shard. */
    @Override
    public void close() {
        server.close();
        timer.close();
        shard.close();
    }
}
