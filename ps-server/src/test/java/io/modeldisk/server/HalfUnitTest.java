package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The train units of the 16-bit types. */
@Timeout(60)
class HalfUnitTest {
    private static final int PAGE = 4096;
    private static final int BLOCK = 4 * PAGE;
    /** With this size, the second half of the last logical block of a 16-bit unit lies beyond the end of the shard. */
    private static final int SIZE = 5 * BLOCK + 2 * PAGE + 400;
    private static final Nexus LEARNER = FakeTask.nexus("a");
    private static final Nexus OTHER = FakeTask.nexus("b");

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    static Stream<Arguments> typesAndModes() {
        return Stream.of(ValueType.BFLOAT16, ValueType.FLOAT16)
            .flatMap(type -> Stream.of("asp", "ssp:1", "bsp").map(mode -> Arguments.of(type, mode)));
    }

    /** Rounds a value with a different algorithm from that of the shard. */
    private static short rounded(ValueType type, float value) {
        if (type == ValueType.FLOAT16) {
            return Float.floatToFloat16(value);
        }
        int bits = Float.floatToRawIntBits(value);
        float below = Float.intBitsToFloat(bits & 0xFFFF_0000);
        float above = Float.intBitsToFloat((bits & 0xFFFF_0000) + 0x1_0000);
        double toBelow = Math.abs((double) value - below);
        double toAbove = Math.abs((double) above - value);
        boolean isUp = toAbove < toBelow || toAbove == toBelow && (bits & 0x1_0000) != 0;
        return (short) (Float.floatToRawIntBits(isUp ? above : below) >>> 16);
    }

    private static float widened(ValueType type, short half) {
        return type == ValueType.FLOAT16 ? Float.float16ToFloat(half) : Float.intBitsToFloat(half << 16);
    }

    private ServerContext context(String mode) {
        return new ServerContext().model("m").sizeBytes(SIZE).blockSizeBytes(BLOCK).consistency(mode)
            .aggregator("sum", new SumAggregator());
    }

    private ShardModel shard(ServerContext context) throws IOException {
        ShardModel shard = ShardModel.open(context);
        open.add(shard);
        return shard;
    }

    private static LogicalUnit unit(ShardModel shard, ValueType type) {
        return shard.target().units().stream().filter(unit -> unit.identity().lun() == type.lun()).findFirst()
            .orElseThrow();
    }

    private StripedModel connect(int shards, ServerContextOf context, ValueType type) throws IOException {
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (int i = 0; i < shards; i++) {
            ParameterServer server = ParameterServer
                .launch(context.of(i).shards(shards).shard(i).listen(new InetSocketAddress("127.0.0.1", 0)));
            open.add(server);
            addresses.add(server.localAddress());
        }
        StripedModel model = StripedModel
            .connect(new StripedModelContext(new ModelAddress(addresses, "m")).dtype(type).learner("a"));
        open.add(model);
        return model;
    }

    private interface ServerContextOf {
        ServerContext of(int shard);
    }

    private DataMemory memory(long bytes) {
        DataMemory memory = DataMemory.allocate(bytes);
        open.add(memory);
        return memory;
    }

    private static int padded(int bytes) {
        return (bytes + PAGE - 1) / PAGE * PAGE;
    }

    @ParameterizedTest
    @MethodSource("typesAndModes")
    void pullsOf16BitValuesAreRoundedAndPushesAreExact(ValueType type, String mode) throws Exception {
        StripedModel model = connect(2, _ -> context(mode), type);
        assertThat(model.facts().sizeBytes()).isEqualTo(SIZE);
        assertThat(model.trainBytes()).isEqualTo(SIZE / 2);
        DataMemory floats = memory(padded(SIZE));
        DataMemory halves = memory(padded(SIZE / 2));
        SplittableRandom random = new SplittableRandom(1);
        float[] weights = new float[SIZE / 4];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = (float) Math.scalb(random.nextDouble(-1, 1), random.nextInt(-20, 12));
        }
        MemorySegment.copy(weights, 0, floats.slab(0), ValueLayout.JAVA_FLOAT, 0, weights.length);
        model.write(0, floats, 0, padded(SIZE), Cancellation.NONE);

