package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.RoundCdb;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.LogicalUnitIdentity;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.engine.RawInitiator;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.engine.TargetPortGroups;
import io.modeldisk.protocol.engine.TargetServer;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.TaskManagementRequestPdu;
import io.modeldisk.protocol.scsi.AccessState;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.CdbUsage;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.protocol.scsi.ScsiException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** Servers that pretend to be the shards of a model. A push stores its data in memory, as a write does. */
final class FakeShards implements AutoCloseable {
    static final String MODEL = "fake";

    final List<Shard> shards = new ArrayList<>();
    final List<TargetServer> servers = new ArrayList<>();
    private final UnaryOperator<TargetContext> settings;

    FakeShards(UnaryOperator<TargetContext> settings, ModelFacts... facts) throws IOException {
        this.settings = settings;
        for (ModelFacts each : facts) {
            Shard shard = new Shard(each);
            shards.add(shard);
            servers.add(serve(shard, 0));
        }
    }

    private TargetServer serve(Shard shard, int port) throws IOException {
        return TargetServer.launch(shard, settings.apply(new TargetContext()
            .listen(new InetSocketAddress("127.0.0.1", port)).maxConnections(8).bufferBytes(16L << 20)));
    }

    static ModelFacts facts(long bytes, int block, int shard, int shards) {
        return facts(bytes, block, shard, shards, "asp");
    }

    static ModelFacts facts(long bytes, int block, int shard, int shards, String consistency) {
        return new ModelFacts(MODEL, bytes, block, shard, shards, "assign", consistency, 1, "zeros");
    }

    /** Returns these facts as a shard that speaks another version of the protocol reports them. */
    static ModelFacts ofProtocol(ModelFacts facts, int version) {
        return new ModelFacts(facts.model(), facts.sizeBytes(), facts.blockSizeBytes(), facts.shard(), facts.shards(),
            facts.aggregator(), facts.consistency(), facts.learners(), facts.minLearners(), facts.nonFinite(),
            facts.source(), facts.dtype(), version, facts.state());
    }

    static FakeShards of(long bytes, int block, int count) throws IOException {
        return of(UnaryOperator.identity(), bytes, block, count);
    }

    static FakeShards of(UnaryOperator<TargetContext> settings, long bytes, int block, int count) throws IOException {
        return new FakeShards(settings,
            IntStream.range(0, count).mapToObj(i -> facts(bytes, block, i, count)).toArray(ModelFacts[]::new));
    }

    ModelAddress address() {
        return new ModelAddress(servers.stream().map(TargetServer::localAddress).toList(), MODEL);
    }

    /** Logs in as another initiator and resets all logical units of a shard. */
    void reset(int shard) throws IOException {
        try (RawInitiator other = new RawInitiator(servers.get(shard).localAddress())) {
            other.login(1, 3, "InitiatorName=iqn.test:other", "TargetName=" + ModelFacts.TARGET_PREFIX + MODEL);
            other.manage(TaskManagementRequestPdu.TARGET_WARM_RESET, RawInitiator.NONE);
        }
    }

    /** Makes the shards park commands, or stop parking them. */
    void parking(boolean now) {
        shards.forEach(shard -> shard.parking = now);
    }

    /** Returns the number of commands that wait in the shards now. */
    int parked() {
        return shards.stream().mapToInt(shard -> shard.parked.size()).sum();
    }

    /** Returns the number of times that a command began to wait in a shard. */
    int parkings() {
        return shards.stream().mapToInt(shard -> shard.parkings.get()).sum();
    }

    /** Restarts a shard, which then no longer knows the learner. */
    void forget(int shard) throws IOException {
        shards.get(shard).membership++;
        restart(shard);
    }

    /** Restarts a shard, which then no longer knows the learner, and has the weights from before round {@code joinRound}. */
    void goBack(int shard, long joinRound) throws IOException {
        shards.get(shard).history++;
        shards.get(shard).joinRound = joinRound;
        forget(shard);
    }

    /** Restarts two shards, each at the address of the other shard. */
    void swap(int one, int other) throws IOException {
        byte[] page = shards.get(one).page;
        shards.get(one).page = shards.get(other).page;
        shards.get(other).page = page;
        restart(one);
        restart(other);
    }

    /** Stops the server of a shard, and starts another server with the same weights at the same address. */
    void restart(int shard) throws IOException {
        int port = servers.get(shard).localAddress().getPort();
        servers.get(shard).close();
        servers.set(shard, serve(shards.get(shard), port));
    }

    @Override
    public void close() {
        servers.forEach(TargetServer::close);
        shards.forEach(shard -> shard.memory.close());
    }

