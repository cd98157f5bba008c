package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.dialect.AwaitCommand;
import io.modeldisk.protocol.dialect.CheckpointCommand;
import io.modeldisk.protocol.dialect.HandOverCommand;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.KeepRoundCommand;
import io.modeldisk.protocol.dialect.LearningRateCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.PartitionCommand;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.dialect.TensorsCommand;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.dialect.VpdPage;
import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.Isid;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks the table of rights. Each user has one right, tries every command of a shard, and logs in with every kind of initiator
 * name.
 */
@Timeout(60)
class RightsMatrixTest {
    private static final int PAGE = 4096;
    private static final int SIZE = 4 * PAGE;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String LEARNER = "iqn.2026-11.io.modeldisk.learner:";
    private static final int LEARN = 0;
    private static final int RAW = 1;
    private static final int RECORDS = ReplicateCommand.LUN;
    private static final Set<Right> NONE_NEEDED = EnumSet.allOf(Right.class);
    private static final ChapSecrets SECRETS = ChapSecrets.parse("""
        peer owner     theSecretOf-owner     iqn.2026-11.io.modeldisk.learner:owned
        peer learn     theSecretOf-learn     may=learn
        peer raw       theSecretOf-raw       may=raw
        peer replicate theSecretOf-replicate may=replicate
        peer status    theSecretOf-status    may=status
        """, "test");

    /** Fills a request with a command. */
    @FunctionalInterface
    private interface Command {
        IoRequest fill(IoRequest request, DataMemory memory);
    }

    /** A row of the table: a command, and the rights that allow it. */
    private record Row(String name, Set<Right> allowed, Command command) {}

    @TempDir
    private Path sockets;

    private final DataMemory memory = DataMemory.allocate(1 << 17);
    private ParameterServer server;
    private ParameterServer backup;

    @BeforeEach
    void serve() throws IOException {
        server = ParameterServer.launch(context());
        backup = ParameterServer.launch(context()
            .backups(new BackupSettings(LIMIT, Route.Preference.TCP, sockets, null, 1 << 20)));
    }

    private static ServerContext context() {
        return new ServerContext().consistency("asp").model("m").sizeBytes(SIZE).blockSizeBytes(2 * PAGE)
            .aggregator("sgd:lr=0.5", Aggregators.parse("sgd:lr=0.5"))
            .listen(new InetSocketAddress("127.0.0.1", 0))
            .network(network -> network.access(new AccessPolicy(SECRETS, false, List.of()))
                .maxFailureDelay(Duration.ZERO));
    }

    @AfterEach
    void close() {
        server.close();
        backup.close();
        memory.close();
    }

    private static Row control(String name, Set<Right> allowed, int lun, byte[] cdb, int bytes) {
        byte[] whole = new byte[16];
        System.arraycopy(cdb, 0, whole, 0, cdb.length);
        return new Row(name, allowed, (request, data) -> request.control(lun, whole, data, 0, bytes));
    }

