package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.test.NetworkPath;
import io.modeldisk.test.NetworkPath.State;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Breaks the connections of learners to two shards a thousand times at random points. The learning rate is a power of two and
 * gradients are small integers, so float32 sums are exact in any order, and the values are exact in the 16-bit types too.
 * Learners with different types share the rounds.
 */
@Timeout(100)
class KillAndReconnectTest {
    private static final int BREAKS = 1000;
    private static final int SHARDS = 2;
    private static final int PAGE = 4096;
    private static final int BLOCK = 4 * PAGE;
    // The last block has only two logical blocks.
    private static final int SIZE = 40 * BLOCK + 2 * PAGE;
    private static final int PAGES = SIZE / PAGE;
    private static final float RATE = 0.5f;
    private static final long SEED = 20261121;

    private final AtomicInteger breaksLeft = new AtomicInteger();
    private final List<ParameterServer> servers = new ArrayList<>();
    private final List<NetworkPath> paths = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (NetworkPath path : paths) {
            path.close();
        }
        servers.forEach(ParameterServer::close);
    }

    private void serve(String consistency, int learners, Duration lease) throws IOException {
        for (int i = 0; i < SHARDS; i++) {
            servers.add(ParameterServer.launch(new ServerContext().model("m").sizeBytes(SIZE)
                .blockSizeBytes(BLOCK).shard(i).shards(SHARDS).listen(new InetSocketAddress("127.0.0.1", 0))
                .aggregator("sgd:lr=" + RATE, Aggregators.parse("sgd:lr=" + RATE)).consistency(consistency)
                .learners(learners).lease(lease)));
            paths.add(new NetworkPath(servers.get(i).localAddress(), SEED + i, breaksLeft));
        }
    }

    private StripedModel connect(List<InetSocketAddress> shards, String learner, ValueType type) throws IOException {
        return StripedModel.connect(new StripedModelContext(new ModelAddress(shards, "m")).learner(learner).dtype(type)
            .sessions(session -> session.commandTimeout(Duration.ofSeconds(20)))
            .reconnectTimeout(Duration.ofSeconds(20))
            .waitTimeout(Duration.ofSeconds(60)));
    }

    private StripedModel connectDirectly(String learner) throws IOException {
        return connect(servers.stream().map(ParameterServer::localAddress).toList(), learner, ValueType.FLOAT32);
    }

    private StripedModel connectThroughChaos(String learner, ValueType type) throws IOException {
        return connect(paths.stream().map(NetworkPath::address).toList(), learner, type);
    }

    /** Fills the values of one page of the model. In a 16-bit type, the page has half the length. */
    private static void fill(DataMemory memory, int page, float value, ValueType type) {
        int pageBytes = PAGE / type.widening();
        for (int i = 0; i < pageBytes; i += type.bytes()) {
            long at = (long) page * pageBytes + i;
            switch (type) {
                case FLOAT32 -> memory.slab(0).set(ValueLayout.JAVA_FLOAT, at, value);
                case BFLOAT16 -> memory.slab(0).set(ValueLayout.JAVA_SHORT, at,
                    (short) (Float.floatToRawIntBits(value) >>> 16));
                case FLOAT16 -> memory.slab(0).set(ValueLayout.JAVA_SHORT, at, Float.floatToFloat16(value));
            }
        }
    }

    private static float valueAt(DataMemory memory, long at, ValueType type) {
        return switch (type) {
            case FLOAT32 -> memory.slab(0).get(ValueLayout.JAVA_FLOAT, at);
            case BFLOAT16 -> Float.intBitsToFloat(memory.slab(0).get(ValueLayout.JAVA_SHORT, at) << 16);
            case FLOAT16 -> Float.float16ToFloat(memory.slab(0).get(ValueLayout.JAVA_SHORT, at));
        };
    }

    private static void assertWeights(DataMemory memory, long[] gradients, float scale, ValueType type) {
        int pageBytes = PAGE / type.widening();
        for (int page = 0; page < PAGES; page++) {
            for (int i = 0; i < pageBytes; i += 512) {
                assertThat(valueAt(memory, (long) page * pageBytes + i, type)).as("page " + page)
                    .isEqualTo(-scale * gradients[page]);
            }
        }
    }

    private void assertRawWeights(long[] gradients, float scale) throws IOException {
        try (StripedModel model = connectDirectly("reader"); DataMemory memory = DataMemory.allocate(SIZE)) {
            model.read(0, memory, 0, SIZE, Cancellation.NONE);
            assertWeights(memory, gradients, scale, ValueType.FLOAT32);
        }
    }

    /** Repeats a push until it succeeds. Cancels some attempts at random. */
    private static void pushSurely(
        StripedModel model, DataMemory gradient, long offset, int bytes, SplittableRandom random) throws IOException {
        while (true) {
            Cancellation cancellation = new Cancellation();
            if (random.nextInt(8) == 0) {
                long after = random.nextLong(2_000_000);
                Thread.ofVirtual().start(() -> {
                    LockSupport.parkNanos(after);
                    cancellation.cancel();
                });
            }
            try {
                model.push(offset, gradient, offset, bytes, cancellation);
                return;
            } catch (CancelledException e) {
                // The loop pushes again.
            }
        }
    }

    /**
     * Pushes random pieces until the test has broken enough connections. Returns the sum of the pushed gradients for each page.
     */
    private long[] learnInPieces(String name, long seed, ValueType type) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        long[] sums = new long[PAGES];
        // A logical block of a 16-bit type contains the values of two pages of the model.
        int step = type.widening();
        try (StripedModel model = connectSurely(name, type);
            DataMemory gradient = DataMemory.allocate(SIZE)) {
            while (breaksLeft.get() > 0) {
                for (int page = 0; page < PAGES;) {
                    int pages = Math.min(PAGES - page, step * (1 + random.nextInt(random.nextBoolean() ? 3 : PAGES)));
                    for (int i = page; i < page + pages; i++) {
                        int value = random.nextInt(-4, 5);
                        fill(gradient, i, value, type);
                        sums[i] += value;
                    }
                    pushSurely(model, gradient, (long) page * PAGE / step, pages * PAGE / step, random);
                    page += pages;
                }
            }
            model.synchronize(Cancellation.NONE);
        }
        return sums;
    }

    /** Connects a learner. Retries until a connection succeeds, because StripedModel does not retry its first connection. */
    private StripedModel connectSurely(String name, ValueType type) throws IOException {
        while (true) {
            try {
                return connectThroughChaos(name, type);
            } catch (IOException e) {
                // The test has broken the connection, so the loop tries again.
            }
        }
    }

    @Test
    void aspPushCountsOnceWhenItsConnectionBreaksRepeatedly() throws Exception {
        breaksLeft.set(BREAKS);
        serve("asp", 1, Duration.ofSeconds(60));
        List<Callable<long[]>> learners = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int number = i;
            learners.add(() -> learnInPieces("learner" + number, SEED + number, ValueType.values()[number]));
        }
        long[] expected = new long[PAGES];
        for (long[] sums : Roles.runAll(learners)) {
            for (int page = 0; page < PAGES; page++) {
                expected[page] += sums[page];
            }
        }
        assertThat(breaksLeft.get()).isZero();
        assertRawWeights(expected, RATE);
    }

    /** The gradient that a learner pushes in a round for a page. */
    private static int gradient(int learner, int round, int page) {
        return new SplittableRandom(SEED + 31L * (31L * learner + round) + page).nextInt(-4, 5);
    }

    /**
     * Pushes and pulls each round as one learner. Checks that the weights of each pull include the gradients of all learners up
     * to this round, and no later gradients.
     */
    private Void learnInRounds(int number, int learners, int rounds, CyclicBarrier joined) throws Exception {
        SplittableRandom random = new SplittableRandom(SEED + number);
        long[] sums = new long[PAGES];
        ValueType type = number == 0 ? ValueType.FLOAT32 : ValueType.FLOAT16;
        int step = type.widening();
        try (StripedModel model = connectSurely("learner" + number, type);
            DataMemory gradient = DataMemory.allocate(SIZE);
            DataMemory weights = DataMemory.allocate(SIZE)) {
            model.join();
            joined.await(60, TimeUnit.SECONDS);
            for (int round = 1; round <= rounds; round++) {
                for (int page = 0; page < PAGES; page++) {
                    fill(gradient, page, gradient(number, round, page), type);
                    for (int learner = 0; learner < learners; learner++) {
                        sums[page] += gradient(learner, round, page);
                    }
                }
                int size = SIZE / step;
                int cut = random.nextInt(1, PAGES / step) * PAGE;
                pushSurely(model, gradient, 0, cut, random);
                pushSurely(model, gradient, cut, size - cut, random);
                model.pull(0, weights, 0, size, Cancellation.NONE);
                assertWeights(weights, sums, RATE / learners, type);
            }
        }
        return null;
    }

    @Test
    void bspWeightsEqualTheWeightsOfASequentialRunDespiteLostConnections() throws Exception {
        int learners = 2;
        int rounds = 100;
        serve("bsp", learners, Duration.ofSeconds(60));
        // The test breaks connections only after all learners have joined, because a learner that joins late misses the first
        // round.
        CyclicBarrier joined = new CyclicBarrier(learners, () -> breaksLeft.set(BREAKS));
        List<Callable<Void>> roles = new ArrayList<>();
        for (int i = 0; i < learners; i++) {
            int number = i;
            roles.add(() -> learnInRounds(number, learners, rounds, joined));
        }
        Roles.runAll(roles);
        assertThat(breaksLeft.get()).isZero();
        long[] sums = new long[PAGES];
        for (int round = 1; round <= rounds; round++) {
            for (int page = 0; page < PAGES; page++) {
                for (int learner = 0; learner < learners; learner++) {
                    sums[page] += gradient(learner, round, page);
                }
            }
        }
        assertRawWeights(sums, RATE / learners);
    }

    @Test
    void newLearnerPullsTheSameRoundFromAllShards() throws Exception {
        serve("bsp", 1, Duration.ofSeconds(60));
        try (StripedModel founder = connectDirectly("founder");
            StripedModel newcomer = connectDirectly("newcomer");
            DataMemory ones = DataMemory.allocate(SIZE);
            DataMemory weights = DataMemory.allocate(SIZE)) {
            Weights.fill(ones.segment(0, SIZE), 1);
            founder.push(0, ones, 0, SIZE, Cancellation.NONE);
            // When the new learner joins, the first learner has pushed only block 0 of round 2. This block is on shard 0.
            founder.push(0, ones, 0, BLOCK, Cancellation.NONE);
            newcomer.join();
            Callable<Void> train = () -> {
                newcomer.push(0, ones, 0, SIZE, Cancellation.NONE);
                newcomer.pull(0, weights, 0, SIZE, Cancellation.NONE);
                return null;
            };
            Callable<Void> goOn = () -> {
                founder.push(BLOCK, ones, BLOCK, SIZE - BLOCK, Cancellation.NONE);
                founder.push(0, ones, 0, SIZE, Cancellation.NONE);
                return null;
            };
            Roles.runAll(List.of(train, goOn));
            long[] rounds = new long[PAGES];
            Arrays.fill(rounds, Math.round(-valueAt(weights, 0, ValueType.FLOAT32) / RATE));
            assertWeights(weights, rounds, RATE, ValueType.FLOAT32);
        }
    }

    @Test
    void learnerWhoseLeaseExpiredContinuesAsANewMember() throws Exception {
        serve("asp", 1, Duration.ofMillis(50));
        try (StripedModel model = connectSurely("learner", ValueType.FLOAT32);
            DataMemory gradient = DataMemory.allocate(SIZE)) {
            for (int page = 0; page < PAGES; page++) {
                fill(gradient, page, page, ValueType.FLOAT32);
            }
            model.push(0, gradient, 0, SIZE, Cancellation.NONE);
            ShardModel shard = servers.get(0).shard();
            long membership = shard.learners().roster().members().getFirst().number();
            paths.get(0).state(State.DOWN);
            await("the lease expires", () -> shard.learners().roster().members().isEmpty());
            paths.get(0).state(State.UP);
            model.push(0, gradient, 0, SIZE, Cancellation.NONE);
            assertThat(shard.learners().roster().members()).hasSize(1)
                .noneMatch(member -> member.number() == membership);
        }
        assertRawWeights(LongStream.range(0, PAGES).map(page -> 2 * page).toArray(), RATE);
    }

    @Test
    void pushOfALearnerThatRestartsUnderItsOldNameCounts() throws Exception {
        serve("asp", 1, Duration.ofSeconds(60));
        for (int life = 0; life < 3; life++) {
            StripedModel model = connectSurely("learner", ValueType.FLOAT32);
            try (DataMemory gradient = DataMemory.allocate(SIZE)) {
                Weights.fill(gradient.segment(0, SIZE), 1);
                model.push(0, gradient, 0, SIZE, Cancellation.NONE);
            }
            // The learner dies without a logout, so the shard still has its old membership when the learner restarts.
            paths.forEach(path -> path.state(State.DOWN));
            model.close();
            paths.forEach(path -> path.state(State.UP));
        }
        assertRawWeights(LongStream.generate(() -> 3).limit(PAGES).toArray(), RATE);
    }
}
