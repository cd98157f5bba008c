package io.modeldisk.command;

import io.modeldisk.protocol.engine.TargetContext;
import java.time.Duration;
import picocli.CommandLine.Option;

/** Limits on the connections of a shard. Change them only if you know why. */
final class ServeLimits {
    @Option(names = "--max-sessions", paramLabel = "N", defaultValue = "288",
        description = "The maximum number of sessions. A mount takes two on each shard.")
    private int maxSessions;

    @Option(names = "--max-logins", paramLabel = "N", defaultValue = "64",
        description = "The maximum number of connections that have not logged in. One more waits, about a second at most, "
            + "until a connection of the address with the most of them is closed.")
    private int maxLogins;

    @Option(names = "--login-timeout", paramLabel = "TIME", defaultValue = "15s",
        description = "The time after which an unfinished login is closed.")
    private Duration loginTimeout;

    @Option(names = "--ping-interval", paramLabel = "TIME", defaultValue = "15s",
        description = "The silence after which an initiator is pinged. After twice this silence it is disconnected.")
    private Duration pingInterval;

    TargetContext apply(TargetContext context) {
        return context
            .maxConnections(maxSessions)
            .maxLogins(maxLogins)
            .loginTimeout(loginTimeout)
            .pingInterval(pingInterval);
    }
}