    private static List<Row> rowsOfTheShard() {
        Set<Right> learn = Set.of(Right.LEARN);
        Set<Right> raw = Set.of(Right.RAW);
        List<Row> rows = new ArrayList<>(List.of(
            control("JOIN", learn, LEARN, JoinCommand.cdb(0, false), JoinCommand.DATA_BYTES),
            control("PARTITION", learn, LEARN, PartitionCommand.cdb(1), PartitionCommand.DATA_BYTES),
            control("LEARNING RATE", learn, LEARN, LearningRateCommand.cdb(1, 0), LearningRateCommand.DATA_BYTES),
            control("new LEARNING RATE", learn, LEARN, LearningRateCommand.cdb(1, 1), LearningRateCommand.DATA_BYTES),
            control("TENSORS", learn, LEARN, TensorsCommand.cdb(0), TensorsCommand.DATA_BYTES),
            control("KEEP ROUND", learn, LEARN, KeepRoundCommand.cdb(KeepRoundCommand.Service.LOOK, 0, 1, 0),
                KeepRoundCommand.DATA_BYTES),
            control("CHECKPOINT", raw, LEARN, CheckpointCommand.cdb(), CheckpointCommand.DATA_BYTES),
            control("HAND OVER", raw, LEARN, HandOverCommand.cdb(), 0),
            control("AWAIT VERSION", NONE_NEEDED, LEARN, AwaitCommand.cdb(AwaitCommand.NONE), 40),
            control("facts", NONE_NEEDED, LEARN, VpdPage.cdb(ModelFacts.VPD_PAGE), VpdPage.DATA_BYTES),
            control("status", NONE_NEEDED, LEARN, VpdPage.cdb(ModelFacts.STATUS_VPD_PAGE), VpdPage.DATA_BYTES),
            new Row("READ of LUN 1", Set.of(Right.LEARN, Right.RAW),
                (request, data) -> request.read(RAW, 0, 1, data, 0, PAGE)),
            new Row("WRITE of LUN 1", raw, (request, data) -> request.write(RAW, 0, 1, data, 0, PAGE))));
        for (ValueType type : ValueType.values()) {
            int lun = type.lun();
            rows.add(new Row("PUSH of LUN " + lun, learn,
                (request, data) -> request.push(type, 0, 1, 1, data, 0, PAGE, false)));
            rows.add(new Row("PULL of LUN " + lun, learn,
                (request, data) -> request.pull(lun, 0, 1, 0, data, 0, PAGE)));
            rows.add(new Row("WRITE of LUN " + lun, learn,
                (request, data) -> request.write(lun, 0, 1, data, 0, PAGE)));
            rows.add(new Row("READ of LUN " + lun, learn,
                (request, data) -> request.read(lun, 0, 1, data, 0, PAGE)));
        }
        return rows;
    }

    private List<Row> rowsOfABackup() {
        Set<Right> replicate = Set.of(Right.REPLICATE);
        return List.of(
            new Row("WRITE of LUN 2", replicate, (request, data) -> request.write(RECORDS, 0, 1, data, 0, PAGE)),
            new Row("READ of LUN 2", replicate, (request, data) -> request.read(RECORDS, 0, 1, data, 0, PAGE)),
            control("REPLICATE", replicate, RECORDS, ReplicateCommand.cdb(1, backup.shard().facts()),
                ReplicateCommand.DATA_BYTES));
    }

    private static IscsiSession logIn(ParameterServer at, String user, String name) throws IOException {
        return IscsiSession.login(new SessionContext().portal(at.localAddress())
            .targetName(ModelFacts.TARGET_PREFIX + "m").initiator(name, Isid.random()).learner(user)
            .secrets(ChapSecrets.parse("self " + user + " theSecretOf-" + user, "test")));
    }

