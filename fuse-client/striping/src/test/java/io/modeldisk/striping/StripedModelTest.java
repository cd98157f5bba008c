package io.modeldisk.striping;

import static io.modeldisk.striping.FakeShards.assertShardFailed;
import static io.modeldisk.striping.FakeShards.async;
import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.platform.ProgramVersion;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.TransferSizes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a model whose shards are servers in the same process. */
@Timeout(60)
class StripedModelTest extends ShardsFixture {
    /** Serves shards that let a command wait for {@code waitMs} before they respond BUSY. */
    private void serve(int waitMs, long bytes, int count, Consumer<StripedModelContext> settings) throws IOException {
        serve(FakeShards.of(target -> target.waitBound(Duration.ofMillis(waitMs)), bytes, BLOCK, count), settings);
    }

    private void put(byte[] bytes, long at) {
        MemorySegment.copy(bytes, 0, memory.slab(0), ValueLayout.JAVA_BYTE, at, bytes.length);
    }

    private byte[] get(long at, int length) {
        return memory.segment(at, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void pulledBytesEqualPushedBytes() throws IOException {
        serve(3 * MIB + 5000, 3);
        Random random = new Random(1);
        long padded = 3 * MIB + 8192;
        byte[] image = new byte[(int) padded];
        for (int i = 0; i < 60; i++) {
            int length = 4096 * (1 + random.nextInt(100));
            int offset = 4096 * random.nextInt((int) ((padded - length) / 4096) + 1);
            byte[] data = random(length, i);
            put(data, 0);
            System.arraycopy(data, 0, image, offset, length);
            model.push(offset, memory, 0, length, Cancellation.NONE);
        }
        model.pull(0, memory, 0, padded, Cancellation.NONE);
        assertThat(get(0, (int) padded)).isEqualTo(image);
    }

    @Test
    void eachShardStoresOnlyItsOwnBlocks() throws IOException {
        serve(4 * BLOCK, 2);
        byte[] data = random(4 * BLOCK, 2);
        put(data, 0);
        model.write(0, memory, 0, data.length, Cancellation.NONE);
        shards.restart(0);
        shards.restart(1);
        byte[] third = Arrays.copyOfRange(data, 2 * BLOCK, 3 * BLOCK);
        assertThat(shards.shards.get(0).units().get(0).sizeBytes()).isEqualTo(2 * BLOCK);
        model.read(2 * BLOCK, memory, 0, BLOCK, Cancellation.NONE);
        assertThat(get(0, BLOCK)).isEqualTo(third);
    }

    @ParameterizedTest
    @CsvSource({"0, 4096, 1, 16384, 1", "512, 65536, 2, 16384, 1", "8192, 1048576, 64, 16384, 1",
        "262144, 8388608, 3, 16384, 1", "262144, 262144, 32, 1048576, 2", "262144, 262144, 1, 1048576, 1"})
    void transferSizesDoNotChangePulledBytes(int eagerBytes, int requestBytes, int queueDepth, int block, int count)
        throws IOException {
        serve(FakeShards.of(8 * MIB, block, count),
            context -> context.sizes(_ -> new TransferSizes(eagerBytes, requestBytes, queueDepth)));
        byte[] data = random(8 * MIB, 4);
        put(data, 0);
        model.push(0, memory, 0, data.length, Cancellation.NONE);
        memory.slab(0).fill((byte) 0);
        model.pull(0, memory, 0, data.length, Cancellation.NONE);
        assertThat(get(0, data.length)).isEqualTo(data);
    }

    @Test
    void concurrentCallsDoNotMixTheirData() throws Exception {
        serve(8 * MIB, 2);
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            var calls = IntStream.range(0, 16).mapToObj(i -> pool.submit(() -> {
                byte[] data = random(MIB / 2, i);
                put(data, i * (MIB / 2L));
                model.push(i * (MIB / 2L), memory, i * (MIB / 2L), data.length, Cancellation.NONE);
                memory.segment(i * (MIB / 2L), data.length).fill((byte) 0);
                model.pull(i * (MIB / 2L), memory, i * (MIB / 2L), data.length, Cancellation.NONE);
                return Arrays.equals(data, get(i * (MIB / 2L), data.length));
            })).toList();
            for (var call : calls) {
                assertThat(call.get(30, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    @Test
    void pushSucceedsAfterAResetByAnotherInitiator() throws Exception {
        serve(60_000, 4 * MIB, 1, _ -> {});
        byte[] data = random(4 * MIB, 6);
        put(data, 0);
        model.join();
        shards.parking(true);
        CompletableFuture<Void> push = async(() -> model.push(0, memory, 0, data.length, Cancellation.NONE));
        await("a command of the push waits in the shard", () -> shards.parkings() > 0 || push.isDone());
        // Commands that are sent again after the reset must not wait in the shard.
        shards.parking(false);
        shards.reset(0);
        push.get(30, TimeUnit.SECONDS);
        memory.slab(0).fill((byte) 0);
        model.pull(0, memory, 0, data.length, Cancellation.NONE);
        assertThat(get(0, data.length)).isEqualTo(data);
    }

    @Test
    void synchronizeCacheIsSentAgainWhileAShardIsBusy() throws Exception {
        serve(100, 4 * MIB, 2, context -> context.sizes(_ -> TransferSizes.DEFAULTS.withQueueDepth(4)));
        shards.parking(true);
        CompletableFuture<Void> call = async(() -> model.synchronize(Cancellation.NONE));
        await("SYNCHRONIZE CACHE is sent again after BUSY", () -> shards.parkings() > 2 || call.isDone());
        shards.parking(false);
        call.get(30, TimeUnit.SECONDS);
        assertThat(shards.shards).allMatch(shard -> shard.admitted.get() == 1);
    }

    @ParameterizedTest
    @ValueSource(ints = {32, 2})
    void memoryDoesNotChangeAfterACancelledPull(int depth) throws Exception {
        serve(60_000, 4 * MIB, 2, context -> context.sizes(_ -> TransferSizes.DEFAULTS.withQueueDepth(depth))
            .sessions(session -> session.commandTimeout(Duration.ofSeconds(60))));
        byte[] data = random(4 * MIB, 6);
        put(data, 0);
        model.write(0, memory, 0, 4 * MIB, Cancellation.NONE);
        shards.parking(true);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> pull = async(() -> model.pull(0, memory, 0, 4 * MIB, cancellation));
        await("commands of the pull wait in the shards", () -> shards.parked() > 1);
        cancellation.cancel();
        assertThatThrownBy(() -> pull.get(10, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(CancelledException.class);
        memory.slab(0).fill((byte) 7);
        byte[] sevens = get(0, 4 * MIB);
        shards.parking(false);
        model.pull(0, memory, 4 * MIB, 4 * MIB, Cancellation.NONE);
        assertThat(get(0, 4 * MIB)).isEqualTo(sevens);
        assertThat(get(4 * MIB, 4 * MIB)).as("a pull after the cancelled pull").isEqualTo(data);
    }

    @Test
    void waitingSynchronizeCacheFailsWhenItIsCancelled() throws Exception {
        serve(60_000, MIB, 1, context -> context.sessions(session -> session.commandTimeout(Duration.ofSeconds(60))));
        shards.parking(true);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> call = async(() -> model.synchronize(cancellation));
        await("SYNCHRONIZE CACHE waits in the shard", () -> shards.parked() == 1);
        cancellation.cancel();
        assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(CancelledException.class);
    }

    @Test
    void pullCanBeCancelledWhileItReconnects() throws Exception {
        serve(FakeShards.of(4 * MIB, BLOCK, 2), context -> context.reconnectTimeout(Duration.ofHours(1)));
        shards.servers.get(1).close();
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> pull = async(() -> model.pull(0, memory, 0, 4 * MIB, cancellation));
        cancellation.cancel();
        assertThatThrownBy(() -> pull.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(CancelledException.class);
    }

    @Test
    void connectFailsForAShardLargerThan16Tib() throws IOException {
        shards = FakeShards.of(MIB, BLOCK, 1);
        shards.shards.getFirst().page = FakeShards.facts(17L << 40, MIB, 0, 1).toJson();
        assertThatThrownBy(() -> StripedModel.connect(context(shards.address())))
            .satisfies(e -> assertShardFailed(e, ShardException.Kind.REFUSED, 0)).hasMessageContaining("16 TiB");
    }

    @Test
    void joinIsSentToAllShardsAtTheSameTime() throws IOException {
        serve(MIB, 2);
        CyclicBarrier both = new CyclicBarrier(2);
        shards.shards.forEach(shard -> shard.joins = both);
        model.join();
        assertThat(both.isBroken()).isFalse();
    }

    @Test
    void connectFailsWhenTheServerDoesNotRespondToALogin() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            ModelAddress address = new ModelAddress(
                List.of(new InetSocketAddress(silent.getInetAddress(), silent.getLocalPort())), FakeShards.MODEL);
            assertThatThrownBy(() -> StripedModel
                .connect(context(address).sessions(session -> session.connectTimeout(Duration.ofMillis(300)))))
                .hasMessageContaining("does not respond to a login within 300 ms");
        }
    }

    @Test
    void connectFailsWhenNoServerListens() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        ModelAddress address = ModelAddress.parse("modeldisk://127.0.0.1:" + port + "/fake");
        assertThatThrownBy(() -> StripedModel.connect(context(address))).hasMessageContaining("does not respond");
    }

    @Test
    void connectFailsForAnUnknownModel() throws IOException {
        shards = FakeShards.of(MIB, BLOCK, 1);
        ModelAddress address = new ModelAddress(shards.address().shards(), "other");
        assertThatThrownBy(() -> StripedModel.connect(context(address))).hasMessageContaining("target not found");
    }

    private void assertRefused(String message, ModelFacts... facts) throws IOException {
        try (FakeShards refused = new FakeShards(context -> context, facts)) {
            assertThatThrownBy(() -> StripedModel.connect(context(refused.address()))).isInstanceOf(IOException.class)
                .hasMessageContaining(message);
            await("no connection is left",
                () -> refused.servers.stream().allMatch(server -> server.connectionCount() == 0));
        }
    }

    @Test
    void connectFailsWhenShardsAreOfDifferentModelsMissingOrInTheWrongOrder() throws IOException {
        ModelFacts first = FakeShards.facts(MIB, BLOCK, 0, 2);
        assertRefused("different model: its size", first, FakeShards.facts(2 * MIB, BLOCK, 1, 2));
        assertRefused("different model: its block size", first, FakeShards.facts(MIB, 4096, 1, 2));
        for (String source : new String[]{"sha256:1", null}) {
            assertRefused("different model: its source", first,
                new ModelFacts(FakeShards.MODEL, MIB, BLOCK, 1, 2, "assign", "asp", 1, source));
        }
        assertRefused("give the addresses of the shards in order", FakeShards.facts(MIB, BLOCK, 1, 2), first);
        assertRefused("is one of 3 shards of model fake, but 1 address was given", FakeShards.facts(MIB, BLOCK, 0, 3));
    }

    @ParameterizedTest
    @CsvSource({"refuse, 1, true", "pass, 1, false", "pass, NaN, false"})
    void pushIsDeclaredFiniteOnlyIfTheShardChecksGradients(String nonFinite, float value, boolean declared)
        throws IOException {
        connect(nonFinite, value);
        model.push(0, memory, 0, BLOCK, Cancellation.NONE);
        assertThat(shards.shards.getFirst().declaredFinite).isEqualTo(declared);
        assertThat(shards.shards.getFirst().admitted).hasValue(1);
    }

    /** Connects to two shards with this policy. The last weight of the second of four blocks is {@code value}. */
    private void connect(String nonFinite, float value) throws IOException {
        ModelFacts[] facts = new ModelFacts[2];
        for (int i = 0; i < facts.length; i++) {
            facts[i] = new ModelFacts(FakeShards.MODEL, 4 * BLOCK, BLOCK, i, 2, "sum", "asp", 1, 0, nonFinite, "zeros",
                ValueType.FLOAT32, ModelFacts.PROTOCOL, null);
        }
        serve(new FakeShards(context -> context, facts), _ -> {});
        memory.slab(0).set(ValueLayout.JAVA_FLOAT, 2 * BLOCK - 4, value);
    }

    @Test
    void pushWithANaNInOneBlockSendsNoBlockAndIsCountedOnce() throws IOException {
        connect("refuse", Float.NaN);
        assertThatThrownBy(() -> model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE))
            .hasMessageContaining("no part of it was pushed");
        assertThat(shards.shards.get(0).absents).containsExactly("0+0 in round 1, not finite");
        assertThat(shards.shards.stream().mapToInt(shard -> shard.admitted.get()).sum()).isEqualTo(1);
    }

    @Test
    void skippedPushWithAnInfinityIsAbsentInAllBlocksAndIsCountedOnce() throws IOException {
        connect("skip", Float.NEGATIVE_INFINITY);
        model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE);
        assertThat(shards.shards.get(0).absents).containsExactlyInAnyOrder(
            "0+" + BLOCK + " in round 1, not finite", BLOCK + "+" + BLOCK + " in round 1");
        assertThat(shards.shards.get(1).absents).containsExactlyInAnyOrder(
            "0+" + BLOCK + " in round 1", BLOCK + "+" + BLOCK + " in round 1");
        memory.slab(0).set(ValueLayout.JAVA_FLOAT, 2 * BLOCK - 4, 1);
        model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE);
        assertThat(model.nextRound()).isEqualTo(3);
    }

    @Test
    void rangeOfAFailedPushCanBeMarkedAbsentInTheRoundOfThePush() throws IOException {
        connect("refuse", 1);
        shards.parking(true);
        Cancellation cancellation = new Cancellation();
        CompletableFuture<Void> push = async(() -> model.push(0, memory, 0, 4 * BLOCK, cancellation));
        await("all blocks wait", () -> shards.parked() == 4);
        cancellation.cancel();
        assertThat(push).failsWithin(Duration.ofSeconds(30));
        shards.parking(false);
        assertThat(model.absent(0, 4 * BLOCK, false, Cancellation.NONE)).isEqualTo(4 * BLOCK);
        assertThat(shards.shards).allSatisfy(shard -> assertThat(shard.absents).containsExactlyInAnyOrder(
            "0+" + BLOCK + " in round 1", BLOCK + "+" + BLOCK + " in round 1"));
        assertThat(model.nextRound()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"99, update modeldisk here", "0, update modeldisk there"})
    void connectFailsWhenAShardSpeaksAnotherVersionOfTheProtocol(int version, String remedy) throws IOException {
        assertRefused("speaks version " + version + " of modeldisk's protocol, but this program (modeldisk "
            + ProgramVersion.TEXT + ") speaks version " + ModelFacts.PROTOCOL + "; " + remedy,
            FakeShards.ofProtocol(FakeShards.facts(MIB, BLOCK, 0, 1), version));
    }

    @Test
    void pushToAShardOfANewProtocolVersionFailsAndTheErrorNamesBothVersions() throws IOException {
        serve(MIB, 1);
        model.push(0, memory, 0, BLOCK, Cancellation.NONE);
        shards.shards.getFirst().page = FakeShards.ofProtocol(FakeShards.facts(MIB, BLOCK, 0, 1), 99).toJson();
        int admitted = shards.shards.getFirst().admitted.get();
        shards.restart(0);
        assertThatThrownBy(() -> model.push(0, memory, 0, BLOCK, Cancellation.NONE)).satisfies(
            failure -> assertShardFailed(failure, ShardException.Kind.WRONG_SHARD, 0))
            .hasMessageContaining("speaks version 99").hasMessageContaining("speaks version " + ModelFacts.PROTOCOL);
        assertThat(shards.shards.getFirst().admitted).hasValue(admitted);
    }

    @ParameterizedTest
    @CsvSource({"hello, not a modeldisk shard", "'{\"shards\":1}', is not a shard of modeldisk"})
    void connectFailsWhenAShardReportsNoFacts(String page, String message) throws IOException {
        shards = FakeShards.of(MIB, BLOCK, 1);
        shards.shards.getFirst().page = page.getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> StripedModel.connect(context(shards.address()))).isInstanceOf(IOException.class)
            .hasMessageContaining(message);
    }

    @Test
    void pullRefusesARangeBeyondTheEndOfTheModelOrOfTheMemory() throws IOException {
        serve(MIB, 1);
        assertThatThrownBy(() -> model.pull(MIB, memory, 0, 4096, Cancellation.NONE))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> model.pull(0, memory, 8 * MIB - 4096, 8192, Cancellation.NONE))
            .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void closeLeavesNoSessionOpen() throws IOException {
        serve(MIB, 2);
        model.join();
        model.close();
        model = null;
        await("no connection is left", () -> shards.servers.stream().allMatch(server -> server.connectionCount() == 0));
    }

    @Test
    void learnerKeepsItsSessionsWithOtherShardsWhenAShardIsLost() throws IOException {
        serve(4 * BLOCK, 2);
        model.join();
        int sessions = shards.servers.get(1).connectionCount();
        shards.servers.get(0).close();
        assertThatThrownBy(() -> model.push(0, memory, 0, 4 * BLOCK, Cancellation.NONE))
            .isInstanceOf(IOException.class);
        assertThat(pushes()).isFalse();
        assertThat(shards.servers.get(1).connectionCount()).isEqualTo(sessions);
    }
}
