package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.coordination.Coordinator;
import io.modeldisk.fault.coordination.CoordinatorContext;
import io.modeldisk.fault.coordination.ShardRole;
import io.modeldisk.fault.coordination.ShardRoleContext;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.login.TargetAddress;
import io.modeldisk.protocol.login.chap.ChapSecrets;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.striping.ShardLocator;
import io.modeldisk.protocol.striping.StripedModel;
import io.modeldisk.protocol.striping.StripedModelContext;
import io.modeldisk.server.replica.BackupSettings;
import io.modeldisk.server.replica.BackupStatus;
import io.modeldisk.server.replica.Backups;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes of one shard with a coordinator, all in one process: they find their roles, hand over and take over. */
@Timeout(180)
class ReplicaServerTest {
    private static final int PAGE = 4096;
    private static final int SIZE = 64 * PAGE;
    private static final Duration SESSION = Duration.ofSeconds(2);
    private static final Duration BOUND = Duration.ofSeconds(60);

    @TempDir
    private Path state;

    private final List<Process> processes = new ArrayList<>();
    private Coordinator coordinator;
    /** The secrets file of all processes; null if there is none. */
    private ChapSecrets secrets;

    /** A process: the thread that runs the server. */
    private final class Process {
        final ReplicaServer server = new ReplicaServer(this::context, this::register, TargetAddress::text, 1, _ -> {});
        final Thread thread = Thread.ofPlatform().daemon().name("replica").unstarted(this::run);
        volatile Throwable failure;

        Process() {
            processes.add(this);
            thread.start();
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

        private ServerContext context() {
            return new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(4 * PAGE)
                .listen(new InetSocketAddress("127.0.0.1", 0)).aggregator("sum", Aggregators.parse("sum"))
                .consistency("bsp").learners(1).lease(Duration.ofSeconds(60))
                .access(AccessPolicy.THIS_MACHINE.withSecrets(secrets))
                .backups(new BackupSettings(Duration.ofSeconds(20), Route.Preference.TCP, state,
                    secrets == null ? null : secrets.ofPrimary(), 1 << 20));
        }

        private ShardRole register(ModelFacts facts, InetSocketAddress address,
            Runnable changed) throws IOException {
            return ShardRole.register(new ShardRoleContext().coordinator(coordinatorContext()).model("m").shard(0, 1)
                .options(Map.of()).address(TargetAddress.text(address)).changed(changed));
        }

        boolean serves() {
            ShardRole role = server.role();
            return role != null && role.mayServe() && server.server() != null && !server.server().shard().isBackup();
        }

        boolean hasBackup() {
            Backups backups = serves() ? server.server().shard().replication().backups() : null;
            return backups != null && backups.status().stream().anyMatch(BackupStatus::inSync);
        }

        /** Stops the process in order, as SIGTERM does. */
        void stop() {
            processes.remove(this);
            thread.interrupt();
            await("the process ends", BOUND, () -> !thread.isAlive());
        }
    }

    private CoordinatorContext coordinatorContext() {
        return new CoordinatorContext(List.of(coordinator.localAddress())).session(SESSION);
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
        await("a process is primary with a backup in sync", BOUND,
            () -> processes.stream().anyMatch(Process::hasBackup));
        return processes.stream().filter(Process::hasBackup).findFirst().orElseThrow();
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
            .secrets(secrets == null ? null : ChapSecrets.parse("self " + label + " theSecretOfALearner", label))
            .commandTimeout(Duration.ofSeconds(20)));
    }

    /** Trains, and disturbs the processes after some rounds. Each round adds its number to each weight. */
    private void train(Callable<?> disturbance) throws Exception {
        AtomicInteger done = new AtomicInteger();
        AtomicInteger last = new AtomicInteger(Integer.MAX_VALUE);
        try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor();
            StripedModel model = connect("learner");
            DataMemory memory = DataMemory.allocate(SIZE)) {
            Future<Long> learner = pool.submit(() -> {
                long sum = 0;
                for (int round = 1; round <= last.get(); round++) {
                    for (int i = 0; i < SIZE; i += Float.BYTES) {
                        memory.slab(0).set(ValueLayout.JAVA_FLOAT, i, round % 8);
                    }
                    sum += round % 8;
                    model.push(0, memory, 0, SIZE, Cancellation.NONE);
                    model.pull(0, memory, 0, SIZE, Cancellation.NONE);
                    for (int i = 0; i < SIZE; i += PAGE) {
                        assertThat(memory.slab(0).get(ValueLayout.JAVA_FLOAT, i)).as("round " + round).isEqualTo(sum);
                    }
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

    @Test
    void processesStartedAlikeFindTheirRolesAndHandOverWithoutAnError() throws Exception {
        new Process();
        awaitPrimary();
        new Process();
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            try (StripedModel model = connect("operator")) {
                model.requestHandOver(0);
            }
            await("another process is the primary", BOUND, () -> awaitPrimary() != first);
            return null;
        });
        assertThat(awaitPrimaryWithBackup()).isNotSameAs(first);
    }

    @Test
    void primaryThatIsStoppedHandsOver() throws Exception {
        new Process();
        awaitPrimary();
        new Process();
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            first.stop();
            return null;
        });
        assertThat(awaitPrimary()).isNotSameAs(first);
    }

    @Test
    void backupTakesOverFromAPrimaryWhoseSessionHasEnded() throws Exception {
        new Process();
        awaitPrimary();
        new Process();
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            first.server.role().close();
            await("another process is the primary", BOUND, () -> awaitPrimary() != first);
            return null;
        });
        assertThat(awaitPrimary()).isNotSameAs(first);
    }

    @Test
    void processesWithASecretsFileAuthenticateEachOtherAfterEachChange() throws Exception {
        secrets = ChapSecrets.parse("""
            self    shards   theShardsOwnSecret1
            replica records  theSecretOfTheRecords
            peer    learner  theSecretOfALearner
            peer    operator theSecretOfALearner may=raw,status
            """, "test");
        new Process();
        awaitPrimary();
        new Process();
        Process first = awaitPrimaryWithBackup();
        train(() -> {
            try (StripedModel model = connect("operator")) {
                model.requestHandOver(0);
            }
            await("another process is the primary", BOUND, () -> awaitPrimary() != first);
            return null;
        });
        assertThat(awaitPrimaryWithBackup()).isNotSameAs(first);
    }

    @Test
    void primaryWithoutABackupRefusesToHandOver() throws Exception {
        new Process();
        awaitPrimary();
        try (StripedModel model = connect("operator")) {
            assertThatThrownBy(() -> model.requestHandOver(0))
                .hasMessageContaining("no backup of the shard is in sync");
        }
    }
}
