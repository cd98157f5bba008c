package io.modeldisk.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.protocol.dialect.Metric;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.StatusJson;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.role.ServerObserver;
import io.modeldisk.server.status.ShardStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.LongSupplier;

/**
 * The process of a shard, as the admin server shows it. The process serves the shard, or it waits, starts or stops.
 * {@link #obstacle} and {@link #closes} do not hang, even if another thread never releases the lock of a block. Thread-safe.
 */
public final class ShardSubject implements AdminSubject, ServerObserver {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** The role of the process for the shard. */
    private sealed interface State {}

    /**
     * The process does not serve the shard.
     *
     * @param reason the reason
     * @param facts the facts of the model; null until they are known
     * @param epoch returns the epoch of the process that serves the shard; 0 if it is not known
     */
    private record Idle(String reason, ModelFacts facts, LongSupplier epoch) implements State {}

    /**
     * The process serves the shard.
     *
     * @param refusal gets the reason why the shard refuses pushes; the answer is null if the shard accepts them
     */
    private record Open(ParameterServer server, Question<String> refusal, Question<JsonNode> status) implements State {}

    private volatile State state = new Idle("the shard starts", null, () -> 0);

    @Override
    public void waits(ModelFacts facts, LongSupplier epoch) {
        state = new Idle("standby: another process serves the shard", facts, epoch);
    }

    @Override
    public void opened(ParameterServer server) {
        String silence = "the shard did not answer (perhaps a thread holds the lock of a block)";
        state = new Open(server, new Question<>(silence, () -> {
            server.check();
            return server.shard().refusal();
        }), new Question<>(silence, () -> JSON.readTree(server.shard().status())));
    }

    /** {@inheritDoc} A thread that still reads the status after this call uses only memory of the Java heap. */
    @Override
    public void closes(String reason) {
        state = switch (state) {
            case Open open -> new Idle(reason, open.server().shard().facts(), () -> 0);
            case Idle idle -> new Idle(reason, idle.facts(), idle.epoch());
        };
    }

    @Override
    public String obstacle() {
        try {
            return switch (state) {
                case Idle idle -> idle.reason();
                case Open open -> open.refusal().answer();
            };
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    @Override
    public ObjectNode status() {
        ObjectNode status = JSON.createObjectNode();
        switch (state) {
            case Idle idle -> putWaiting(status, idle);
            case Open open -> putServer(status, open);
        }
        return status;
    }

    private static void putWaiting(ObjectNode status, Idle idle) {
        if (idle.facts() == null) {
            return;
        }
        status.set("model", JSON.valueToTree(idle.facts()));
        try {
            status.putArray("shards").add(JSON.readTree(ShardStatus.ofStandby(idle.facts(), idle.epoch().getAsLong())));
        } catch (IOException e) {
            throw new UncheckedIOException("the status of the shard is not JSON", e);
        }
    }

    private static void putServer(ObjectNode status, Open open) {
        ParameterServer server = open.server();
        status.set("model", JSON.valueToTree(server.shard().facts()));
        try {
            JsonNode shard = open.status().answer();
            status.putArray("shards").add(shard);
        } catch (IOException e) {
            status.putObject("shards").put("error", e.getMessage());
        }
        ObjectNode process = status.putObject(Metric.Scope.PROCESS.path());
        StatusJson.put(process, Metric.CONNECTIONS, server.connections());
        StatusJson.put(process, Metric.BUFFERS_USED_BYTES, server.bufferBytes() - server.freeBufferBytes());
        StatusJson.put(process, Metric.BUFFERS_LIMIT_BYTES, server.bufferBytes());
    }
}
