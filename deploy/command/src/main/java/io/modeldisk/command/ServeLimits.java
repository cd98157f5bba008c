package io.modeldisk.command;

import io.modeldisk.protocol.engine.TargetServer;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The bounds of a shard's connections: only if you know why. */
final class ServeLimits {
    @Option(names = "--max-sessions", paramLabel = "N", defaultValue = "288",
        description = "How many sessions there may be.")
    private int maxSessions;

    @Option(names = "--max-logins", paramLabel = "N", defaultValue = "64",
        description = "How many connections may be about to log in. One more waits, about a second at most, until one of the "
            + "address that has most of them is closed.")
    private int maxLogins;

    @Option(names = "--login-timeout", paramLabel = "TIME", defaultValue = "15s",
        description = "How long a login may take before its connection is closed.")
    private Duration loginTimeout;

    @Option(names = "--ping-interval", paramLabel = "TIME", defaultValue = "15s",
        description = "After how much silence an initiator is pinged; silent as long again, it is taken for dead.")
    private Duration pingInterval;

    TargetServer.Context apply(TargetServer.Context context) {
        return context
            .maxConnections(maxSessions)
            .maxLogins(maxLogins)
            .loginTimeoutSeconds(loginTimeout.toSeconds())
            .pingIntervalSeconds(pingInterval.toSeconds());
    }
}
