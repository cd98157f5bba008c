package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.replica.Backup;
import io.modeldisk.fault.replica.BackupMembers;
import io.modeldisk.fault.replica.BackupSettings;
import io.modeldisk.fault.replica.Backups;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.access.AccessPolicy;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.server.role.ReplicaMembers;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.test.NetworkPath;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Several processes of one shard, in one process: learners train at the primary, and at a backup after it has taken over.
 * Gradients are small integers, so float32 sums are exact in any order.
 */
@Timeout(120)
class TakeoverTest {
    private static final int PAGE = 4096;
    private static final int BLOCK = 4 * PAGE;
    private static final int SIZE = 20 * BLOCK + 2 * PAGE;
    private static final int LEARNERS = 2;
    private static final int BUFFER = 1 << 20;
    private static final long SEED = 20261122;

    @TempDir
    private Path sockets;

    private final AtomicLong epoch = new AtomicLong();
    private final List<Replica> replicas = new ArrayList<>();
    private NetworkPath address;

    /** One process that may serve the shard. */
    private final class Replica implements BackupMembers {
        final String name;
        final TargetPortGroups gate = new TargetPortGroups(1, 1, AccessState.STANDBY);
        final Set<String> inSync = ConcurrentHashMap.newKeySet();
        final ParameterServer server;
        final Route.Preference datamover;
        Backups backups;
        long ownEpoch;

        Replica(String name, String consistency, Route.Preference datamover) throws IOException {
            this.name = name;
            this.datamover = datamover;
            ServerContext context = new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(BLOCK)
                .listen(new InetSocketAddress(hostOf(datamover), 0))
                .aggregator("sum", Aggregators.parse("sum"))
                .consistency(consistency).learners(LEARNERS).lease(Duration.ofSeconds(60)).portGroups(gate)
                .network(network -> network.access(new AccessPolicy(null, true, List.of()))
                    .datamovers(openers(datamover)))
                .backups(new BackupSettings(Duration.ofSeconds(20), datamover, sockets, null, BUFFER));
            this.server = ParameterServer.launch(context);
            replicas.add(this);
        }

        Backup asBackup() {
            return new Backup(name, server.localAddress());
        }

        void lead(Replica... others) throws IOException {
            lead(this, others);
        }

        void lead(BackupMembers members, Replica... others) throws IOException {
            ownEpoch = epoch.incrementAndGet();
            backups = server.shard().lead(ownEpoch, name, members);
            gate.become(AccessState.ACTIVE);
            backups.set(Arrays.stream(others).map(Replica::asBackup).toList());
        }

        void awaitInSync(Replica other) {
            await(() -> other.name + " is in sync with " + name + ": " + backups.status(), Duration.ofSeconds(30),
                () -> inSync.contains(other.name));
        }

        @Override
        public void add(String backup) throws IOException {
            check();
            inSync.add(backup);
        }

        @Override
        public void removeEarlier() throws IOException {
            check();
        }

        @Override
        public void remove(String backup) throws IOException {
            check();
            inSync.remove(backup);
        }

        @Override
        public void removeUnconfirmed() throws IOException {
            check();
        }

        private void check() throws IOException {
            if (epoch.get() != ownEpoch) {
                gate.become(AccessState.STANDBY);
                throw new IOException("another process is the primary");
            }
        }

        void kill() {
            replicas.remove(this);
            server.close();
        }
    }

    /** The address at which a process listens; for iSER, the address of an RDMA device. */
    private static InetAddress hostOf(Route.Preference datamover) throws IOException {
        return datamover == Route.Preference.ISER
            ? IserProvider.find().addresses().getFirst()
            : InetAddress.getLoopbackAddress();
    }

    private List<TargetPortal.Opener> openers(Route.Preference datamover) {
        return datamover == Route.Preference.ISER
            ? List.of(new TcpPortal.Opener(), IserProvider.find().opener())
            : List.of(new TcpPortal.Opener(), new ShmPortal.Opener(sockets, new MappingLimits()));
    }

