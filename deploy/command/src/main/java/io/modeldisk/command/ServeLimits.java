package io.modeldisk.command;

import io.modeldisk.protocol.engine.TargetContext;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The options with the limits on the connections of a shard. Most users do not change them. */
final class ServeLimits {
    @Option(names = "--max-sessions", paramLabel = "N", defaultValue = "288",
        description = "The maximum number of sessions. A mount needs two sessions on each shard.")
    private int maxSessions;

    @Option(names = "--max-logins", paramLabel = "N", defaultValue = "64",
        description = "The maximum number of connections that have not logged in. A further connection waits, for about one "
            + "second at most, until the shard has closed a connection of the address with the most such connections.")
    private int maxLogins;

    @Option(names = "--login-timeout", paramLabel = "TIME", defaultValue = "15s",
        description = "The time after which the shard closes a connection that has not logged in.")
    private Duration loginTimeout;

    @Option(names = "--ping-interval", paramLabel = "TIME", defaultValue = "15s",
        description = "The time of silence after which the shard pings an initiator. After twice this time of silence, the "
            + "shard closes the connection.")
    private Duration pingInterval;

    TargetContext apply(TargetContext context) {
        return context
            .maxConnections(maxSessions)
            .maxLogins(maxLogins)
            .loginTimeout(loginTimeout)
            .pingInterval(pingInterval);
    }
}
