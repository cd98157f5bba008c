package io.modeldisk.fault.replica;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.fault.record.BlockStamps;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import io.modeldisk.protocol.datamover.IserProvider;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.datamover.shm.MappingLimits;
import io.modeldisk.protocol.datamover.shm.ShmInitiatorPortal;
import io.modeldisk.protocol.datamover.shm.ShmPortal;
import io.modeldisk.protocol.datamover.tcp.TcpInitiatorPortal;
import io.modeldisk.protocol.datamover.tcp.TcpPortal;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ReplicateCommand;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.LogicalUnitIdentity;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.engine.TargetServer;
import io.modeldisk.protocol.initiator.Route;
import io.modeldisk.protocol.initiator.SessionContext;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests streams of records from the log of a primary to the follower of a backup, over real connections. */
@Timeout(60)
class BackupStreamTest {
    private static final int BLOCKS = 40;
    private static final int BLOCK = 1 << 18;
    private static final int BUFFER = 8 << 20;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final ModelFacts FACTS = new ModelFacts("m", (long) BLOCKS * BLOCK, BLOCK, 0, 1, "sum", "asp", 1,
        "zeros");

    @TempDir
    private Path sockets;

    private final List<String> applied = new ArrayList<>();
    private final BlockStamps backupStamps = new BlockStamps(BLOCKS, 0);
    private final BlockStamps stamps = new BlockStamps(BLOCKS, 0);
    private final List<String> lost = new ArrayList<>();
    private final AtomicInteger begins = new AtomicInteger();
    private volatile int refusals;
    private final BackupSink sink = new BackupSink(new Losses(), NanoClock.SYSTEM);
    private RecordFollower follower;
    private TargetServer server;
    private RecordLog log;
    private DataMemory source;

    private TargetServer launch(ModelFacts facts, List<TargetPortal.Opener> datamovers) throws IOException {
        return TargetServer.launch(
            new BackupTarget(new BackupUnit(
                new LogicalUnitIdentity(ReplicateCommand.LUN, "modeldisk records", "0", 2), facts, follower)),
            new TargetContext().listen(new InetSocketAddress("127.0.0.1", 0)).datamovers(datamovers));
    }

    @BeforeEach
    void launch() throws IOException {
        follower = new RecordFollower(this::apply, backupStamps, BUFFER, 5);
        server = launch(FACTS, List.of(new TcpPortal.Opener(), new ShmPortal.Opener(sockets, new MappingLimits())));
        source = DataMemory.allocate(BLOCK);
    }

    /** A coordinator that adds each lost backup to {@link #lost}. The first {@link #refusals} calls of begins() fail. */
    private final class Losses implements BackupSink.Losses {
        @Override
        public void begins() throws IOException {
            if (begins.incrementAndGet() <= refusals) {
                throw new IOException("the coordinator does not answer");
            }
        }

        @Override
        public void lost(BackupStream stream, IOException reason) {
            lost.add(reason.getMessage());
        }
    }

    @AfterEach
    void close() {
        if (log != null) {
            log.close();
        }
        server.close();
        follower.close();
        source.close();
    }

    private static ModelFacts ofProtocol(int version) {
        return new ModelFacts(FACTS.model(), FACTS.sizeBytes(), FACTS.blockSizeBytes(), 0, 1, FACTS.aggregator(),
            FACTS.consistency(), 1, 0, FACTS.nonFinite(), FACTS.source(), FACTS.dtype(), version, FACTS.state());
    }

    private record BackupTarget(LogicalUnit unit) implements Target {
        @Override
        public String name() {
            return ModelFacts.TARGET_PREFIX + "m";
        }

        @Override
        public List<LogicalUnit> units() {
            return List.of(unit);
        }

        @Override
        public void nexusEstablished(Nexus nexus) {
            // The tests need no action here.
        }

        @Override
        public void nexusLost(Nexus nexus, boolean loggedOut) {
            // The tests need no action here.
        }
    }

