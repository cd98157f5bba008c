package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.LearningRate;
import io.modeldisk.aggregator.cuda.Emulator;
import io.modeldisk.aggregator.device.Device;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.datamover.TargetPortal;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.DeviceWrites;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.TargetContext;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.block.DevicePushes;
import io.modeldisk.server.block.DeviceTarget;
import io.modeldisk.server.block.DeviceTarget.PushTo;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Weights;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares a shard on an emulated GPU with a shard on the CPU. */
@Timeout(600)
class DeviceShardTest {
    private static final int SEEDS = Integer.getInteger("cuda.seeds", 50);
    private static final int PAGE = 4096;
    private static final int BLOCK = 4 * PAGE;
    private static final int BLOCKS = 4;
    private static final int SIZE = (BLOCKS - 1) * BLOCK + PAGE;
    private static final AtomicInteger ARRIVALS = new AtomicInteger();
    private static final List<Nexus> LEARNERS = List.of(FakeTask.nexus("a"), FakeTask.nexus("b"));

    private static ServerContext context(String mode, String aggregator) {
        ServerContext context = new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(BLOCK).consistency(mode)
            .aggregator(aggregator, Aggregators.parse(aggregator)).learners(LEARNERS.size());
        context.spareBlocks = 3;
        return context;
    }

    private static DeviceTarget device(boolean mirrorsAtOnce) {
        return device(mirrorsAtOnce, PushTo.HOST);
    }

    private static DeviceTarget device(boolean mirrorsAtOnce, PushTo pushTo) {
        return new DeviceTarget(Device.named("cuda:0"), mirrorsAtOnce, pushTo);
    }

    /** Sets a datamover that claims to reach the memory of devices. The test never opens its portals. */
    private static void rdma(TargetContext network) {
        network.datamovers(List.of(new TargetPortal.Opener() {
            @Override
            public TargetPortal open(InetSocketAddress address, String targetName) throws IOException {
                throw new IOException("no portal");
            }

            @Override
            public boolean mayReachDevices() {
                return true;
            }
        }));
    }

    private static LogicalUnit unit(ShardModel shard, int lun) {
        return shard.target().units().stream().filter(unit -> unit.identity().lun() == lun).findFirst().orElseThrow();
    }

    /** A shard, and its writes that are not complete yet. */
    private record Shard(ShardModel model, List<Runnable> unfinished) implements AutoCloseable {
        static Shard open(ServerContext context) throws Exception {
            return new Shard(ShardModel.open(context), new ArrayList<>());
        }

        /**
         * Begins a write. {@link #finish} completes the write, so the test can continue while a write waits for another learner.
         */
        void write(int lun, FakeTask task) throws ScsiException {
            if (!unit(model, lun).write(task)) {
                unfinished.add(() -> complete(unit(model, lun), task));
            }
        }

        void finish() {
            unfinished.forEach(Runnable::run);
            unfinished.clear();
        }

        private static void complete(LogicalUnit unit, FakeTask task) {
            try {
                do {
                    task.awaitResume();
                } while (!unit.write(task));
            } catch (ScsiException e) {
                throw new AssertionError(e);
            }
        }

        byte[] pull(int lun, Nexus learner, int offset, int bytes) throws ScsiException {
            FakeTask task = new FakeTask(learner, offset, bytes);
            if (lun > 1) {
                task.ofType(lun == ValueType.BFLOAT16.lun() ? ValueType.BFLOAT16 : ValueType.FLOAT16);
            }
            return Weights.read(unit(model, lun), task).toArray(ValueLayout.JAVA_BYTE);
        }

        byte[] state(int index) {
            Block block = model.store().block(index);
            try (ScopedLock.Held _ = block.hold()) {
                return block.state().toArray(ValueLayout.JAVA_BYTE);
            }
        }

        @Override
        public void close() {
            model.close();
        }
    }

    static Stream<Arguments> aggregatorsAndModes() {
        return Stream.of("sum", "assign", "null", "sgd:lr=0.1,schedule=step,every=2,factor=0.5",
            "momentum:lr=0.1,weight-decay=0.01", "nesterov:lr=0.1,clip-value=0.5", "adagrad:lr=0.1", "rmsprop:lr=0.01",
            "adam:lr=0.01", "adamw:lr=0.01", "sgd:lr=0.1,clip-norm=3", "adam:lr=0.1,clip-norm=2").flatMap(
                aggregator -> Stream.of("asp", "ssp:1", "bsp")
                    .filter(mode -> mode.equals("bsp") || !aggregator.contains("norm"))
                    .map(mode -> Arguments.of(aggregator, mode)));
    }

