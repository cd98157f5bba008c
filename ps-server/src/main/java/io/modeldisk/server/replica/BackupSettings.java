package io.modeldisk.server.replica;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.shm.SocketPath;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;

/**
 * How a primary reaches its backups.
 *
 * @param timeout the time within which a backup must apply the records that are sent to it; a later backup is no longer in sync
 * @param datamover the preferred datamover
 * @param socketDirectory the directory of the sockets over which shards on this host offer shared memory
 * @param secrets the names and secrets for CHAP; null if no session authenticates
 * @param bufferBytes the size of each of the two buffers for records, the same on primary and backups, a multiple of 4096
 */
public record BackupSettings(
    Duration timeout, Route.Preference datamover, Path socketDirectory, ChapSecrets secrets, int bufferBytes) {

    /** The default time within which a backup must apply records. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(6);

    /** The ISID of the sessions between a primary and its backups. */
    private static final long ISID = 0x800000020000L;

    private static final String INITIATOR = "iqn.2026-11.io.modeldisk.shard:";

    /** Returns the settings for this machine without authentication. */
    public static BackupSettings of(Duration timeout, Route.Preference datamover, int bufferBytes) {
        return new BackupSettings(timeout, datamover, SocketPath.defaultDirectory(), null, bufferBytes);
    }

    /** Opens a stream to a backup. {@code own} is the name of this process. */
    BackupStream open(
        String own, Backup peer, long epoch, ModelFacts facts, IserProvider.Connections iserConnections,
        NanoClock clock)
        throws java.io.IOException {
        InetSocketAddress address = peer.address();
        String target = ModelFacts.TARGET_PREFIX + facts.model();
        Route route = Route.choose(datamover, address, target, socketDirectory, false, iserConnections);
        return new BackupStream(peer.name(),
            new SessionContext().portal(address).over(route.portal()).shard(facts.shard())
                .targetName(target).initiator(INITIATOR + own, ISID).learner(own).secrets(secrets)
                .connectTimeout(timeout)
                .commandTimeout(timeout).queueDepth(BackupStream.QUEUE_DEPTH).clock(clock),
            route.portal().needsShareableMemory(), epoch, facts, clock,
            timeout.toNanos());
    }
}
