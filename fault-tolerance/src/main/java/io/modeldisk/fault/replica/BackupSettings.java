package io.modeldisk.fault.replica;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The settings with which a primary reaches its backups.
 *
 * @param timeout the time within which a backup must apply the records sent to it; a slower backup is no longer in sync
 * @param datamover the preferred datamover
 * @param socketDirectory the directory of the sockets over which shards on this host offer shared memory
 * @param secrets the secrets of a primary, {@link ChapSecrets#ofPrimary}; null if no session authenticates
 * @param bufferBytes the size of each of the two buffers for records, the same on primary and backups, a multiple of 4096
 */
public record BackupSettings(
    Duration timeout, Route.Preference datamover, Path socketDirectory, ChapSecrets secrets, int bufferBytes) {

    private static final Logger LOG = LogManager.getLogger(BackupSettings.class);

    /** The ISID of the sessions of this process with its backups. A new session replaces a lost one. */
    private static final long ISID = Isid.random();

    /** Chooses the datamover to a backup. */
    Route route(Backup peer, ModelFacts facts, IserProvider.Connections iserConnections) {
        return Route.choose(datamover, peer.address(), target(facts), socketDirectory, false, iserConnections);
    }

    private static String target(ModelFacts facts) {
        return ModelFacts.TARGET_PREFIX + facts.model();
    }

    /** Opens a stream to a backup. {@code own} is the name of this process. */
    BackupStream open(
        String own, Backup peer, long epoch, ModelFacts facts, IserProvider.Connections iserConnections,
        NanoClock clock)
        throws IOException {
        InetSocketAddress address = peer.address();
        Route route = route(peer, facts, iserConnections);
        LOG.info("the records for backup {} at {} go over {}", peer.name(), address, route);
        return new BackupStream(peer.name(),
            new SessionContext().portal(address).over(route.portal()).shard(facts.shard())
                .targetName(target(facts)).initiator(ChapSecrets.PRIMARY_INITIATOR + own, ISID).learner(own)
                .secrets(secrets)
                .connectTimeout(timeout)
                .commandTimeout(timeout).queueDepth(BackupStream.QUEUE_DEPTH).clock(clock),
            route.portal().needsShareableMemory(), epoch, facts, clock,
            timeout.toNanos());
    }
}
