package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.checkpoint.CheckpointLoader;
import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.coordination.Coordinator;
import io.modeldisk.fault.coordination.CoordinatorContext;
import io.modeldisk.fault.coordination.ShardRole;
import io.modeldisk.fault.coordination.ShardRoleContext;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.fault.replica.BackupStatus;
import io.modeldisk.fault.replica.Backups;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.server.role.ReplicaServer;
import io.modeldisk.server.role.ServerObserver;
import io.modeldisk.striping.ShardLocator;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Simulates several processes of one shard, and a coordinator, in one process. The simulated processes get their roles, hand over
 * and take over.
 */
@Timeout(180)
class ReplicaServerTest {
    private static final int PAGE = 4096;
    private static final int SIZE = 64 * PAGE;
    private static final Duration SESSION = Duration.ofSeconds(2);
    private static final Duration BOUND = Duration.ofSeconds(60);

    @TempDir
    private Path state;

    private final List<Process> processes = new CopyOnWriteArrayList<>();
    private final AtomicReference<Step> killed = new AtomicReference<>();
    private int maxBackups = 1;
    private CheckpointSettings checkpoints;
    private Coordinator coordinator;
    /** The secrets file of all processes; null if there is none. */
    private ChapSecrets secrets;

    /** The steps at which the test can end a new primary. */
    private enum Step {
        /** The process is prepared to serve, but has not accepted the epoch. */
        PREPARED,
        /** The process serves, but no learner has connected. */
        SERVES
    }

    /** A simulated process: a thread that runs a {@link ReplicaServer}. */
    private final class Process implements ServerObserver {
        final ReplicaServer server = new ReplicaServer(this::context, this::register, this::advertise,
            maxBackups, this::announce, this);
        final Thread thread = Thread.ofPlatform().daemon().name("replica").unstarted(this::run);
        volatile Throwable failure;
        private volatile Runnable roleChanged;
        /** The open server, which the admin page would show; null if there is none. */
        private ParameterServer open;

        private final int port;

        Process() {
            this(0);
        }

        Process(int port) {
            this.port = port;
            processes.add(this);
            thread.start();
        }

        @Override
        public void waits(ModelFacts facts, LongSupplier epoch) {
            throw new AssertionError("a process of a shard with backups is a backup, not a standby");
        }

        @Override
        public synchronized void opened(ParameterServer next) {
            if (open != null) {
                failure = new AssertionError("a server was opened before the last one was closed");
            }
            open = next;
        }

        @Override
        public synchronized void closes(String reason) {
            if (open != null) {
                // This call fails if the shard is already closed.
                open.shard().status();
            }
            open = null;
        }

        private void run() {
            try {
                server.run();
            } catch (InterruptedException e) {
                // stop() has ended the process.
            } catch (IOException | RuntimeException | Error e) {
                failure = e;
            }
        }

        /** Called when this process is prepared to be the primary. */
        private String advertise(InetSocketAddress address) {
            killAt(Step.PREPARED);
            return TargetAddress.text(address);
        }

        private void announce(ReplicaServer replica) {
            if (!replica.server().shard().isBackup()) {
                killAt(Step.SERVES);
            }
        }

        private void killAt(Step step) {
            if (killed.compareAndSet(step, null)) {
                processes.remove(this);
                throw new IllegalStateException("the process ends here");
            }
        }

        private ServerContext context(long startAtMost) {
            ServerContext context = new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(4 * PAGE)
                .listen(new InetSocketAddress("127.0.0.1", port)).aggregator("sum", Aggregators.parse("sum"))
                .consistency("bsp").learners(1).lease(Duration.ofSeconds(60))
                .network(network -> network.access(new AccessPolicy(secrets, false, List.of()))
                    .maxFailureDelay(Duration.ZERO))
                .backups(new BackupSettings(Duration.ofSeconds(20), Route.Preference.TCP, state,
                    secrets == null ? null : secrets.ofPrimary(), 1 << 20));
            return checkpoints == null ? context : context.checkpoints(checkpoints.startingAtMost(startAtMost));
        }

        private ShardRole register(ModelFacts facts, InetSocketAddress address,
            Runnable changed) throws IOException {
            roleChanged = changed;
            return ShardRole.register(new ShardRoleContext(coordinatorContext(), "m", 0, 1, Map.of(),
                TargetAddress.text(address), "localhost", Duration.ofSeconds(1), changed, NanoClock.SYSTEM));
        }

        boolean serves() {
            ShardRole role = server.role();
            return role != null && role.mayServe() && server.server() != null && !server.server().shard().isBackup();
        }

