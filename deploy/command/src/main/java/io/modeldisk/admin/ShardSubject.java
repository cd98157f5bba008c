package io.modeldisk.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerObserver;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The process of a shard, which may serve the shard, or wait, start or stop. Thread-safe. */
public final class ShardSubject implements AdminSubject, ServerObserver {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Null while the process does not serve the shard. Guarded by the lock of this object, as the reason is. */
    private ParameterServer server;
    private String reason = "the shard starts";

    @Override
    public synchronized void opened(ParameterServer active) {
        server = active;
    }

    /** {@inheritDoc} Waits until the status is complete that another thread reads. */
    @Override
    public synchronized void closes(String why) {
        server = null;
        reason = why;
    }

    @Override
    public synchronized Health health() {
        if (server == null) {
            return Health.not(reason);
        }
        String refusal = server.shard().refusal();
        return refusal == null ? Health.OK : Health.not(refusal);
    }

    @Override
    public synchronized ObjectNode status() {
        ObjectNode status = JSON.createObjectNode();
        if (server == null) {
            return status;
        }
        status.set("model", JSON.valueToTree(server.shard().facts()));
        try {
            status.putArray("shards").add(JSON.readTree(server.shard().status()));
        } catch (IOException e) {
            throw new UncheckedIOException("the status of the shard is no JSON", e);
        }
        return status;
    }
}
