package io.modeldisk.aggregator.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.aggregator.device.Device;
import io.modeldisk.aggregator.device.DeviceBlocks;
import io.modeldisk.aggregator.device.DeviceException;
import io.modeldisk.aggregator.device.DeviceShape;
import io.modeldisk.aggregator.device.GradientType;
import io.modeldisk.aggregator.device.PushMemory;
import io.modeldisk.platform.threads.ThreadName;
import io.modeldisk.platform.time.NanoClock;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Performs a shard's operations on an emulated device, and compares the results with the results of the CPU. */
@Timeout(600)
class CudaBlocksTest {
    private static final int SEEDS = Integer.getInteger("cuda.seeds", 50);
    private static final int PAGE = Aggregator.LOGICAL_BLOCK_BYTES;
    private static final int BLOCK = 4 * PAGE;
    private static final int BLOCKS = 3;
    /** The number of gradients for which the device's memory for pushes has room. */
    private static final int ARRIVALS = 4;
    private static final long SIZE = (BLOCKS - 1) * (long) BLOCK + PAGE;

    @BeforeEach
    void setUp() {
        Emulator.reset(1);
    }

    /** The same blocks twice: on the CPU and on the device. */
    private static final class Twin implements AutoCloseable {
        final SplittableRandom random;
        final Arena arena = Arena.ofShared();
        final Aggregator aggregator;
        final MemorySegment mirrors = arena.allocate(2 * BLOCKS * BLOCK, 4096);
        final Block[] blocks = new Block[BLOCKS];
        final DeviceBlocks device;
        final AtomicInteger calls = new AtomicInteger();
        final boolean withArrivals;
        /** The newest place in the memory for pushes, and for each place the ticket of the operation that reads it. */
        int arrival;
        final long[] reading = new long[ARRIVALS];

        /** A block on the CPU, its state on the host, and the sum of its gradients. */
        private final class Block extends HostBlock {
            final MemorySegment hostState;
            final MemorySegment sum;
            boolean summed;

            Block(int bytes) {
                super(arena, aggregator, floats(bytes));
                round = 0;
                hostState = arena.allocate(bytes / PAGE * (long) aggregator.stateBytesPerLogicalBlock(), 64);
                sum = arena.allocate(bytes, 64);
            }
        }

        Twin(String specification, long seed, boolean withArrivals) {
            this(specification, seed, withArrivals, NanoClock.SYSTEM);
        }

        Twin(String specification, long seed, boolean withArrivals, NanoClock clock) {
            this.withArrivals = withArrivals;
            random = new SplittableRandom(seed);
            aggregator = Aggregators.parse(specification);
            for (int i = 0; i < BLOCKS; i++) {
                blocks[i] = new Block((int) Math.min(BLOCK, SIZE - (long) i * BLOCK));
            }
            device = Device.named("cuda:0").open(new DeviceShape(SIZE, BLOCK, aggregator, true,
                withArrivals ? ARRIVALS * (long) BLOCK : 0, List.of(mirrors), i -> blocks[i].hostState,
                clock, "test"));
            device.listen(calls::incrementAndGet, e -> {});
            for (int i = 0; i < BLOCKS; i++) {
                device.store(i, blocks[i].weights);
            }
        }

        MemorySegment floats(long bytes) {
            MemorySegment floats = arena.allocate(bytes, 64);
            for (long i = 0; i < bytes; i += Float.BYTES) {
                floats.set(ValueLayout.JAVA_FLOAT, i, (float) random.nextGaussian());
            }
            return floats;
        }