        long backupsInSync() {
            Backups backups = serves() ? server.server().shard().replication().backups() : null;
            return backups == null ? 0 : backups.status().stream().filter(BackupStatus::inSync).count();
        }

        /** Ends the session with the coordinator, after which this process no longer serves. */
        void endSession() {
            processes.remove(this);
            server.role().close();
            roleChanged.run();
            await("the process ends", BOUND, () -> !thread.isAlive());
        }

        /** Stops the process in order, as SIGTERM does. */
        void stop() {
            processes.remove(this);
            thread.interrupt();
            await("the process ends", BOUND, () -> !thread.isAlive());
        }
    }

    private CoordinatorContext coordinatorContext() {
        return new CoordinatorContext(List.of(coordinator.localAddress()), SESSION);
    }

    @BeforeEach
    void launchCoordinator() throws IOException {
        coordinator = Coordinator.launch(new InetSocketAddress("127.0.0.1", 0), state.resolve("zk"), null);
    }

    @AfterEach
    void close() {
        List.copyOf(processes).forEach(Process::stop);
        coordinator.close();
    }

    private Process awaitPrimary() {
        await(() -> "a process is primary: " + processes.stream().map(each -> String.valueOf(each.failure)).toList(),
            BOUND,
            () -> processes.stream().anyMatch(Process::serves));
        return processes.stream().filter(Process::serves).findFirst().orElseThrow();
    }

    private Process awaitPrimaryWithBackup() {
        await("a process is primary with its backups in sync", BOUND,
            () -> processes.stream().anyMatch(each -> each.backupsInSync() == maxBackups));
        return processes.stream().filter(each -> each.backupsInSync() == maxBackups).findFirst().orElseThrow();
    }

    /** Finds the primary among the processes of this test. */
    private final class Locator implements ShardLocator {
        @Override
        public String model() {
            return "m";
        }

        @Override
        public int shardCount() {
            return 1;
        }

        @Override
        public InetSocketAddress portal(int shard) {
            return List.copyOf(processes).stream().filter(Process::serves)
                .map(each -> each.server.server().localAddress())
                .findFirst().orElseGet(() -> new InetSocketAddress("127.0.0.1", 1));
        }
    }

    private StripedModel connect(String label) throws IOException {
        return StripedModel.connect(new StripedModelContext(new Locator()).learner(label).reconnectTimeout(BOUND)
            .sessions(session -> session.commandTimeout(Duration.ofSeconds(20)).secrets(
                secrets == null ? null : ChapSecrets.parse("self " + label + " theSecretOf-" + label, label))));
    }

    private void startTwo() {
        new Process();
        awaitPrimary();
        new Process();
    }

    /** Pushes a gradient with this value everywhere, and pulls the weights. Returns the first weight. */
    private static float round(StripedModel model, DataMemory memory, float value) throws IOException {
        Weights.fill(memory.segment(0, SIZE), value);
        model.push(0, memory, 0, SIZE, Cancellation.NONE);
        model.pull(0, memory, 0, SIZE, Cancellation.NONE);
        return memory.slab(0).get(ValueLayout.JAVA_FLOAT, 0);
    }

    private void assertWeights(float expected) throws IOException {
        try (StripedModel model = connect("reader"); DataMemory memory = DataMemory.allocate(SIZE)) {
            model.read(0, memory, 0, SIZE, Cancellation.NONE);
            assertWeights(memory, expected);
        }
    }

    private static void assertWeights(DataMemory memory, float expected) {
        for (int i = 0; i < SIZE; i += PAGE) {
            assertThat(memory.slab(0).get(ValueLayout.JAVA_FLOAT, i)).as("weight at byte %d", i).isEqualTo(expected);
        }
    }

    private static void assertLossIsReported(StripedModel model, DataMemory memory) {
        assertThatThrownBy(() -> round(model, memory, 1)).isInstanceOfSatisfying(ShardException.class,
            failure -> assertThat(failure.kind()).isEqualTo(ShardException.Kind.WENT_BACK));
    }

