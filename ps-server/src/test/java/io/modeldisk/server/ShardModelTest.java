package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Target;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.server.status.ShardStatus;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardModelTest {
    private static final int BLOCK = 8192;
    private static final int SIZE = 5 * BLOCK;
    private static final Nexus LEARNER = FakeTask.nexus("a");

    private final SumAggregator aggregator = new SumAggregator();
    private final ManualClock clock = new ManualClock();

    private ServerContext context() {
        return new ServerContext().consistency("asp").model("test")
            .blockSizeBytes(BLOCK)
            .sizeBytes(SIZE)
            .aggregator("sum", aggregator)
            .clock(clock);
    }

    private static JsonNode status(ShardModel shard) throws IOException {
        return new ObjectMapper().readTree(shard.target().units().get(1).vendorPage(ModelFacts.STATUS_VPD_PAGE));
    }

    private static byte[] read(LogicalUnit unit) throws Exception {
        return Weights.read(unit, new FakeTask(LEARNER, 0, (int) unit.sizeBytes())).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Writes a file with the tensors {@code v}, which has one value, and {@code w}. */
    private static Path file(Path folder, byte[] data) throws IOException {
        byte[] header = ("{\"v\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
            + "\"w\":{\"dtype\":\"F32\",\"shape\":[" + (data.length / 4 - 1) + "],\"data_offsets\":[4," + data.length
            + "]}}")
            .getBytes(StandardCharsets.UTF_8);
        return Files.write(folder.resolve("m.safetensors"),
            ByteBuffer.allocate(8 + header.length + data.length).order(ByteOrder.LITTLE_ENDIAN).putLong(header.length)
                .put(header).put(data).array());
    }

    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void shardRefusesAWeightThatIsNotFiniteAndNamesItsTensor(float value, @TempDir Path folder) throws Exception {
        byte[] data = new byte[3 * BLOCK];
        int index = 2 * BLOCK / Float.BYTES + 7;
        ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).putFloat((1 + index) * Float.BYTES, value);
        Path file = file(folder, data);
        assertThatThrownBy(() -> ShardModel.open(contextOf(file))).isInstanceOf(IOException.class)
            .hasMessageContainingAll(file + ": tensor 'w' has the value " + value + " at index " + index,
                "--non-finite pass");
        // With three shards, the weight that is not finite belongs to another shard.
        ShardModel.open(contextOf(file).shards(3)).close();
        ShardModel.open(contextOf(file).nonFinite(NonFinite.PASS)).close();
    }

    private static ServerContext contextOf(Path file) {
        return new ServerContext().consistency("asp").model("test").safetensors(file).blockSizeBytes(BLOCK)
            .aggregator("sum", new SumAggregator());
    }

    @Test
    void shardsOfAModelTogetherHaveAllWeightsOfTheFile(@TempDir Path folder) throws Exception {
        byte[] data = new byte[6 * BLOCK + 4100];
        new SplittableRandom(1).nextBytes(data);
        Path file = file(folder, data);
        byte[] union = new byte[8 * BLOCK];
        for (int number = 0; number < 3; number++) {
            // The random bytes contain NaN.
            ServerContext context = contextOf(file).nonFinite(NonFinite.PASS).shard(number).shards(3);
            try (ShardModel shard = ShardModel.open(context)) {
                byte[] part = read(shard.target().units().get(1));
                assertThat(part).hasSize((int) shard.facts().bytesOfShard());
                for (int at = 0; at < part.length; at += 4096) {
                    int block = at / BLOCK * 3 + number;
                    System.arraycopy(part, at, union, block * BLOCK + at % BLOCK, 4096);
                }
            }
        }
        assertThat(Arrays.copyOf(union, data.length)).isEqualTo(data);
        assertThat(Arrays.copyOfRange(union, data.length, union.length)).containsOnly(0);
    }

    @Test
    void logicalUnitsOfAShardHaveDifferentIdentities() throws Exception {
        try (ShardModel shard = ShardModel.open(context()); ShardModel again = ShardModel.open(context())) {
            Target target = shard.target();
            assertThat(target.name()).isEqualTo("iqn.2026-11.io.modeldisk:test");
            LogicalUnit train = target.units().get(0);
            LogicalUnit raw = target.units().get(1);
            assertThat(train.identity()).isEqualTo(again.target().units().get(0).identity());
            assertThat(train.identity().product()).isEqualTo("modeldisk train");
            assertThat(raw.identity().product()).isEqualTo("modeldisk raw");
            assertThat(raw.identity().eui64()).isNotEqualTo(train.identity().eui64());
            assertThat(raw.identity().serialNumber()).isNotEqualTo(train.identity().serialNumber());
            assertThat(train.sizeBytes()).isEqualTo(raw.sizeBytes()).isEqualTo(SIZE);
            assertThat(train.vendorPageCodes()).containsExactly(0xC0, 0xC1, 0xC2);
            assertThat(ModelFacts.fromJson(raw.vendorPage(0xC0))).isEqualTo(shard.facts());
            assertThatThrownBy(() -> raw.vendorPage(0xC3)).hasMessage("VPD page C3h must be C0h, C1h or C2h");
        }
    }

    @Test
    void statusShowsTheVersionsOfTheBlocksInTheirOrder() throws Exception {
        try (ShardModel shard = ShardModel.open(context())) {
            LogicalUnit train = shard.target().units().get(0);
            assertThat(train.write(new FakeTask(LEARNER, 2 * BLOCK, BLOCK).fill(1))).isTrue();
            assertThat(status(shard).at("/version/strip").toString()).isEqualTo("[0,0,1,0,0]");
        }
        try (ShardModel large = ShardModel.open(context().sizeBytes(200 * BLOCK))) {
            assertThat(status(large).at("/version/strip")).hasSize(64);
        }
    }

    @Test
    void rawWriteChangesWeightsButNoVersion() throws Exception {
        try (ShardModel shard = ShardModel.open(context().consistency("bsp").learners(2))) {
            LogicalUnit raw = shard.target().units().get(1);
            assertThat(raw.write(new FakeTask(LEARNER, 4096, 4096, BLOCK).fill(7))).isTrue();
            assertThat(raw.synchronizeCache(new FakeTask(LEARNER, 0))).isTrue();
            assertThat(Weights.at(shard.store(), 0)).isZero();
            assertThat(Weights.at(shard.store(), 4096)).isEqualTo(7);
            assertThat(Weights.at(shard.store(), 4096 + BLOCK)).isEqualTo(7);
            JsonNode status = status(shard);
            assertThat(status.at("/version/total").asLong()).isZero();
            assertThat(status.at("/learners")).isEmpty();
        }
    }

    /** A learner reads the counters in each iteration, so the read must not wait for the lock of a block. */
    @Test
    void countersCanBeReadWhileABlockIsLocked() throws Exception {
        try (ShardModel shard = ShardModel.open(context().consistency("asp"))) {
            LogicalUnit train = shard.target().units().get(0);
            shard.target().nexusEstablished(LEARNER);
            train.write(new FakeTask(LEARNER, 0, SIZE).fill(1));
            train.write(new FakeTask(LEARNER, BLOCK, BLOCK).fill(1));
            try (ScopedLock.Held _ = shard.store().block(1).hold()) {
                byte[] page = CompletableFuture.supplyAsync(() -> train.vendorPage(ShardCounters.VPD_PAGE))
                    .get(10, TimeUnit.SECONDS);
                assertThat(page).hasSize(ShardCounters.BYTES);
                assertThat(ShardCounters.fromBytes(page))
                    .isEqualTo(new ShardCounters(1, 2, 0, 1, true, false, shard.history()));
            }
        }
    }

    @Test
    void statusShowsTheProgressOfBlocksAndLearners() throws Exception {
        try (ShardModel shard = ShardModel.open(context().consistency("bsp"))) {
            LogicalUnit train = shard.target().units().get(0);
            shard.target().nexusEstablished(LEARNER);
            train.write(new FakeTask(LEARNER, 0, SIZE - BLOCK).fill(1));
            train.admitRead(new FakeTask(LEARNER, 0, BLOCK));
            shard.target().nexusLost(LEARNER, false);
            clock.advance(Duration.ofSeconds(3));
            JsonNode status = status(shard);
            assertThat(status.at("/version").toString())
                .isEqualTo("{\"min\":0,\"max\":1,\"total\":4,\"strip\":[1,1,1,1,0]}");
            assertThat(status.at("/rounds").toString()).isEqualTo("{\"min\":0,\"max\":1}");
            assertThat(status.at("/learners/0").toString()).isEqualTo(
                "{\"learner\":\"a\",\"state\":\"lost\",\"joinRound\":1,\"clock\":{\"min\":0,\"max\":1},\"lateMs\":0,\"pushes\":1,"
                    + "\"pushedBytes\":32768,\"pulledBytes\":8192}");
            assertThat(status.at("/pulls").asLong()).isEqualTo(1);
            assertThat(status.at("/uptimeSeconds").asLong()).isEqualTo(3);
        }
    }

    @Test
    void statusShowsHowManyRoundsALearnerIsBehind() throws Exception {
        Nexus straggler = FakeTask.nexus("straggler");
        try (ShardModel shard = ShardModel.open(context().consistency("ssp:1").learners(2))) {
            LogicalUnit train = shard.target().units().get(0);
            for (Nexus learner : List.of(LEARNER, straggler)) {
                shard.target().nexusEstablished(learner);
                shard.learners().join(learner);
            }
            train.write(new FakeTask(straggler, 0, SIZE).ofRound(1));
            train.write(new FakeTask(LEARNER, 0, SIZE).ofRound(1));
            assertThat(status(shard).at("/learners").findValues("behind")).isEmpty();
            train.write(new FakeTask(LEARNER, 0, SIZE).ofRound(2));
            clock.advance(Duration.ofMillis(700));
            assertThat(status(shard).at("/learners/1/behind").toString())
                .isEqualTo("{\"rounds\":1,\"ms\":700,\"waitedFor\":false}");
            train.write(new FakeTask(LEARNER, 0, SIZE).ofRound(3));
            train.write(new FakeTask(straggler, 0, SIZE - BLOCK).ofRound(2));
            clock.advance(Duration.ofMillis(300));
            assertThat(status(shard).at("/learners/0").has("behind")).isFalse();
            assertThat(status(shard).at("/learners/1/learner").asText()).isEqualTo("straggler");
            assertThat(status(shard).at("/learners/1/behind").toString())
                .isEqualTo("{\"rounds\":2,\"ms\":1000,\"waitedFor\":true}");
            assertThat(status(shard).at("/learners/1/clock").toString()).isEqualTo("{\"min\":1,\"max\":2}");
        }
    }

    @Test
    void statusCountsMissingLearnersBeforeTheJobHasFormed() throws Exception {
        try (ShardModel shard = ShardModel.open(context().consistency("bsp").learners(3))) {
            shard.learners().join(LEARNER);
            assertThat(status(shard).at("/formed").asBoolean()).isFalse();
            assertThat(status(shard).at("/learnersMissing").asInt()).isEqualTo(2);
        }
    }

    @Test
    void leaseLimitsTheSilenceOfLearnersButNotOfOtherInitiators() throws Exception {
        Nexus observer = FakeTask.nexus("observer");
        try (ShardModel shard = ShardModel.open(context().lease(Duration.ofSeconds(7)))) {
            shard.target().nexusEstablished(LEARNER);
            shard.target().nexusEstablished(observer);
            shard.learners().join(LEARNER);
            assertThat(shard.target().silenceBoundNs(LEARNER)).isEqualTo(TimeUnit.SECONDS.toNanos(7));
            assertThat(shard.target().silenceBoundNs(observer)).isEqualTo(Long.MAX_VALUE);
            shard.target().nexusSilent(LEARNER, TimeUnit.SECONDS.toNanos(7));
            shard.target().nexusLost(LEARNER, false);
            shard.expire();
            assertThat(shard.learners().roster().members()).isEmpty();
        }
    }

    @Test
    void statusStatesHowManyLearnersDoNotFitInItsMaximumSize() throws Exception {
        try (ShardModel shard = ShardModel.open(context())) {
            LogicalUnit train = shard.target().units().get(0);
            for (int i = 0; i < 500; i++) {
                Nexus nexus = FakeTask.nexus("a-learner-with-a-long-name-" + "x".repeat(200) + i);
                shard.target().nexusEstablished(nexus);
                train.write(new FakeTask(nexus, 0, 4096));
            }
            assertThat(shard.status().length).isLessThanOrEqualTo(ShardStatus.MAX_BYTES);
            JsonNode status = status(shard);
            assertThat(status.at("/learners").size() + status.at("/learnersLeftOut").asInt()).isEqualTo(500);
        }
    }

    @Test
    void aggregatorIsClosedIfTheServerCannotListen() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ServerContext context = context().listen((InetSocketAddress) taken.getLocalSocketAddress());
            assertThatThrownBy(() -> ParameterServer.launch(context)).isInstanceOf(IOException.class);
            assertThat(aggregator.isClosed()).isTrue();
        }
    }
}