    @AfterEach
    void close() throws IOException {
        if (address != null) {
            address.close();
        }
        List.copyOf(replicas).forEach(Replica::kill);
    }

    private StripedModel connect(String learner) throws IOException {
        return StripedModel.connect(new StripedModelContext(new ModelAddress(List.of(address.address()), "m"))
            .learner(learner).sessions(session -> session.commandTimeout(Duration.ofSeconds(20)))
            .reconnectTimeout(Duration.ofSeconds(30))
            .waitTimeout(Duration.ofSeconds(60)));
    }

    private static void fill(DataMemory memory, int page, float value) {
        Weights.fill(memory.segment((long) page * PAGE, PAGE), value);
    }

    private static int gradient(int learner, int round, int page) {
        return new SplittableRandom(SEED + 31L * (31L * learner + round) + page).nextInt(-4, 5);
    }

    /**
     * The weight of a page after all learners have pushed {@code rounds} rounds. A round adds the mean of the gradients if {@code
     * mean} is set, as in bsp, and otherwise their sum.
     */
    private static float expected(int rounds, int page, boolean mean) {
        float sum = 0;
        for (int round = 1; round <= rounds; round++) {
            for (int learner = 0; learner < LEARNERS; learner++) {
                sum += gradient(learner, round, page) * (mean ? 1f / LEARNERS : 1);
            }
        }
        return sum;
    }

    /** Pushes each round in two pieces of random sizes, and pulls after each round. */
    private Void learn(int number, int rounds, AtomicInteger done, CyclicBarrier joined) throws Exception {
        SplittableRandom random = new SplittableRandom(SEED + number);
        try (StripedModel model = connect("learner" + number); DataMemory memory = DataMemory.allocate(SIZE)) {
            model.join();
            joined.await(60, TimeUnit.SECONDS);
            for (int round = 1; round <= rounds; round++) {
                for (int page = 0; page < SIZE / PAGE; page++) {
                    fill(memory, page, gradient(number, round, page));
                }
                int cut = random.nextInt(1, SIZE / PAGE) * PAGE;
                model.push(0, memory, 0, cut, Cancellation.NONE);
                model.push(cut, memory, cut, SIZE - cut, Cancellation.NONE);
                model.pull(0, memory, 0, SIZE, Cancellation.NONE);
                done.incrementAndGet();
            }
            model.synchronize(Cancellation.NONE);
        }
        return null;
    }

    private void assertWeights(int rounds, boolean mean) throws IOException {
        try (StripedModel model = connect("reader"); DataMemory memory = DataMemory.allocate(SIZE)) {
            model.read(0, memory, 0, SIZE, Cancellation.NONE);
            for (int page = 0; page < SIZE / PAGE; page++) {
                assertThat(memory.slab(0).get(ValueLayout.JAVA_FLOAT, (long) page * PAGE)).as("logical block " + page)
                    .isEqualTo(expected(rounds, page, mean));
            }
        }
    }