    private void apply(RecordHeader record) {
        byte[] body = record.memory().asSlice(record.bodyStart(), record.bodyBytes()).toArray(ValueLayout.JAVA_BYTE);
        applied.add(record.kind() + " " + record.position() + " " + record.block() + " " + Arrays.hashCode(body));
    }

    private RecordLog log(long firstPosition, long epoch) throws IOException {
        log = new RecordLog(List.of(sink), BUFFER, DataMemory.allocateShareable(2L * BUFFER), firstPosition, epoch,
            stamps,
            NanoClock.SYSTEM, e -> {}, "log");
        return log;
    }

    private BackupStream stream(String datamover, long epoch, ModelFacts facts) throws IOException {
        InitiatorPortal portal = datamover.equals("tcp")
            ? new TcpInitiatorPortal(server.localAddress())
            : new ShmInitiatorPortal(Path.of(server.portals().get(1).toString()));
        return new BackupStream("b", new SessionContext().portal(server.localAddress()).over(portal)
            .targetName(ModelFacts.TARGET_PREFIX + "m").initiator("iqn.2026-11.io.modeldisk.shard:m-0", 0x800000020000L)
            .queueDepth(BackupStream.QUEUE_DEPTH).learner("primary"), portal.needsShareableMemory(), epoch, facts,
            NanoClock.SYSTEM, LIMIT.toNanos());
    }

    /** Appends an image without data for each block, so the backup keeps its own contents of the block. */
    private long keepBlocks() {
        long last = 0;
        for (int i = 0; i < BLOCKS; i++) {
            last = BlockImage.appendStamp(log, i, stamps);
        }
        return last;
    }

    private String push(int block, SplittableRandom random, int lengthBytes) {
        byte[] data = new byte[lengthBytes];
        random.nextBytes(data);
        java.lang.foreign.MemorySegment.copy(data, 0, source.slab(0), ValueLayout.JAVA_BYTE, 0, lengthBytes);
        log.push(block, 0, source.slab(0), 0, lengthBytes, 1, 1, 1);
        return "PUSH " + log.status().appended() + " " + block + " " + Arrays.hashCode(data);
    }

    private void awaitDurable() throws InterruptedException {
        assertThat(log.awaitDurable(log.status().appended(), LIMIT)).as("durable").isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void durableRecordsAreAppliedAtTheBackupInOrder(String datamover) throws Exception {
        log(1, 7);
        sink.add(stream(datamover, 7, FACTS));
        keepBlocks();
        SplittableRandom random = new SplittableRandom(3);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            expected.add(push(random.nextInt(BLOCKS), random, 4096 * random.nextInt(1, BLOCK / 4096 + 1)));
            if (i % 50 == 49) {
                awaitDurable();
                assertThat(applied).isEqualTo(expected);
            }
        }
        assertThat(lost).isEmpty();
        for (int i = 0; i < BLOCKS; i++) {
            assertThat(backupStamps.is(i, stamps.epoch(i), stamps.position(i))).as("stamp of block " + i).isTrue();
        }
    }

    @Test
    void firstRecordIsDurableOnlyAfterTheCoordinatorKnowsWhichBackupsLackIt() throws Exception {
        refusals = 3;
        log(1, 7);
        push(0, new SplittableRandom(3), 4096);
        awaitDurable();
        push(0, new SplittableRandom(3), 4096);
        awaitDurable();
        assertThat(begins).hasValue(refusals + 1);
    }

    @Test
    void recordsOfABlockAreAppliedOnlyAfterItsImage() throws Exception {
        log(1, 7);
        stamps.set(3, 5, 5);
        sink.add(stream("tcp", 7, FACTS));
        keepBlocks();
        SplittableRandom random = new SplittableRandom(3);
        String fourth = push(4, random, 4096);
        push(3, random, 4096);
        awaitDurable();
        assertThat(applied).containsExactly(fourth);
        assertThat(follower.oldBlocks()).isOne();
    }

