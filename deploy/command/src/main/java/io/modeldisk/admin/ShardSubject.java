package io.modeldisk.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.platform.metrics.Metric;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerObserver;
import io.modeldisk.server.StandbyServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.LongSupplier;

/** The process of a shard, which may serve the shard, or wait, start or stop. Thread-safe. */
public final class ShardSubject implements AdminSubject, ServerObserver {
    private static final ObjectMapper JSON = new ObjectMapper();

    // All fields are guarded by the lock of this object.
    /** Null while the process has no server with the shard. */
    private ParameterServer server;
    /** Null until they are known. */
    private ModelFacts facts;
    private LongSupplier epoch = () -> 0;
    private String reason = "the shard starts";

    @Override
    public synchronized void waits(ModelFacts ofShard, LongSupplier ofOther) {
        facts = ofShard;
        epoch = ofOther;
        reason = "standby: another process serves the shard";
    }

    @Override
    public synchronized void opened(ParameterServer active) {
        server = active;
        facts = active.shard().facts();
    }

    /** {@inheritDoc} Waits until the status is complete that another thread reads. */
    @Override
    public synchronized void closes(String why) {
        server = null;
        reason = why;
    }

    @Override
    public synchronized Health health() {
        String refusal = server == null ? reason : server.shard().refusal();
        return refusal == null ? Health.OK : Health.not(refusal);
    }

    @Override
    public synchronized ObjectNode status() {
        ObjectNode status = JSON.createObjectNode();
        if (facts == null) {
            return status;
        }
        status.set("model", JSON.valueToTree(facts));
        try {
            status.putArray("shards").add(JSON.readTree(
                server == null ? StandbyServer.status(facts, epoch.getAsLong()) : server.shard().status()));
        } catch (IOException e) {
            throw new UncheckedIOException("the status of the shard is no JSON", e);
        }
        if (server != null) {
            ObjectNode process = status.putObject(Metric.Scope.PROCESS.path());
            StatusJson.put(process, Metric.CONNECTIONS, server.connections());
            StatusJson.put(process, Metric.BUFFERS_USED_BYTES, server.bufferBytes() - server.freeBufferBytes());
            StatusJson.put(process, Metric.BUFFERS_LIMIT_BYTES, server.bufferBytes());
        }
        return status;
    }
}