    /** Returns false if the shard refuses a command because the user lacks the right. */
    private boolean isAllowed(IscsiSession session, Row row) throws Exception {
        while (true) {
            CompletableFuture<Integer> sense = new CompletableFuture<>();
            CompletableFuture<Boolean> again = new CompletableFuture<>();
            session.submit(row.command.fill(session.acquire(LIMIT.toNanos()), memory).onCompletion(done -> {
                sense.complete(done.sense());
                again.complete(done.wasReset());
            }));
            // The first command to each unit of a new session ends with a unit attention, so the command is sent again.
            if (!again.get(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                RoundSense none = RoundSense.NO_RIGHT;
                int noRight = none.sense().key() << 16 | none.sense().asc() << 8 | none.sense().ascq();
                return sense.get() != noRight;
            }
        }
    }

    private void assertTable(ParameterServer at, List<Row> rows) throws Exception {
        Map<String, Set<Right>> expected = new TreeMap<>();
        Map<String, Set<Right>> found = new TreeMap<>();
        for (Right right : Right.values()) {
            try (IscsiSession session = logIn(at, right.toString(), LEARNER + "of-" + right)) {
                for (Row row : rows) {
                    expected.put(row.name, EnumSet.copyOf(row.allowed));
                    Set<Right> allowed = found.computeIfAbsent(row.name, name -> EnumSet.noneOf(Right.class));
                    if (isAllowed(session, row)) {
                        allowed.add(right);
                    }
                }
            }
        }
        assertThat(found).isEqualTo(expected);
    }

    @Test
    void eachCommandOfAShardNeedsItsRight() throws Exception {
        assertTable(server, rowsOfTheShard());
    }

    @Test
    void eachCommandOfABackupNeedsItsRight() throws Exception {
        assertTable(backup, rowsOfABackup());
    }

    /** Sends a command until the session has no unit attention, and returns the message of its failure. */
    private String failure(IscsiSession session, Row row) throws Exception {
        for (int attempt = 0; attempt < 2; attempt++) {
            CompletableFuture<String> end = new CompletableFuture<>();
            session.submit(row.command.fill(session.acquire(LIMIT.toNanos()), memory).onCompletion(
                done -> end
                    .complete(done.isToBeRetried() ? null : done.exception(session.shard(), "a test").getMessage())));
            String message = end.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            if (message != null) {
                return message;
            }
        }
        throw new AssertionError("the command fails with a unit attention at each attempt");
    }

    @Test
    void refusalOfACommandNamesTheInitiatorItsUserAndTheRights() throws Exception {
        Map<String, Row> rows = new TreeMap<>();
        rowsOfTheShard().forEach(row -> rows.put(row.name, row));
        try (IscsiSession session = logIn(server, "status", LEARNER + "curious")) {
            String line = "but user 'status' has may=status in the shard's secrets file as initiator " + LEARNER
                + "curious (sense key 5h, ASC 20h, ASCQ 02h)";
            assertThat(failure(session, rows.get("JOIN"))).endsWith("training needs may=learn, " + line);
            assertThat(failure(session, rows.get("PUSH of LUN 0"))).endsWith("training needs may=learn, " + line);
            assertThat(failure(session, rows.get("READ of LUN 1")))
                .endsWith("a read of LUN 1 needs may=learn, " + line);
            assertThat(failure(session, rows.get("WRITE of LUN 1")))
                .endsWith("a write of LUN 1 needs may=raw, " + line);
            assertThat(failure(session, rows.get("CHECKPOINT")))
                .endsWith("a request for a checkpoint needs may=raw, " + line);
        }
        try (IscsiSession session = logIn(backup, "status", LEARNER + "curious")) {
            assertThat(failure(session, rowsOfABackup().getFirst())).contains("sending records needs may=replicate");
        }
    }

    @Test
    void observerNameOutsideAUsersPatternsAllowsOnlyTheStatus() throws Exception {
        try (IscsiSession session = logIn(server, "owner", ChapSecrets.OBSERVER_INITIATOR + "1")) {
            for (Row row : rowsOfTheShard()) {
                assertThat(isAllowed(session, row)).as(row.name).isEqualTo(row.allowed.contains(Right.STATUS));
            }
        }
    }

    private static boolean mayLogIn(ParameterServer at, String user, String name) {
        try (IscsiSession session = logIn(at, user, name)) {
            return session.isOpen();
        } catch (ShardException e) {
            assertThat(e.kind()).isIn(ShardException.Kind.ACCESS_DENIED, ShardException.Kind.REFUSED);
            return false;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void eachInitiatorNameIsAcceptedOnlyFromItsUsers() {
        Map<String, Set<String>> expected = Map.of(
            LEARNER + "owned", Set.of("owner"),
            LEARNER + "owned.", Set.of(),
            LEARNER + "Owned", Set.of(),
            LEARNER + "other", Set.of("learn", "raw", "replicate", "status"),
            ChapSecrets.OBSERVER_INITIATOR + "1", Set.of("owner", "learn", "raw", "replicate", "status"),
            ChapSecrets.PRIMARY_INITIATOR + "0-1", Set.of("replicate"));
        for (ParameterServer at : List.of(server, backup)) {
            expected.forEach((name, users) -> assertThat(
                List.of("owner", "learn", "raw", "replicate", "status").stream()
                    .filter(user -> mayLogIn(at, user, name)))
                .as(name).containsExactlyInAnyOrderElementsOf(users));
        }
    }
}