        model.pull(0, halves, 0, padded(SIZE / 2), Cancellation.NONE);
        short[] expected = new short[weights.length];
        for (int i = 0; i < weights.length; i++) {
            expected[i] = rounded(type, weights[i]);
        }
        assertThat(halves.segment(0, SIZE / 2).toArray(ValueLayout.JAVA_SHORT)).isEqualTo(expected);
        for (int i = 0; i < weights.length; i++) {
            short half = rounded(type, (float) random.nextDouble(-1, 1));
            halves.slab(0).setAtIndex(ValueLayout.JAVA_SHORT, i, half);
            weights[i] += widened(type, half);
        }
        model.push(0, halves, 0, padded(SIZE / 2), Cancellation.NONE);
        model.synchronize(Cancellation.NONE);
        model.read(0, floats, 0, padded(SIZE), Cancellation.NONE);
        assertThat(floats.segment(0, SIZE).toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(weights);
        // The pushed bytes include the padding of the last logical block.
        assertThat(model.status().at("/0/pushedBytes").asLong()
            + model.status().at("/1/pushedBytes").asLong()).isEqualTo(padded(SIZE / 2));
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void unitReportsItsOwnSizeBlockSizeAndIdentity(ValueType type) throws Exception {
        ShardModel shard = shard(context("asp"));
        LogicalUnit half = unit(shard, type);
        assertThat(half.sizeBytes()).isEqualTo(5L * BLOCK / 2 + 2 * PAGE);
        assertThat(half.optimalTransferBytes()).isEqualTo(BLOCK / 2);
        assertThat(half.identity().product()).isEqualTo("modeldisk " + type);
        assertThat(half.identity().eui64()).isNotEqualTo(unit(shard, ValueType.FLOAT32).identity().eui64());
        ModelFacts facts = ModelFacts.fromJson(half.vendorPage(ModelFacts.VPD_PAGE));
        assertThat(facts.dtype()).isEqualTo(type);
        assertThat(facts.sizeBytes()).isEqualTo(SIZE / 2);
        assertThat(facts.blockSizeBytes()).isEqualTo(BLOCK / 2);
        assertThat(facts.bytesOfShard()).isEqualTo(half.sizeBytes());
        assertThat(facts.blocks()).isEqualTo(shard.facts().blocks());
    }

    @Test
    void halfUnitHasTheSameNumberOfBlocksAsTheShard() {
        for (int shards = 1; shards < 4; shards++) {
            for (long size = 4; size < 9 * 8192; size += 508) {
                for (int i = 0; i < shards; i++) {
                    ModelFacts facts = new ModelFacts("m", size, 8192, i, shards, "sum", "asp", 1, "zeros");
                    ModelFacts half = facts.as(ValueType.BFLOAT16);
                    assertThat(half.blocksOfShard()).isEqualTo(facts.blocksOfShard());
                    assertThat(half.bytesOfShard()).isEqualTo((facts.bytesOfShard() / 2 + PAGE - 1) / PAGE * PAGE);
                }
            }
        }
    }

    @Test
    void shardWithBlocksOf4KibReportsThatItHasNoHalfUnit() throws Exception {
        assertThat(shard(context("asp").blockSizeBytes(PAGE)).target().units()).hasSize(2);
        assertThatThrownBy(() -> connect(1, _ -> context("asp").blockSizeBytes(PAGE), ValueType.BFLOAT16))
            .isInstanceOf(IOException.class)
            .hasMessageContaining(
                "the shard has no dtype bf16, because its blocks of 4096 bytes are too small; serve the model"
                    + " with a --block-size of at least 8192");
    }

    @ParameterizedTest
    @MethodSource("typesAndModes")
    void eachPieceOfAPushCountsOnceInAnyOrder(ValueType type, String mode) throws Exception {
        ShardModel shard = shard(context(mode).learners(mode.equals("bsp") ? 2 : 1));
        LogicalUnit half = unit(shard, type);
        shard.learners().join(LEARNER);
        push(half, task(LEARNER, type, PAGE, PAGE, 3).ofRound(1));
        push(half, task(LEARNER, type, PAGE, PAGE, 3).ofRound(1));
        push(half, task(LEARNER, type, 0, 4 * PAGE, 3).ofRound(1));
        int rest = (int) half.sizeBytes() - 4 * PAGE;
        push(half, task(LEARNER, type, 4 * PAGE, rest, 3).ofRound(1));
        push(half, task(LEARNER, type, 4 * PAGE, rest, 3).ofRound(1));
        if (mode.equals("bsp")) {
            assertThat(Weights.at(shard.store(), 0)).as("weight while the round is open").isZero();
            // Another learner pushes float32 gradients of the same round through LUN 0.
            shard.learners().join(OTHER);
            push(unit(shard, ValueType.FLOAT32),
                new FakeTask(OTHER, 0, (int) shard.facts().bytesOfShard()).fill(3).ofRound(1));
        }
        for (int at = 0; at < shard.facts().bytesOfShard(); at += 2048) {
            assertThat(Weights.at(shard.store(), at)).as("byte %d", at).isEqualTo(3);
        }
        assertThat(shard.counters().maxVersion()).isGreaterThanOrEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void secondPushWithoutARoundNumberWaitsInBspForTheNextRound(ValueType type) throws Exception {
        ShardModel shard = shard(context("bsp").learners(2));
        LogicalUnit half = unit(shard, type);
        shard.learners().join(LEARNER);
        shard.learners().join(OTHER);
        int whole = (int) half.sizeBytes();
        FakeTask first = task(LEARNER, type, 0, whole, 2);
        FakeTask second = task(LEARNER, type, 0, whole, 4);
        FakeTask pull = task(LEARNER, type, 0, whole, 0);
        FakeTask synchronization = new FakeTask(LEARNER, 0).ofType(type);
        assertThat(half.write(first)).isTrue();
        assertThat(half.write(second)).isFalse();
        assertThat(half.synchronizeCache(synchronization)).isFalse();
        assertThat(half.admitRead(pull)).isFalse();
        assertThat(half.write(task(OTHER, type, 0, whole, 6))).isTrue();
        pull.awaitResume();
        second.awaitResume();
        assertThat(half.write(second)).isTrue();
        synchronization.awaitResume();
        assertThat(Weights.at(shard.store(), 0)).isEqualTo(4);
    }

    @ParameterizedTest
    @MethodSource("typesAndModes")
    void replayOfTheRecordsOfPushesGivesTheSameWeights(ValueType type, String mode) throws Exception {
        try (RecordedShard primary = new RecordedShard(mode, 1, SumAggregator::new);
            RecordedShard replica = new RecordedShard(mode, 1, SumAggregator::new, 0)) {
            primary.join(LEARNER, 0, false);
            for (int round = 1; round <= 3; round++) {
                FakeTask push = task(LEARNER, type, 0, RecordedShard.SIZE / 2 + 2048, round).ofRound(round);
                RecordedShard.write(unit(primary.shard, type), push);
            }
            replica.play(primary.sink.records());
            for (int at = 0; at < RecordedShard.SIZE; at += 2048) {
                assertThat(Weights.at(primary.shard.store(), at)).isEqualTo(6);
                assertThat(Weights.at(replica.shard.store(), at)).isEqualTo(6);
            }
            assertThat(replica.shard.store().versions().span().min())
                .isEqualTo(primary.shard.store().versions().span().min());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void gradientWithAnInfinityIsRefused(ValueType type) throws Exception {
        ShardModel shard = shard(context("asp"));
        shard.learners().join(LEARNER);
        FakeTask push = task(LEARNER, type, 0, PAGE, 1);
        push.data().set(ValueLayout.JAVA_SHORT, PAGE - 2, (short) (type == ValueType.FLOAT16 ? 0x7C00 : 0x7F80));
        assertThatThrownBy(() -> unit(shard, type).write(push)).isInstanceOf(ScsiException.class)
            .hasMessageContaining("a NaN or an infinity");
        assertThat(Weights.at(shard.store(), 0)).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void pullBeyondTheEndOfTheShardReturnsZeros(ValueType type) throws Exception {
        ShardModel shard = shard(context("asp"));
        shard.learners().join(LEARNER);
        LogicalUnit half = unit(shard, type);
        int last = (int) half.sizeBytes() - PAGE;
        push(half, task(LEARNER, type, last, PAGE, 5));
        FakeTask pull = task(LEARNER, type, last, PAGE, 9);
        MemorySegment seen = Weights.read(half, pull);
        for (int i = 0; i < PAGE / 2; i++) {
            assertThat(widened(type, seen.getAtIndex(ValueLayout.JAVA_SHORT, i))).as("value %d", i)
                .isEqualTo(i < PAGE / 4 ? 5 : 0);
        }
    }

    /** The blocks of one read may have different versions, but each block must be whole. */
    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void blockIsWholeInEachPullWhileOthersPush(ValueType type) throws Exception {
        ShardModel shard = shard(context("asp"));
        shard.learners().join(LEARNER);
        shard.learners().join(OTHER);
        LogicalUnit half = unit(shard, type);
        int spares = shard.store().spareCount();
        CompletableFuture<Void> pushes = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < 100; i++) {
                push(half, task(LEARNER, type, 0, 5 * BLOCK / 2, 1));
            }
        });
        while (!pushes.isDone()) {
            MemorySegment seen = Weights.read(half, task(OTHER, type, 0, 5 * BLOCK / 2, 0));
            for (int block = 0; block < 5; block++) {
                short[] values = seen.asSlice((long) block * BLOCK / 2, BLOCK / 2).toArray(ValueLayout.JAVA_SHORT);
                short[] uniform = new short[values.length];
                Arrays.fill(uniform, values[0]);
                assertThat(values).isEqualTo(uniform);
            }
        }
        pushes.get(30, TimeUnit.SECONDS);
        assertThat(Weights.at(shard.store(), 0)).isEqualTo(100);
        assertThat(shard.store().spareCount()).as("all pins are released").isEqualTo(spares);
    }

    private static FakeTask task(Nexus nexus, ValueType type, long offset, int bytes, float value) {
        int first = bytes > 2 * PAGE ? 2 * PAGE : bytes;
        FakeTask task = bytes > first
            ? new FakeTask(nexus, offset, first, bytes - first)
            : new FakeTask(nexus, offset, bytes);
        for (int at = 0; at < bytes; at += 2) {
            task.data().set(ValueLayout.JAVA_SHORT, at, rounded(type, value));
        }
        return task.ofType(type);
    }

    private static void push(LogicalUnit unit, FakeTask task) {
        try {
            assertThat(unit.write(task)).isTrue();
        } catch (ScsiException e) {
            throw new AssertionError(e);
        }
    }
}