        /** Performs a random operation on a random block, on the CPU and on the device. */
        void step() {
            int index = random.nextInt(BLOCKS);
            Block block = blocks[index];
            int pages = (int) (block.weights.byteSize() / PAGE);
            int first = random.nextInt(pages);
            int offset = first * PAGE;
            int bytes = (1 + random.nextInt(pages - first)) * PAGE;
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    MemorySegment gradient = floats(bytes + 2L * PAGE);
                    block.round++;
                    if (withArrivals) {
                        long at = arrive(gradient.asSlice(2L * PAGE));
                        reading[arrival] = device.fold(index, block.round, offset, device.pushMemory().segment(), at,
                            GradientType.FLOAT32, bytes, 0.5f);
                    } else {
                        device.fold(index, block.round, offset, gradient, 2L * PAGE, GradientType.FLOAT32, bytes, 0.5f);
                    }
                    aggregator.aggregate(block, offset, gradient, 2L * PAGE, bytes, 0.5f);
                }
                case 3, 4 -> accumulate(index, block);
                case 5 -> {
                    if (block.summed) {
                        block.round++;
                        device.foldSum(index, block.round, offset, bytes, 1 / 3f);
                        aggregator.aggregate(block, offset, block.sum, offset, bytes, 1 / 3f);
                    }
                }
                case 6 -> checkMirror(index, block);
                default -> checkStateAndSum(index, block);
            }
        }

        private void accumulate(int index, Block block) {
            int bytes = (int) block.weights.byteSize();
            MemorySegment gradient = floats(bytes);
            boolean first = !block.summed || random.nextInt(3) == 0;
            if (withArrivals && random.nextBoolean()) {
                long at = arrive(gradient);
                reading[arrival] = device.accumulate(index, 0, device.pushMemory().segment(), at, GradientType.FLOAT32,
                    bytes, first);
            } else {
                device.accumulate(index, 0, gradient, 0, GradientType.FLOAT32, bytes, first);
            }
            for (long i = 0; i < bytes; i += Float.BYTES) {
                float value = gradient.get(ValueLayout.JAVA_FLOAT, i);
                block.sum.set(ValueLayout.JAVA_FLOAT, i,
                    first ? value : block.sum.get(ValueLayout.JAVA_FLOAT, i) + value);
            }
            block.summed = true;
        }

        /**
         * Writes a gradient to the next place of the memory for pushes, after the device has read the previous gradient there.
         * Returns the offset of the place.
         */
        private long arrive(MemorySegment gradient) {
            arrival = (arrival + 1) % ARRIVALS;
            while (device.applied() < reading[arrival]) {
                device.check();
                Thread.onSpinWait();
            }
            Emulator.arrive(device.pushMemory().segment().address() + (long) arrival * BLOCK, gradient);
            return (long) arrival * BLOCK;
        }

        private void checkMirror(int index, Block block) {
            int slot = random.nextInt(2) * BLOCKS + index;
            long ticket = device.mirror(index, (long) slot * BLOCK);
            byte[] now = block.weights.toArray(ValueLayout.JAVA_BYTE);
            if (random.nextBoolean()) {
                // The copy must not contain this update, because the update is queued after the copy.
                MemorySegment gradient = floats(block.weights.byteSize());
                block.round++;
                device.fold(index, block.round, 0, gradient, 0, GradientType.FLOAT32, now.length, 1);
                aggregator.aggregate(block, 0, gradient, 0, now.length, 1);
            }
            device.awaitDone(ticket);
            assertThat(mirrors.asSlice((long) slot * BLOCK, now.length).mismatch(MemorySegment.ofArray(now)))
                .as("the first differing byte of block %d", index).isEqualTo(-1);
        }

        private void checkStateAndSum(int index, Block block) {
            device.loadState(index);
            assertThat(block.hostState.mismatch(block.state.asSlice(0, block.hostState.byteSize())))
                .as("the first differing byte in the state of block %d", index).isEqualTo(-1);
            if (block.summed) {
                MemorySegment sum = arena.allocate(block.sum.byteSize() + 8);
                device.loadSum(index, sum, 8);
                assertThat(sum.asSlice(8).mismatch(block.sum)).as("the first differing byte of the sum").isEqualTo(-1);
            }
            if (random.nextBoolean()) {
                MemorySegment sum = floats(block.sum.byteSize());
                device.storeSum(index, sum, 0);
                block.sum.copyFrom(sum);
                block.summed = true;
            }
        }

        @Override
        public void close() {
            device.close();
            arena.close();
            aggregator.close();
        }
    }

    static List<String> specifications() {
        return FoldKernelsTest.specifications().toList();
    }

    /** With an even seed, gradients also arrive in device memory, as by RDMA, and are not copied. */
    @ParameterizedTest
    @MethodSource("specifications")
    void deviceResultsEqualCpuResultsInAnyOrderOfStreams(String specification) throws InterruptedException {
        Emulator.forEachSeed(Math.max(4, SEEDS / 5), seed -> {
            Emulator.gpuDirect(true, seed % 4 == 0, seed % 3 == 0);
            try (Twin twin = new Twin(specification, seed, seed % 2 == 0)) {
                for (int i = 0; i < 40; i++) {
                    twin.step();
                }
                for (int i = 0; i < BLOCKS; i++) {
                    twin.checkMirror(i, twin.blocks[i]);
                    twin.checkStateAndSum(i, twin.blocks[i]);
                }
                assertThat(twin.calls.get()).isPositive();
            }
        });
    }

    @Test
    void eachMirrorContainsTheWeightsOfItsOwnBlock() throws InterruptedException {
        Emulator.forEachSeed(SEEDS, seed -> {
            try (Twin twin = new Twin("sum", seed, false)) {
                int first = twin.random.nextInt(2) * BLOCKS;
                int[] slots = new int[BLOCKS];
                for (int i = 0; i < BLOCKS; i++) {
                    slots[i] = first + (seed % 2 == 0 ? i : (i + 1) % BLOCKS);
                    twin.device.mirror(i, (long) slots[i] * BLOCK);
                }
                twin.device.awaitDone(twin.device.newest());
                for (int i = 0; i < BLOCKS; i++) {
                    MemorySegment weights = twin.blocks[i].weights;
                    assertThat(twin.mirrors.asSlice((long) slots[i] * BLOCK, weights.byteSize()).mismatch(weights))
                        .as("the first differing byte of block %d", i).isEqualTo(-1);
                }
            }
        });
    }

    @Test
    void hostCannotReadTheMemoryForPushes() {
        Emulator.gpuDirect(true, true, false);
        try (Twin twin = new Twin("sum", 1, true)) {
            PushMemory pushes = twin.device.pushMemory();
            assertThat(pushes.segment().byteSize()).isEqualTo(ARRIVALS * (long) BLOCK);
            assertThat(pushes.segment().address() % 65536).isZero();
            assertThat(pushes.dmaBuf()).isPositive();
            assertThat(pushes.noDmaBuf()).isNull();
            assertThatThrownBy(() -> pushes.segment().get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
            long before = twin.device.deviceBytes();
            twin.device.freePushMemory();
            assertThat(twin.device.pushMemory()).isNull();
            assertThat(before - twin.device.deviceBytes()).isGreaterThanOrEqualTo(ARRIVALS * (long) BLOCK);
        }
    }

    /** The test also passes with a real device that does not support GPUDirect RDMA. */
    @Test
    void kernelsReadTheMemoryForPushesWithOrWithoutADmaBuf() {
        try (Twin twin = new Twin("sum", 1, true)) {
            PushMemory pushes = twin.device.pushMemory();
            assertThat(pushes.segment().address() % 65536).isZero();
            assertThat(pushes.dmaBuf() >= 0).isEqualTo(pushes.noDmaBuf() == null);
            twin.device.awaitDone(twin.device.fold(0, 1, 0, pushes.segment(), 0, GradientType.FLOAT32, BLOCK, 1));
        } catch (IllegalArgumentException e) {
            assertThat(e).hasMessageContaining("RDMA device");
        }
    }

    @Test
    void memoryForPushesHasTheReasonForAMissingDmaBuf() {
        Emulator.gpuDirect(true, false, true);
        try (Twin twin = new Twin("sum", 1, true)) {
            assertThat(twin.device.pushMemory().dmaBuf()).isNegative();
            assertThat(twin.device.pushMemory().noDmaBuf()).contains("cuMemGetHandleForAddressRange", "(801)");
        }
    }

    @Test
    void driverThatCannotFlushRdmaWritesIsRefused() {
        Emulator.reset(1, 11000, 7, 0, 1);
        assertThatThrownBy(() -> new Twin("sum", 1, true)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("cuda:0").hasMessageContaining("might miss the data that an RDMA device writes");
        assertThat(Emulator.live()).isZero();
    }

    @Test
    void pushWaitsWhileTheQueueIsFull() {
        try (Twin twin = new Twin("sum", 1, false)) {
            MemorySegment gradient = twin.floats(BLOCK);
            for (int i = 0; i < 10_000; i++) {
                twin.device.fold(i % (BLOCKS - 1), 1, 0, gradient, 0, GradientType.FLOAT32, BLOCK, 1);
            }
            assertThat(twin.device.newest() - twin.device.applied()).isLessThanOrEqualTo(4096);
            twin.device.awaitDone(twin.device.newest());
        }
    }

    @Test
    void errorOfEveryFailedDriverCallContainsTheNameOfTheCall() {
        Emulator.forEachFailingCall(CUresult.CUDA_ERROR_LAUNCH_FAILED, true, CudaBlocksTest::use, failure -> {
            // The number of polls of events differs from run to run, so the last calls are not always reached.
            if (!Emulator.failedCall().isEmpty()) {
                // A failed export of a dma-buf does not fail the device, so the error names one of the next calls.
                String name = Emulator.failedCall().equals("cuMemGetHandleForAddressRange")
                    ? "cu"
                    : Emulator.failedCall();
                assertThat(failure).as("failure of %s", name).isInstanceOf(DeviceException.class)
                    .hasMessageContaining("cuda:0").hasMessageContaining(name);
            }
        });
    }

    private static void use() {
        try (Twin twin = new Twin("adam:lr=0.1", 1, true)) {
            MemorySegment gradient = twin.floats(BLOCK);
            Emulator.arrive(twin.device.pushMemory().segment().address(), gradient);
            twin.device.fold(1, 1, 0, twin.device.pushMemory().segment(), 0, GradientType.FLOAT32, BLOCK, 1);
            twin.device.accumulate(0, 0, gradient, 0, GradientType.FLOAT32, BLOCK, true);
            twin.device.foldSum(0, 1, 0, BLOCK, 1);
            twin.device.loadState(0);
            twin.device.awaitDone(twin.device.mirror(0, 0));
        }
    }

    /**
     * A clock that jumps by 30 s, as if the process had been stopped for this time, either during a wait of the device thread,
     * or between its poll of the device and its read of the clock.
     */
    private static final class JumpingClock implements NanoClock {
        private final boolean whenRead;
        /** True if the device's thread has not read the clock since its last wait. Used only by this thread. */
        private boolean waited;
        private final AtomicLong jumpedNs = new AtomicLong();
        private final AtomicReference<Runnable> meanwhile = new AtomicReference<>();

        JumpingClock(boolean whenRead) {
            this.whenRead = whenRead;
        }

        void jump(Runnable action) throws InterruptedException {
            meanwhile.set(action);
            while (meanwhile.get() != null) {
                Thread.sleep(1);
            }
        }

        @Override
        public long nanoTime() {
            if (whenRead && isOfDevice() && waited) {
                waited = false;
                jumpIfAsked();
            }
            return System.nanoTime() + jumpedNs.get();
        }

        private static boolean isOfDevice() {
            return Thread.currentThread().getName().startsWith(ThreadName.DEVICE.of());
        }

        private void jumpIfAsked() {
            Runnable action = meanwhile.get();
            if (action != null) {
                action.run();
                jumpedNs.addAndGet(TimeUnit.SECONDS.toNanos(30));
                meanwhile.set(null);
            }
        }

        @Override
        public boolean awaitUntil(Condition condition, long deadlineNs) throws InterruptedException {
            boolean early = condition
                .awaitNanos(Math.min(deadlineNs - System.nanoTime() - jumpedNs.get(),
                    TimeUnit.MILLISECONDS.toNanos(1))) > 0;
            if (isOfDevice()) {
                waited = true;
                if (!whenRead) {
                    jumpIfAsked();
                }
            }
            return early;
        }

        @Override
        public void sleepUntil(long deadlineNs) throws InterruptedException {
            NanoClock.SYSTEM.sleepUntil(deadlineNs - jumpedNs.get());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deviceThatCompletesItsWorkWhileTheProcessIsStoppedIsNotLost(boolean whenTheClockIsRead)
        throws InterruptedException {
        foldWhileTheProcessIsStopped(whenTheClockIsRead, () -> Emulator.hang(false));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deviceThatDoesNotCompleteItsWorkIsLost(boolean whenTheClockIsRead) {
        Emulator.assumeEmulated();
        assertThatThrownBy(() -> foldWhileTheProcessIsStopped(whenTheClockIsRead, () -> {}))
            .isInstanceOf(DeviceException.class)
            .hasMessageContaining("did not complete its work within 10 s").hasNoSuppressedExceptions();
    }

    /** Waits for a fold on a hanging device. Meanwhile, the process seems to be stopped for 30 s, and {@code action} runs. */
    private static void foldWhileTheProcessIsStopped(boolean whenTheClockIsRead, Runnable action)
        throws InterruptedException {
        JumpingClock clock = new JumpingClock(whenTheClockIsRead);
        try (Twin twin = new Twin("sum", 1, false, clock)) {
            Emulator.hang(true);
            long ticket = twin.device.fold(0, 1, 0, twin.floats(BLOCK), 0, GradientType.FLOAT32, BLOCK, 1);
            clock.jump(action);
            twin.device.awaitDone(ticket);
        }
    }

    @Test
    void shardLargerThanTheFreeDeviceMemoryIsRefused() {
        try (Aggregator sum = Aggregators.parse("sum")) {
            DeviceShape shape = new DeviceShape(1L << 50, 1 << 20, sum, true, 0, List.of(), _ -> MemorySegment.NULL,
                NanoClock.SYSTEM, "test");
            assertThatThrownBy(() -> Device.named("cuda:0").open(shape)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("free memory");
            assertThat(Emulator.live()).isZero();
        }
    }

    @Test
    void unknownDeviceNameIsRefusedInOneLine() {
        for (String wrong : new String[]{"gpu", "cuda", "cuda:", "cuda:-1", "cuda:0x", "cuda:9999999999"}) {
            assertThatThrownBy(() -> Device.named(wrong)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the device \"" + wrong + "\" must be a kind and a number, such as cuda:0");
        }
        assertThatThrownBy(() -> Device.named("rocm:0")).hasMessage(
            "devices of the kind \"rocm\" are not supported; the supported kinds are: cuda");
        assertThatThrownBy(() -> Device.named("cuda:999")).hasMessageContaining("there is no device cuda:999");
    }
}