    @ParameterizedTest
    @MethodSource("aggregatorsAndModes")
    void shardOnADeviceHasTheSameStateAsAShardOnTheCpu(String aggregator, String mode) throws Exception {
        for (long seed = 1; seed <= Math.max(1, SEEDS / 25); seed++) {
            Emulator.reset(seed);
            SplittableRandom random = new SplittableRandom(seed);
            try (Shard cpu = Shard.open(context(mode, aggregator));
                Shard gpu = Shard.open(context(mode, aggregator).device(device(random.nextBoolean())))) {
                train(random, cpu, gpu);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + Emulator.message(), e);
            }
            assertThat(Emulator.live()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"sum, asp", "'adam:lr=0.01', ssp:1", "'sgd:lr=0.1,clip-norm=3', bsp", "momentum:lr=0.1, bsp"})
    void gradientsThatArriveOnTheDeviceGiveTheSameWeights(String aggregator, String mode) throws Exception {
        for (long seed = 1; seed <= 3; seed++) {
            Emulator.reset(seed);
            Emulator.gpuDirect(true, true, seed == 1);
            SplittableRandom random = new SplittableRandom(seed);
            try (Shard cpu = Shard.open(context(mode, aggregator));
                Shard gpu = Shard.open(context(mode, aggregator).network(DeviceShardTest::rdma)
                    .device(device(random.nextBoolean(), PushTo.DEVICE)))) {
                gpu.model().store().devicePushes().registered("a test");
                assertThat(gpu.model().pushPlace()).isEqualTo("device memory by a test");
                train(random, cpu, gpu);
                assertThat(gpu.model().traffic().devicePushes.sum()).isPositive()
                    .isLessThan(gpu.model().traffic().pushes.sum());
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + Emulator.message(), e);
            }
            assertThat(Emulator.live()).isZero();
        }
    }

    /** Makes about half of the gradients arrive in device memory, if the device has memory for gradients. */
    private static FakeTask arrived(Shard shard, SplittableRandom random, FakeTask task) {
        DeviceWrites device = shard.model().target().deviceWrites();
        if (device == null || random.nextBoolean()) {
            return task;
        }
        long place = ARRIVALS.getAndIncrement() % 1000 * 64L * 1024;
        Emulator.arrive(device.memory().address(place), task.data());
        return task.arrivesIn(device.memory(), place);
    }

    @Test
    void onlyGradientsThatTheHostNeedNotCheckArriveOnTheDevice() throws Exception {
        Emulator.reset(1);
        Emulator.gpuDirect(true, false, true);
        try (Shard shard = Shard
            .open(context("asp", "sum").network(DeviceShardTest::rdma).device(device(true, PushTo.AUTO)))) {
            LogicalUnit train = unit(shard.model(), 0);
            assertThat(train.takesDeviceData(new FakeTask(LEARNERS.getFirst(), 0, BLOCK))).isFalse();
            assertThat(train.takesDeviceData(new FakeTask(LEARNERS.getFirst(), 0, BLOCK).declareFinite())).isTrue();
            assertThat(unit(shard.model(), 1).takesDeviceData(new FakeTask(LEARNERS.getFirst(), 0, BLOCK))).isFalse();
            long before = shard.model().store().device().deviceBytes();
            shard.model().store().devicePushes().refused("no registration");
            assertThat(shard.model().pushPlace()).isEqualTo("host memory");
            assertThat(shard.model().target().deviceWrites()).isNull();
            assertThat(before - shard.model().store().device().deviceBytes()).isEqualTo(DevicePushes.BYTES);
        }
        try (Shard shard = Shard.open(context("asp", "assign").nonFinite(NonFinite.PASS).network(DeviceShardTest::rdma)
            .device(device(true, PushTo.AUTO)))) {
            assertThat(unit(shard.model(), 0).takesDeviceData(new FakeTask(LEARNERS.getFirst(), 0, BLOCK))).isTrue();
        }
    }

    @Test
    void shardReportsWhyItCannotUseDeviceMemoryForGradients() throws Exception {
        Emulator.reset(1);
        ServerContext noRdma = context("asp", "sum");
        assertThatThrownBy(() -> ShardModel.open(noRdma.device(device(true, PushTo.DEVICE))))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage(
                "--push-to=device is not possible: it needs --datamover iser; use --push-to=auto or --push-to=host");
        Emulator.resetWithMemory(96L << 20);
        ServerContext large = new ServerContext().model("m").sizeBytes(40 << 20).consistency("asp")
            .aggregator("sum", Aggregators.parse("sum")).network(DeviceShardTest::rdma);
        assertThatThrownBy(() -> ShardModel.open(large.device(device(true, PushTo.DEVICE))))
            .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("--push-to=device is not possible: ")
            .hasMessageContaining("free memory");
        ServerContext smaller = new ServerContext().model("m").sizeBytes(40 << 20).consistency("asp")
            .aggregator("sum", Aggregators.parse("sum")).network(DeviceShardTest::rdma);
        try (Shard shard = Shard.open(smaller.device(device(true, PushTo.AUTO)))) {
            assertThat(shard.model().pushPlace()).isEqualTo("host memory");
            assertThatThrownBy(() -> new DeviceTarget(null, true, PushTo.parse("disk")))
                .hasMessageContaining("--push-to=disk must be one of auto, device, host");
        }
    }

    private static void train(SplittableRandom random, Shard cpu, Shard gpu) throws Exception {
        for (int round = 1; round <= 4; round++) {
            for (Nexus learner : LEARNERS) {
                cpu.model().learners().admit(learner, false);
                gpu.model().learners().admit(learner, false);
                int type = random.nextInt(4);
                for (int offset = 0; offset < SIZE;) {
                    int bytes = 2 * PAGE * (1 + random.nextInt(3));
                    long seed = random.nextLong();
                    boolean half = type > 1 && offset + bytes <= SIZE;
                    int lun = half ? type + 1 : 0;
                    int length = Math.min(bytes, SIZE - offset);
                    cpu.write(lun, push(learner, lun, offset, length, round, seed));
                    gpu.write(lun,
                        arrived(gpu, random, push(learner, lun, offset, length, round, seed).declareFinite()));
                    offset += length;
                }
                if (random.nextBoolean()) {
                    raw(random, cpu, gpu);
                }
            }
            cpu.finish();
            gpu.finish();
            compare(random, cpu, gpu, round);
        }
    }

    private static FakeTask push(Nexus learner, int lun, int offset, int lengthBytes, int round, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        if (lun == 0) {
            FakeTask task = lengthBytes > PAGE
                ? new FakeTask(learner, offset, PAGE, lengthBytes - PAGE)
                : new FakeTask(learner, offset, lengthBytes);
            for (long i = 0; i < lengthBytes; i += Float.BYTES) {
                task.data().set(ValueLayout.JAVA_FLOAT, i, (float) random.nextGaussian());
            }
            return task.ofRound(round);
        }
        ValueType type = lun == ValueType.BFLOAT16.lun() ? ValueType.BFLOAT16 : ValueType.FLOAT16;
        FakeTask task = lengthBytes > 2 * PAGE
            ? new FakeTask(learner, offset / 2, PAGE, lengthBytes / 2 - PAGE)
            : new FakeTask(learner, offset / 2, lengthBytes / 2);
        for (long i = 0; i < lengthBytes / 2; i += Short.BYTES) {
            short value = type == ValueType.FLOAT16
                ? Float.floatToFloat16((float) random.nextGaussian())
                : (short) (Float.floatToIntBits((float) random.nextGaussian()) >>> 16);
            task.data().set(ValueLayout.JAVA_SHORT, i, value);
        }
        return task.ofType(type).ofRound(round);
    }

    private static void raw(SplittableRandom random, Shard cpu, Shard gpu) throws Exception {
        int offset = random.nextInt(SIZE / PAGE) * PAGE;
        float value = (float) random.nextGaussian();
        for (Shard shard : List.of(cpu, gpu)) {
            shard.write(1, new FakeTask(LEARNERS.getFirst(), offset, PAGE).fill(value));
        }
    }

    private static void compare(SplittableRandom random, Shard cpu, Shard gpu, int round) throws Exception {
        for (int lun : new int[]{0, 1, ValueType.BFLOAT16.lun(), ValueType.FLOAT16.lun()}) {
            int bytes = lun > 1 ? (SIZE / 2 + PAGE - 1) / PAGE * PAGE : SIZE;
            assertThat(gpu.pull(lun, LEARNERS.get(round % 2), 0, bytes)).as("LUN %d after round %d", lun, round)
                .isEqualTo(cpu.pull(lun, LEARNERS.get(round % 2), 0, bytes));
        }
        for (int i = 0; i < BLOCKS && random.nextBoolean(); i++) {
            assertThat(gpu.state(i)).as("state of block %d after round %d", i, round).isEqualTo(cpu.state(i));
        }
        if (cpu.model().learningRate() != null && random.nextBoolean()) {
            LearningRate.Change change = new LearningRate.Change(round + 1, 0.05f * (1 + random.nextInt(4)));
            cpu.model().changeLearningRate(change);
            gpu.model().changeLearningRate(change);
        }
    }

    @Test
    void pullReturnsWholeBlocksWhileManyThreadsPush() throws Exception {
        Emulator.reset(7);
        int pushes = 200;
        try (Shard shard = Shard.open(context("asp", "sum").device(device(true)))) {
            List<CompletableFuture<Void>> pushers = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Nexus nexus = FakeTask.nexus("t" + thread);
                pushers.add(CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < pushes; i++) {
                        FakeTask task = new FakeTask(nexus, BLOCK, BLOCK).fill(1);
                        try {
                            if (!unit(shard.model(), 0).write(task)) {
                                Shard.complete(unit(shard.model(), 0), task);
                            }
                        } catch (ScsiException e) {
                            throw new AssertionError(e);
                        }
                    }
                }, Thread::startVirtualThread));
            }
            CompletableFuture<Void> all = CompletableFuture.allOf(pushers.toArray(CompletableFuture[]::new));
            float last = 0;
            for (int pull = 0; pull < 5000 && !all.isDone(); pull++) {
                last = wholeBlock(shard, last);
            }
            all.get(60, TimeUnit.SECONDS);
            assertThat(wholeBlock(shard, last)).isEqualTo(4f * pushes);
            assertThat(shard.model().store().spareCount()).isEqualTo(3);
        }
    }

    /** Pulls a block. Checks that all values are equal and at least {@code last}. Returns their common value. */
    private static float wholeBlock(Shard shard, float last) throws Exception {
        MemorySegment data = MemorySegment.ofArray(shard.pull(0, LEARNERS.getFirst(), BLOCK, BLOCK));
        float first = data.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
        for (int i = 0; i < BLOCK; i += Float.BYTES) {
            assertThat(data.get(ValueLayout.JAVA_FLOAT_UNALIGNED, i)).isEqualTo(first);
        }
        assertThat(first).isGreaterThanOrEqualTo(last);
        return first;
    }

    @Test
    void noAggregatorStateIsLostWhenTheStatusIsReadDuringWrites() throws Exception {
        Emulator.reset(3);
        try (Shard cpu = Shard.open(context("asp", "adam:lr=0.1"));
            Shard gpu = Shard.open(context("asp", "adam:lr=0.1").device(device(true)))) {
            AtomicBoolean stop = new AtomicBoolean();
            cpu.model().learners().admit(LEARNERS.getFirst(), false);
            gpu.model().learners().admit(LEARNERS.getFirst(), false);
            CompletableFuture<Void> status = CompletableFuture.runAsync(() -> {
                while (!stop.get()) {
                    assertThat(gpu.model().status()).isNotEmpty();
                }
            }, Thread::startVirtualThread);
            try {
                for (int i = 0; i < 200; i++) {
                    for (Shard shard : List.of(cpu, gpu)) {
                        shard.write(0, push(LEARNERS.getFirst(), 0, 0, BLOCK, i + 1, i));
                        shard.write(1, new FakeTask(LEARNERS.getFirst(), 0, PAGE).fill(i));
                        shard.finish();
                    }
                }
            } catch (ScsiException e) {
                throw new AssertionError(Emulator.message(), e);
            } finally {
                stop.set(true);
                status.get(30, TimeUnit.SECONDS);
            }
            assertThat(gpu.state(0)).isEqualTo(cpu.state(0));
            assertThat(gpu.pull(0, LEARNERS.getFirst(), 0, BLOCK))
                .isEqualTo(cpu.pull(0, LEARNERS.getFirst(), 0, BLOCK));
        }
    }

    @Test
    void lostDeviceFailsEveryCommandAndIsReportedOnce() throws Exception {
        Emulator.reset(1);
        AtomicReference<Throwable> lost = new AtomicReference<>();
        CompletableFuture<Void> reported = new CompletableFuture<>();
        Shard shard = Shard.open(context("asp", "sum").device(device(true)).lost(e -> {
            assertThat(lost.getAndSet(e)).isNull();
            reported.complete(null);
        }));
        shard.write(0, new FakeTask(LEARNERS.getFirst(), 0, BLOCK).fill(1));
        shard.finish();
        Emulator.fail(1, CUresult.CUDA_ERROR_LAUNCH_FAILED, true);
        FakeTask task = new FakeTask(LEARNERS.getFirst(), 0, BLOCK).fill(1);
        assertThatThrownBy(() -> {
            while (!unit(shard.model(), 0).write(task)) {
                task.awaitResume();
            }
        }).isInstanceOf(ScsiException.class).hasMessageContaining("cuda:0 (emulated 0) failed");
        reported.get(30, TimeUnit.SECONDS);
        assertThatThrownBy(() -> unit(shard.model(), 0).write(new FakeTask(LEARNERS.getFirst(), 0, BLOCK)))
            .isInstanceOf(ScsiException.class);
        assertThatThrownBy(() -> shard.pull(0, LEARNERS.getFirst(), 0, BLOCK)).isInstanceOf(ScsiException.class)
            .hasMessageContaining("cuda:0 (emulated 0) failed");
        shard.close();
        Emulator.fail(0, 0, false);
    }
}
