package io.modeldisk.fault.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
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

    private ParameterServer backup;

    @BeforeEach
    void launch() throws IOException {
        ChapSecrets secrets = ChapSecrets.parse(OWN_FILE, "test");
        backup = ParameterServer.launch(new ServerContext().model("m").sizeBytes(BLOCKS * BLOCK).blockSizeBytes(BLOCK)
            .listen(new InetSocketAddress("127.0.0.1", 0)).aggregator("sum", Aggregators.parse("sum"))
            .network(network -> network.access(AccessPolicy.THIS_MACHINE.withSecrets(secrets)))
            .backups(settings(secrets.ofPrimary())));
    }

    @AfterEach
    void close() {
        backup.close();
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
    void primaryWithTheSameSecretsFileIsAdmittedAndBothSidesAuthenticate() throws IOException {
        ChapSecrets primary = parse(OWN_FILE).ofPrimary();
        assertThat(primary.hasPeers()).as("the backup must authenticate").isTrue();
        assertAdmitted(primary);
    }

    @Test
    void peerWithTheRightReplicateIsAdmitted() throws IOException {
        assertAdmitted(self("tool", "theSecretOfTheTool01"));
    }

    @Test
    void peersWithoutTheRightReplicateCannotBeginAStream() {
        assertThatThrownBy(() -> open(self("learner", "theSecretOfTheLearner")))
            .hasMessageContaining("this initiator is not allowed");
        assertThatThrownBy(() -> open(self("raw", "theSecretOfTheRawUser")))
            .hasMessageContaining("this initiator is not allowed");
    }

    @Test
    void peersWithoutTheRightReplicateCannotWriteRecordsOrReadStamps() throws Exception {
        for (ChapSecrets user : new ChapSecrets[]{
            self("learner", "theSecretOfTheLearner"), self("raw", "theSecretOfTheRawUser")}) {
            assertThat(runOnLun2(user, true)).contains("does not have the right for this command");
            assertThat(runOnLun2(user, false)).contains("does not have the right for this command");
        }
    }

    /** Writes or reads one logical block of LUN 2, and returns how the command ended. */
    private String runOnLun2(ChapSecrets secrets, boolean writes) throws Exception {
        try (DataMemory memory = DataMemory.allocate(LogicalBlock.BYTES);
            IscsiSession session = IscsiSession.login(new SessionContext().portal(backup.localAddress())
                .over(new TcpInitiatorPortal(backup.localAddress())).targetName(ModelFacts.TARGET_PREFIX + "m")
                .initiator("iqn.2026-11.io.modeldisk.learner:one", 0x800000020000L).secrets(secrets))) {
            // The first command of a session gets the unit attention of the login.
            end(session, session.acquire(LIMIT.toNanos()).read(ReplicateCommand.LUN, 0, 1, memory, 0,
                LogicalBlock.BYTES));
            IoRequest request = session.acquire(LIMIT.toNanos());
            return end(session, writes
                ? request.write(ReplicateCommand.LUN, 0, 1, memory, 0, LogicalBlock.BYTES)
                : request.read(ReplicateCommand.LUN, 0, 1, memory, 0, LogicalBlock.BYTES));
        }
    }

    private static String end(IscsiSession session, IoRequest request) throws Exception {
        CompletableFuture<String> ended = new CompletableFuture<>();
        session.submit(request
            .onCompletion(done -> ended.complete(done.exception(session.shard(), "a command").getMessage())));
        return ended.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void wrongSecretIsRefused() {
        assertThatThrownBy(() -> open(self("records", "anotherSecretOfRecords")))
            .hasMessageContaining("authentication");
        assertThatThrownBy(() -> open(null)).hasMessageContaining("authentication");
    }

    @Test
    void learnerCannotLogInAsAPrimary() {
        assertThatThrownBy(() -> open(parse("self records theSecretOfTheLearner")))
            .hasMessageContaining("authentication");
    }

    @Test
    void primaryRefusesABackupThatDoesNotKnowTheLineSelf() {
        ChapSecrets primary = parse(OWN_FILE.replace("theShardsOwnSecret1", "theSecretOfRealShards")).ofPrimary();
        assertThatThrownBy(() -> open(primary)).hasMessageContaining("the target cannot authenticate itself");
    }
}
