package io.modeldisk.command.options;

import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.server.ServerContext;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options for the memory and the connections of a shard. */
public final class ServeLimits {
    @Option(names = "--buffers", paramLabel = "BYTES",
        description = "The memory for incoming data. All sessions share it.")
    private ByteSize buffers = new ByteSize(TargetContext.DEFAULT_BUFFER_BYTES);

    @Option(names = "--max-sessions", paramLabel = "N", defaultValue = "" + TargetContext.DEFAULT_MAX_CONNECTIONS,
        description = "The maximum number of sessions. A mount needs two sessions on each shard, and a third while it reads "
            + "model.safetensors or tensors.")
    private int maxSessions;

    @Option(names = "--ping-interval", paramLabel = "TIME",
        description = "The time of silence after which the shard pings an initiator. After twice this time of silence, the "
            + "shard closes the connection.")
    private Duration pingInterval = TargetContext.DEFAULT_PING_INTERVAL;

    @Option(names = "--reader-memory", paramLabel = "BYTES",
        description = "With bsp, the memory that keeps the weights of an earlier round while a process reads model.safetensors "
            + "or a tensor of that round: at most the size of the shard. It is allocated when the first file is opened.")
    private ByteSize readerMemory = new ByteSize(ServerContext.DEFAULT_READER_BYTES);

    /** The size in bytes of the memory that keeps the weights of an earlier round while a process reads that round. */
    public long readerBytes() {
        return readerMemory.bytes();
    }

    /** Sets the limits of a target. */
    public void apply(TargetContext context) {
        context.bufferBytes(buffers.bytes()).maxConnections(maxSessions).pingInterval(pingInterval);
    }
}
