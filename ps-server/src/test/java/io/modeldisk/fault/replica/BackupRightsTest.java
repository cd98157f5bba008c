package io.modeldisk.fault.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests which peers may send records to a backup with a secrets file. */
@Timeout(60)
class BackupRightsTest {
    private static final int BLOCK = 1 << 16;
    private static final int BLOCKS = 4;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String OWN_FILE = """
        self    shards  theShardsOwnSecret1
        replica records theSecretOfTheRecords
        peer    learner theSecretOfTheLearner
        peer    raw     theSecretOfTheRawUser may=raw,status,learn
        peer    tool    theSecretOfTheTool01  may=replicate
        """;

    @TempDir
    private Path sockets;

    @AutoClose
    private ParameterServer backup;

    @BeforeEach
    void launch() throws IOException {
        ChapSecrets secrets = ChapSecrets.parse(OWN_FILE, "test");
        backup = ParameterServer
            .launch(new ServerContext().consistency("asp").model("m").sizeBytes(BLOCKS * BLOCK).blockSizeBytes(BLOCK)
                .listen(new InetSocketAddress("127.0.0.1", 0)).aggregator("sum", Aggregators.parse("sum"))
                .network(network -> network.access(new AccessPolicy(secrets, false, List.of())))
                .backups(settings(secrets.ofPrimary())));
    }

    private BackupSettings settings(ChapSecrets ofPrimary) {
        return new BackupSettings(LIMIT, Route.Preference.TCP, sockets, ofPrimary, 1 << 20);
    }

    /** Begins a stream as a primary with these secrets. */
    private BackupStream open(ChapSecrets ofPrimary) throws IOException {
        return settings(ofPrimary).open("0-1", new Backup("0-2", backup.localAddress()), 7, backup.shard().facts(),
            IserProvider.find().connections(), NanoClock.SYSTEM);
    }

    private static ChapSecrets parse(String lines) {
        return ChapSecrets.parse(lines, "test");
    }

    private static ChapSecrets self(String user, String secret) {
        return parse("self " + user + " " + secret);
    }

    private void assertAdmitted(ChapSecrets ofPrimary) throws IOException {
        try (BackupStream stream = open(ofPrimary)) {
            BlockStamps stamps = stream.readStamps(BLOCKS);
            assertThat(stamps.position(0)).isZero();
        }
    }

    @Test
    void primaryAndBackupWithTheSameSecretsFileAuthenticateEachOther() throws IOException {
        ChapSecrets primary = parse(OWN_FILE).ofPrimary();
        assertThat(primary.hasPeers()).as("the backup must authenticate").isTrue();
        assertAdmitted(primary);
    }

    @Test
    void peerWithTheReplicateRightIsAdmitted() throws IOException {
        assertAdmitted(self("tool", "theSecretOfTheTool01"));
    }

    @Test
    void wrongSecretIsRefused() {
        assertThatThrownBy(() -> open(self("records", "anotherSecretOfRecords")))
            .hasMessageContaining("authentication");
        assertThatThrownBy(() -> open(null)).hasMessageContaining("authentication");
        assertThatThrownBy(() -> open(self("records", "theSecretOfTheLearner"))).hasMessageContaining("authentication");
    }

    @Test
    void primaryRefusesABackupWithAnotherSecretInTheSelfLine() {
        ChapSecrets primary = parse(OWN_FILE.replace("theShardsOwnSecret1", "theSecretOfRealShards")).ofPrimary();
        assertThatThrownBy(() -> open(primary)).hasMessageContaining("the target cannot authenticate itself");
    }
}
