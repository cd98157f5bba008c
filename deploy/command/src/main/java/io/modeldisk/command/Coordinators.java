package io.modeldisk.command;

import io.modeldisk.fault.coordination.CoordinatorContext;
import io.modeldisk.fault.coordination.CoordinatorSecret;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.time.Duration;
import java.util.List;

/** Creates the configuration of a connection to ZooKeeper from options. */
final class Coordinators {
    private Coordinators() {}

    /**
     * Returns the configuration of a connection to these servers.
     *
     * @param session the session time-out
     * @param secrets the contents of the secrets file; null if there is none
     */
    static CoordinatorContext context(List<String> servers, Duration session, ChapSecrets secrets) {
        return new CoordinatorContext(servers.stream()
            .map(server -> TargetAddress.parse(server, CoordinatorContext.DEFAULT_PORT)).toList(), session)
            .withSecret(secret(secrets));
    }

    /** Returns the secret of the line {@code zookeeper}; null if there is none. */
    static CoordinatorSecret secret(ChapSecrets secrets) {
        return secrets != null && secrets.hasZookeeper()
            ? new CoordinatorSecret(secrets.zookeeperName(), secrets.zookeeperSecret())
            : null;
    }
}