    /** Trains, and runs {@code disturbance} after some rounds. Each round adds its number modulo 8 to each weight. */
    private void train(Callable<?> disturbance) throws Exception {
        AtomicInteger done = new AtomicInteger();
        AtomicInteger last = new AtomicInteger(Integer.MAX_VALUE);
        try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor();
            StripedModel model = connect("learner");
            DataMemory memory = DataMemory.allocate(SIZE)) {
            Future<Long> learner = pool.submit(() -> {
                long sum = 0;
                for (int round = 1; round <= last.get(); round++) {
                    sum += round % 8;
                    round(model, memory, round % 8);
                    assertWeights(memory, sum);
                    done.set(round);
                }
                return sum;
            });
            await("rounds are done", BOUND, () -> done.get() >= 20 || learner.isDone());
            disturbance.call();
            int before = done.get();
            await("more rounds are done", BOUND, () -> done.get() >= before + 20 || learner.isDone());
            last.set(done.get() + 5);
            assertThat(learner.get(60, TimeUnit.SECONDS)).isPositive();
        }
    }

    private void requestHandOver() throws IOException {
        try (StripedModel model = connect("operator")) {
            model.requestHandOver(0);
        }
    }

    private void handOverDuringTraining() throws Exception {
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            requestHandOver();
            await("another process is the primary", BOUND, () -> awaitPrimary() != first);
            return null;
        });
        assertThat(awaitPrimaryWithBackup()).isNotSameAs(first);
    }

    @Test
    void primaryForgetsAStoppedBackupBeforeANewBackupUsesItsAddress() throws Exception {
        maxBackups = 2;
        new Process();
        Process primary = awaitPrimary();
        Process backup = new Process();
        await("the backup is in sync", BOUND, () -> primary.backupsInSync() == 1);
        int port = backup.server.server().localAddress().getPort();
        // No record is sent, so only the coordinator can notify the primary that the backup has stopped.
        backup.stop();
        Backups backups = primary.server.server().shard().replication().backups();
        await("the backup is forgotten", BOUND, () -> backups.status().isEmpty());
        Process next = new Process(port);
        await("the next backup is in sync", BOUND, () -> primary.backupsInSync() == 1);
        assertThat(backups.status()).extracting(BackupStatus::name).containsExactly(next.server.role().id());
        try (StripedModel model = connect("learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
            assertThat(round(model, memory, 1)).isEqualTo(1);
        }
        primary.stop();
        await("the next backup serves", BOUND, next::serves);
        assertWeights(1);
    }

    @Test
    void primaryThatIsStoppedHandsOver() throws Exception {
        startTwo();
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            first.stop();
            return null;
        });
        assertThat(awaitPrimary()).isNotSameAs(first);
    }

    @Test
    void backupTakesOverFromAPrimaryWhoseSessionHasEnded() throws Exception {
        startTwo();
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            first.server.role().close();
            await("another process is the primary", BOUND, () -> awaitPrimary() != first);
            return null;
        });
        assertThat(awaitPrimary()).isNotSameAs(first);
    }

    @Test
    void processesWithASecretsFileAuthenticateEachOtherAfterAHandover() throws Exception {
        secrets = ChapSecrets.parse("""
            self    shards   theShardsOwnSecret1
            replica records  theSecretOfTheRecords
            peer    learner  theSecretOf-learner
            peer    operator theSecretOf-operator may=raw,status
            """, "test");
        new Process();
        awaitPrimary();
        new Process();
        handOverDuringTraining();
    }

    private void logInEverywhere(Strangers strangers) throws Exception {
        List<Process> all = processes.stream().filter(each -> each.server.server() != null).toList();
        strangers.logInEverywhere(all.stream().map(each -> each.server.server()).toList(),
            all.stream().map(each -> each.server.role().id()).toList());
    }

    @Test
    void usersWithOneRightCannotDisturbAJobUnderAnyOfItsNames() throws Exception {
        secrets = ChapSecrets.parse("""
            self    shards    theShardsOwnSecret1
            replica records   theSecretOfTheRecords
            peer    learner   theSecretOf-learner   %s
            peer    reader    theSecretOf-reader
            peer    learn     theSecretOf-learn     may=learn
            peer    raw       theSecretOf-raw       may=raw
            peer    replicate theSecretOf-replicate may=replicate
            peer    status    theSecretOf-status    may=status
            """.formatted(Strangers.LEARNER), "test");
        startTwo();
        Process first = awaitPrimaryWithBackup();
        try (Strangers strangers = new Strangers()) {
            logInEverywhere(strangers);
            train(() -> {
                logInEverywhere(strangers);
                first.endSession();
                Process second = awaitPrimary();
                logInEverywhere(strangers);
                assertThat(second.server.server().shard().learners().roster().members())
                    .allMatch(learner -> learner.key().user().equals("learner"));
                return null;
            });
            new Process();
            awaitPrimaryWithBackup();
            logInEverywhere(strangers);
            try (StripedModel model = connect("learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
                float before = round(model, memory, 1);
                assertThat(round(model, memory, 2)).isEqualTo(before + 2);
            }
        }
    }

    @Test
    void primaryContinuesToServeWhenItsSuccessorEndsBeforeAccepting() throws Exception {
        startTwo();
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            killed.set(Step.PREPARED);
            requestHandOver();
            await("the successor has ended", BOUND, () -> processes.size() == 1);
            return null;
        });
        assertThat(awaitPrimary()).isSameAs(first);
        assertThat(first.server.role().epoch()).isEqualTo(1);
        new Process();
        assertThat(awaitPrimaryWithBackup()).isSameAs(first);
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void thirdProcessHasAllUpdatesWhenTheProcessThatTookOverEnds(Step step) throws Exception {
        maxBackups = 2;
        startTwo();
        new Process();
        Process first = awaitPrimaryWithBackup();
        try (StripedModel model = connect("learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
            assertThat(round(model, memory, 3)).isEqualTo(3);
            killed.set(step);
            first.endSession();
            await("the second process has ended", BOUND, () -> processes.size() == 1);
            awaitPrimary();
            assertWeights(3);
            assertThat(round(model, memory, 4)).isEqualTo(7);
        }
        assertThat(awaitPrimary().server.role().epoch()).isEqualTo(3);
    }

    @Test
    void learnersGetAnErrorWhenAProcessThatWasNotInSyncServes() throws Exception {
        startTwo();
        Process first = awaitPrimaryWithBackup();
        try (StripedModel model = connect("learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
            round(model, memory, 3);
            first.server.role().inSync(Set.of(first.server.role().id()));
            first.endSession();
            awaitPrimary();
            assertLossIsReported(model, memory);
        }
    }

    private void takeCheckpoints() {
        checkpoints = new CheckpointSettings(state.resolve("checkpoints"), CheckpointPeriod.parse("1h"), 3);
    }

    private void takeCheckpoint(StripedModel model, long number) throws IOException {
        model.requestCheckpoint();
        await("the checkpoint is complete", BOUND, () -> newestCheckpoint() == number);
    }

    private long newestCheckpoint() throws IOException {
        return CheckpointLoader.newest(checkpoints).number();
    }

    @Test
    void processWithoutTheUpdatesServesFromTheNewestCheckpoint() throws Exception {
        takeCheckpoints();
        new Process();
        Process first = awaitPrimary();
        try (StripedModel model = connect("learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
            round(model, memory, 3);
            takeCheckpoint(model, 1);
            assertThat(round(model, memory, 4)).isEqualTo(7);
            first.endSession();
            new Process();
            awaitPrimary();
            assertWeights(3);
            assertLossIsReported(model, memory);
            model.goOn();
            assertThat(round(model, memory, 1)).isEqualTo(4);
        }
    }

    @Test
    void backupContinuesTheCheckpointsOfTheFormerPrimary() throws Exception {
        takeCheckpoints();
        startTwo();
        Process first = awaitPrimaryWithBackup();
        try (StripedModel model = connect("learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
            round(model, memory, 3);
            takeCheckpoint(model, 1);
            round(model, memory, 4);
            first.stop();
            assertThat(newestCheckpoint()).as("newest checkpoint after a handover, which takes none").isEqualTo(1);
            Process second = awaitPrimary();
            assertThat(round(model, memory, 5)).isEqualTo(12);
            takeCheckpoint(model, 2);
            assertThat(CheckpointLoader.newest(checkpoints).round()).isEqualTo(3);
            assertThat(round(model, memory, 6)).isEqualTo(18);
            second.stop();
            assertThat(newestCheckpoint()).isEqualTo(3);
            new Process();
            awaitPrimary();
            assertThat(round(model, memory, 7)).as("weight after a restart without a loss").isEqualTo(25);
        }
    }

    @Test
    void processWithAllUpdatesServesEvenIfTheCheckpointDirectoryIsUnusable() throws Exception {
        takeCheckpoints();
        startTwo();
        Process first = awaitPrimaryWithBackup();
        try (StripedModel model = connect("learner"); DataMemory memory = DataMemory.allocate(SIZE)) {
            round(model, memory, 3);
            Files.move(checkpoints.state(), state.resolve("moved"));
            Files.createFile(checkpoints.state());
            first.endSession();
            assertThat(round(model, memory, 4)).isEqualTo(7);
            Files.delete(checkpoints.state());
        }
    }

    @Test
    void primaryWithoutABackupRefusesToHandOver() throws Exception {
        new Process();
        awaitPrimary();
        assertThatThrownBy(this::requestHandOver).hasMessageContaining("no backup of the shard is in sync");
    }
}