    /** Runs all learners. Runs {@code disturbance} after a third of the rounds. */
    private void train(int rounds, Disturbance disturbance) throws Exception {
        AtomicInteger done = new AtomicInteger();
        CyclicBarrier joined = new CyclicBarrier(LEARNERS);
        try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Void>> learners = new ArrayList<>();
            for (int i = 0; i < LEARNERS; i++) {
                int number = i;
                learners.add(pool.submit(() -> learn(number, rounds, done, joined)));
            }
            await(() -> "a third of the rounds is done: " + done, Duration.ofSeconds(60),
                () -> done.get() >= LEARNERS * rounds / 3 || learners.stream().anyMatch(Future::isDone));
            disturbance.run();
            for (Future<Void> learner : learners) {
                learner.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @FunctionalInterface
    private interface Disturbance {
        void run() throws Exception;
    }

    @ParameterizedTest
    @CsvSource({"asp, TCP", "ssp:1, TCP", "bsp, TCP", "asp, SHM", "bsp, SHM"})
    void eachPushCountsOnceAfterABackupTakesOverFromADeadPrimary(String consistency, Route.Preference datamover)
        throws Exception {
        takeOver(consistency, datamover, 60);
    }

    @Tag("softroce")
    @Timeout(600)
    @ParameterizedTest
    @ValueSource(strings = {"asp", "bsp"})
    void eachPushCountsOnceAfterATakeoverWithRecordsOverIser(String consistency) throws Exception {
        assumeTrue(IserProvider.find().unavailabilityCause() == null,
            "this test needs RDMA: " + IserProvider.find().unavailabilityCause());
        takeOver(consistency, Route.Preference.ISER, 15);
    }

    private void takeOver(String consistency, Route.Preference datamover, int rounds) throws Exception {
        Replica first = new Replica("a", consistency, datamover);
        Replica second = new Replica("b", consistency, datamover);
        address = new NetworkPath(first.server.localAddress());
        first.lead(second);
        first.awaitInSync(second);
        train(rounds, () -> {
            second.lead();
            address.moveTo(second.server.localAddress());
            first.kill();
        });
        assertWeights(rounds, consistency.equals("bsp"));
    }

    @ParameterizedTest
    @CsvSource({"asp", "bsp"})
    void backupThatStartsLaterCatchesUpWhileLearnersPush(String consistency) throws Exception {
        Replica first = new Replica("a", consistency, Route.Preference.TCP);
        address = new NetworkPath(first.server.localAddress());
        first.lead();
        int rounds = 90;
        train(rounds, () -> {
            Replica second = new Replica("b", consistency, Route.Preference.TCP);
            first.backups.set(List.of(second.asBackup()));
            first.awaitInSync(second);
            second.lead();
            address.moveTo(second.server.localAddress());
            first.kill();
        });
        assertWeights(rounds, consistency.equals("bsp"));
    }

    @Test
    void writtenRawWeightsSurviveATakeover() throws Exception {
        Replica first = new Replica("a", "asp", Route.Preference.TCP);
        Replica second = new Replica("b", "asp", Route.Preference.TCP);
        address = new NetworkPath(first.server.localAddress());
        first.lead(second);
        first.awaitInSync(second);
        byte[] written = new byte[SIZE];
        new SplittableRandom(SEED).nextBytes(written);
        try (StripedModel model = connect("operator"); DataMemory memory = DataMemory.allocate(SIZE)) {
            MemorySegment.copy(written, 0, memory.slab(0), ValueLayout.JAVA_BYTE, 0, SIZE);
            model.write(0, memory, 0, SIZE, Cancellation.NONE);
            second.lead();
            address.moveTo(second.server.localAddress());
            first.kill();
            memory.slab(0).fill((byte) 0);
            model.read(0, memory, 0, SIZE, Cancellation.NONE);
            assertThat(memory.slab(0).asSlice(0, SIZE).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(written);
        }
    }

    @Test
    void unconfirmedBackupIsRemovedBeforeAPushThatItLacksIsAcknowledged() throws Exception {
        Replica first = new Replica("a", "asp", Route.Preference.TCP);
        Replica second = new Replica("b", "asp", Route.Preference.TCP);
        address = new NetworkPath(first.server.localAddress());
        FakeRole role = new FakeRole("a");
        // The backup ends, so the primary cannot connect to it again and repeat the addition.
        role.loseAnswerToAdditionOf("b", second::kill);
        ReplicaMembers members = new ReplicaMembers(role);
        members.begin();
        first.lead(members, second);
        await(() -> "the answer to the addition is lost", Duration.ofSeconds(30), role::hasLostAnswer);
        try (StripedModel model = connect("operator"); DataMemory memory = DataMemory.allocate(SIZE)) {
            model.write(0, memory, 0, SIZE, Cancellation.NONE);
        }
        assertThat(role.inSync()).containsExactly("a");
    }
}