    /** One shard. Both logical units use the same memory. */
    static final class Shard implements Target {
        /** The ranges and rounds of the ABSENT commands that the shard has executed. */
        final List<String> absents = new CopyOnWriteArrayList<>();
        final List<IoTask> parked = new CopyOnWriteArrayList<>();
        final AtomicInteger admitted = new AtomicInteger();
        final AtomicInteger parkings = new AtomicInteger();
        volatile boolean parking;
        /** The first round of a learner that joins. JOIN raises this value to the earliest round that the learner accepts. */
        volatile long joinRound = 1;
        volatile long membership = 1;
        volatile long history = 1;
        volatile long startRound;
        /** True if the initiator declared the last push free of NaN and infinity. */
        volatile boolean declaredFinite;
        volatile byte[] page;
        /** If set, every JOIN waits at this barrier until the other shards have received JOIN too. */
        volatile CyclicBarrier joins;
        /** Two target port groups, of which the server of this shard is the first. */
        final TargetPortGroups portGroups = new TargetPortGroups(1, 2, AccessState.ACTIVE);
        private final DataMemory memory;
        private final List<LogicalUnit> units;

        Shard(ModelFacts facts) {
            memory = DataMemory.allocate(Math.max(4096, facts.bytesOfShard()));
            page = facts.toJson();
            units = List.of(new Unit(0), new Unit(1));
        }

        @Override
        public String name() {
            return ModelFacts.TARGET_PREFIX + MODEL;
        }

        @Override
        public List<LogicalUnit> units() {
            return units;
        }

        @Override
        public TargetPortGroups portGroups() {
            return portGroups;
        }

        @Override
        public void nexusEstablished(Nexus nexus) {}

        @Override
        public void nexusLost(Nexus nexus, boolean loggedOut) {}

        private boolean admit(IoTask task) {
            if (parking) {
                parked.add(task);
                parkings.incrementAndGet();
                return false;
            }
            admitted.incrementAndGet();
            return true;
        }

        private final class Unit implements LogicalUnit {
            private final int lun;

            Unit(int lun) {
                this.lun = lun;
            }

            @Override
            public LogicalUnitIdentity identity() {
                return new LogicalUnitIdentity(lun, "fake", "fake-" + lun, lun);
            }

            @Override
            public long sizeBytes() {
                return memory.bytes();
            }

            @Override
            public int optimalTransferBytes() {
                return 4096;
            }

            @Override
            public boolean admitRead(IoTask task) {
                return admit(task);
            }

            @Override
            public void pin(IoTask task, int dataOffset, Pin pin) {
                pin.set(memory, task.offset() + dataOffset, task.lengthBytes() - dataOffset, null);
            }

            @Override
            public void unpin(Pin pin) {}

            @Override
            public boolean write(IoTask task) {
                declaredFinite = task.declaredFinite();
                if (!admit(task)) {
                    return false;
                }
                long offset = task.offset();
                for (int i = 0; i < task.pieceCount(); i++) {
                    int length = task.pieceLengthBytes(i);
                    MemorySegment.copy(task.memory().segment(task.pieceOffset(i), length), 0, memory.slab(0), offset,
                        length);
                    offset += length;
                }
                return true;
            }

            @Override
            public boolean synchronizeCache(IoTask task) {
                return admit(task);
            }

            @Override
            public void forget(IoTask task) {
                parked.remove(task);
            }

            @Override
            public List<CdbUsage> vendorCommands() {
                return List.of(JoinCommand.USAGE, RoundCdb.PUSH_USAGE, RoundCdb.PULL_USAGE, AbsentCommand.USAGE);
            }

            @Override
            public byte[] markAbsent(IoTask task) {
                if (!admit(task)) {
                    return null;
                }
                absents.add(task.offset() + "+" + task.lengthBytes() + " in round " + task.round()
                    + (task.declaredNonFinite() ? ", not finite" : ""));
                return AbsentCommand.data(task.lengthBytes() / LogicalBlock.BYTES);
            }

            @Override
            public byte[] vendorCommand(Nexus nexus, Cdb cdb) throws ScsiException {
                CyclicBarrier barrier = joins;
                if (barrier != null) {
                    try {
                        barrier.await(10, TimeUnit.SECONDS);
                    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
                        throw new IllegalStateException(e);
                    }
                }
                joinRound = Math.max(joinRound, JoinCommand.earliestRound(cdb));
                return JoinCommand.data(new JoinCommand.Answer(joinRound, membership, history, startRound));
            }

            @Override
            public int[] vendorPageCodes() {
                return new int[]{ModelFacts.VPD_PAGE, ModelFacts.STATUS_VPD_PAGE};
            }

            @Override
            public byte[] vendorPage(int code) {
                return page;
            }
        }
    }

    /** Checks that a call has failed because of a shard. */
    static void assertShardFailed(Throwable failure, ShardException.Kind kind, int shard) {
        assertThat(failure).isInstanceOfSatisfying(ShardException.class, e -> {
            assertThat(e.kind()).isEqualTo(kind);
            assertThat(e.shard().index()).isEqualTo(shard);
        });
    }

    /** A call that can fail. */
    interface Call {
        void run() throws IOException;
    }

    /** Runs a call on another thread. */
    static CompletableFuture<Void> async(Call call) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                call.run();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }
}
