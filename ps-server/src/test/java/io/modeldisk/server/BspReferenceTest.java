package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Trains two learners with two shards under bsp over the network. The weights must equal those of a sequential loop. Each
 * gradient depends on the weights, so a different order of operations, or a lost or repeated gradient, changes the result.
 */
@Timeout(100)
class BspReferenceTest {
    private static final int SHARDS = 2;
    private static final int LEARNERS = 2;
    private static final int ROUNDS = 40;
    private static final int BLOCK = 16 << 10;
    private static final int SIZE = 20 * BLOCK + 4096;
    private static final int WEIGHTS = SIZE / Float.BYTES;
    private static final float RATE = 0.1f;

    private final List<ParameterServer> servers = new ArrayList<>();

    @AfterEach
    void close() {
        servers.forEach(ParameterServer::close);
    }

    private List<InetSocketAddress> serve() throws IOException {
        for (int i = 0; i < SHARDS; i++) {
            servers.add(ParameterServer.launch(new ServerContext().model("m").sizeBytes(SIZE)
                .blockSizeBytes(BLOCK).shard(i).shards(SHARDS).listen(new InetSocketAddress("127.0.0.1", 0))
                .aggregator("sgd:lr=" + RATE, Aggregators.parse("sgd:lr=" + RATE)).consistency("bsp")
                .learners(LEARNERS)));
        }
        return servers.stream().map(ParameterServer::localAddress).toList();
    }

    /** The gradients of a learner: a multiple of the weight, plus random noise. */
    private static final class Data {
        private final SplittableRandom random;

        Data(int learner) {
            this.random = new SplittableRandom(learner);
        }

        float gradient(float weight) {
            return weight * 0.3f + (float) random.nextDouble(-1, 1);
        }
    }

    /** Trains one learner. Returns the weights that the learner pulled after each round. */
    private static List<float[]> learn(List<InetSocketAddress> shards, int learner) throws IOException {
        List<float[]> seen = new ArrayList<>();
        Data data = new Data(learner);
        try (StripedModel model = StripedModel.connect(
            new StripedModelContext(new ModelAddress(shards, "m")).learner("learner" + learner));
            DataMemory gradient = DataMemory.allocate(SIZE);
            DataMemory weights = DataMemory.allocate(SIZE)) {
            for (int round = 1; round <= ROUNDS; round++) {
                for (int i = 0; i < WEIGHTS; i++) {
                    float weight = weights.slab(0).getAtIndex(ValueLayout.JAVA_FLOAT, i);
                    gradient.slab(0).setAtIndex(ValueLayout.JAVA_FLOAT, i, data.gradient(weight));
                }
                model.push(0, gradient, 0, SIZE, Cancellation.NONE);
                model.pull(0, weights, 0, SIZE, Cancellation.NONE);
                float[] copy = new float[WEIGHTS];
                for (int i = 0; i < WEIGHTS; i++) {
                    copy[i] = weights.slab(0).getAtIndex(ValueLayout.JAVA_FLOAT, i);
                }
                seen.add(copy);
            }
        }
        return seen;
    }

    private static List<float[]> reference() {
        List<float[]> after = new ArrayList<>();
        List<Data> learners = List.of(new Data(0), new Data(1));
        float[] weights = new float[WEIGHTS];
        for (int round = 1; round <= ROUNDS; round++) {
            float[] sum = new float[WEIGHTS];
            for (Data learner : learners) {
                for (int i = 0; i < WEIGHTS; i++) {
                    sum[i] += learner.gradient(weights[i]);
                }
            }
            for (int i = 0; i < WEIGHTS; i++) {
                weights[i] = Math.fma(sum[i], -RATE * (1f / LEARNERS), weights[i]);
            }
            after.add(weights.clone());
        }
        return after;
    }

    @Test
    void weightsOfTwoLearnersEqualThoseOfASequentialLoopBitForBit() throws Exception {
        List<InetSocketAddress> shards = serve();
        List<List<float[]>> seen = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(LEARNERS)) {
            Future<List<float[]>> first = threads.submit(() -> learn(shards, 0));
            Future<List<float[]>> second = threads.submit(() -> learn(shards, 1));
            seen.add(first.get(60, TimeUnit.SECONDS));
            seen.add(second.get(60, TimeUnit.SECONDS));
        }
        List<float[]> reference = reference();
        for (int round = 1; round <= ROUNDS; round++) {
            for (List<float[]> learner : seen) {
                float[] weights = learner.get(round - 1);
                for (int i = 0; i < WEIGHTS; i++) {
                    assertThat(Float.floatToRawIntBits(weights[i])).as("weight %d after round %d", i, round)
                        .isEqualTo(Float.floatToRawIntBits(reference.get(round - 1)[i]));
                }
            }
        }
    }
}
