package io.modeldisk.command;

import io.modeldisk.platform.units.ByteSize;
import io.modeldisk.protocol.engine.TargetContext;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options for the limits on the connections of a shard. */
final class ServeLimits {
    @Option(names = "--max-sessions", paramLabel = "N", defaultValue = "288",
        description = "The maximum number of sessions. A mount needs two sessions on each shard, and a third while it reads "
            + "model.safetensors or tensors.")
    private int maxSessions;

    @Option(names = "--max-logins", paramLabel = "N", defaultValue = "64",
        description = "The maximum number of connections that have not logged in. One address may have half of this number. "
            + "If a limit is reached, a new connection waits until the shard closes a connection whose login is too slow: no "
            + "Login Request after 100ms, or no complete login after 1s.")
    private int maxLogins;

    @Option(names = "--login-timeout", paramLabel = "TIME", defaultValue = "15s",
        description = "The time after which the shard closes a connection that has not logged in.")
    private Duration loginTimeout;

    @Option(names = "--ping-interval", paramLabel = "TIME", defaultValue = "15s",
        description = "The time of silence after which the shard pings an initiator. After twice this time of silence, the "
            + "shard closes the connection.")
    private Duration pingInterval;

    @Option(names = "--reader-memory", paramLabel = "BYTES", defaultValue = "256MiB",
        description = "With bsp, the memory for weights that change while model.safetensors or a tensor of an earlier round is "
            + "read: at most the size of the shard. It is allocated when the first file is opened.")
    private ByteSize readerMemory;

    long readerBytes() {
        return readerMemory.bytes();
    }

    TargetContext apply(TargetContext context) {
        return context
            .maxConnections(maxSessions)
            .maxLogins(maxLogins)
            .loginTimeout(loginTimeout)
            .pingInterval(pingInterval);
    }
}