    @Test
    void primaryReadsTheStampsOfTheBackup() throws Exception {
        backupStamps.set(0, 1, 2);
        backupStamps.set(BLOCKS - 1, 3, 1L << 40);
        try (BackupStream stream = stream("tcp", 7, FACTS)) {
            BlockStamps read = stream.readStamps(BLOCKS);
            for (int i = 0; i < BLOCKS; i++) {
                assertThat(read.is(i, backupStamps.epoch(i), backupStamps.position(i))).as("stamp of block " + i)
                    .isTrue();
            }
        }
    }

    @Test
    void autoChoosesSharedMemoryIfTheBackupOffersItOnThisHostAndOtherwiseTcp() throws IOException {
        BackupSettings settings = new BackupSettings(LIMIT, Route.Preference.AUTO, sockets, null, BUFFER);
        IserProvider.Connections iser = IserProvider.find().connections();
        assertThat(settings.route(new Backup("b", server.localAddress()), FACTS, iser).portal().datamover())
            .isEqualTo("shm");
        settings.open("a", new Backup("b", server.localAddress()), 7, FACTS, iser, NanoClock.SYSTEM).close();
        try (TargetServer onlyTcp = launch(FACTS, List.of(new TcpPortal.Opener()))) {
            Backup backup = new Backup("b", onlyTcp.localAddress());
            assertThat(settings.route(backup, FACTS, iser).portal().datamover()).isEqualTo("tcp");
            settings.open("a", backup, 8, FACTS, iser, NanoClock.SYSTEM).close();
        }
    }

    @Test
    void streamOfAnOlderEpochOrAnotherModelIsRefused() throws Exception {
        stream("tcp", 7, FACTS).close();
        assertThatThrownBy(() -> stream("tcp", 6, FACTS)).hasMessageContaining("old epoch");
        ModelFacts other = new ModelFacts("m", (long) BLOCKS * BLOCK, BLOCK, 0, 1, "sum", "bsp", 1, "zeros");
        assertThatThrownBy(() -> stream("tcp", 8, other)).hasMessageContaining("other options");
        follower.promote(9);
        assertThatThrownBy(() -> stream("tcp", 9, FACTS)).hasMessageContaining("not a backup");
    }

    @Test
    void backupOfAnotherProtocolGetsNoRecordAndTheMessageNamesBothVersions() throws Exception {
        try (TargetServer newer = launch(ofProtocol(99), List.of(new TcpPortal.Opener()))) {
            BackupSettings settings = new BackupSettings(LIMIT, Route.Preference.AUTO, sockets, null, BUFFER);
            assertThatThrownBy(() -> settings.open("a", new Backup("b", newer.localAddress()), 7, FACTS,
                IserProvider.find().connections(), NanoClock.SYSTEM))
                .hasMessageContaining("speaks version 99 of modeldisk's protocol")
                .hasMessageContaining("speaks version " + ModelFacts.PROTOCOL);
        }
        assertThat(applied).isEmpty();
    }

    @Test
    void recordsOfAFencedPrimaryAreRefused() throws Exception {
        log(1, 7);
        sink.add(stream("tcp", 7, FACTS));
        keepBlocks();
        awaitDurable();
        follower.promote(8);
        push(1, new SplittableRandom(1), 4096);
        awaitDurable();
        assertThat(applied).isEmpty();
        assertThat(lost).singleElement().asString().contains("old epoch");
    }

    @Test
    void recordsOfAnEpochBelowTheLowestAreRefused() throws Exception {
        assertThatThrownBy(() -> stream("tcp", 4, FACTS)).hasMessageContaining("old epoch");
        sink.add(stream("tcp", 5, FACTS));
        log(1, 5);
        // This process has become the primary of epoch 6, but still has the stream.
        follower.refuseBefore(6);
        keepBlocks();
        awaitDurable();
        assertThat(lost).singleElement().asString().contains("old epoch");
        assertThat(applied).isEmpty();
        assertThat(follower.isInitial()).isTrue();
    }

    @Test
    void lostBackupNoLongerDelaysRecords() throws Exception {
        log(1, 7);
        sink.add(stream("tcp", 7, FACTS));
        keepBlocks();
        awaitDurable();
        server.close();
        push(1, new SplittableRandom(1), 4096);
        awaitDurable();
        assertThat(lost).hasSize(1);
    }
}
