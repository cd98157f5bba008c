package io.modeldisk.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.mount.exchange.BufferedExchange;
import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.ExchangeSettings;
import io.modeldisk.mount.exchange.OnRollback;
import io.modeldisk.mount.scheduling.PullPolicy;
import io.modeldisk.mount.trace.IterationTrace;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.striping.StripedModel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the exchange scheme overlap with shards, {@code bench training} and {@code trace}. */
@Timeout(120)
final class OverlapIT {
    /**
     * The size of the model. Both shards have several blocks, the mount transfers the model in several pieces, and the size is
     * not a multiple of the logical block size.
     */
    private static final int SIZE_BYTES = (9 << 20) + 5000;
    private static final int WEIGHTS = SIZE_BYTES / Float.BYTES;
    private static final int ITERATIONS = 9;

    @RegisterExtension
    private final Sandbox sandbox = new Sandbox();

    private Shards shards;

    /** Returns a gradient value that depends on the weight, the learner and the position. The value is exact in float32. */
    private static float gradient(float weight, int learner, int place) {
        return weight / 2 + (learner == 0 ? 1 : 3) * (place % 7 + 1);
    }

    private BufferedExchange exchange(int learner, PullPolicy pull) throws Exception {
        StripedModel model = sandbox.closeAfterwards(
            StripedModel.connect(shards.context().learner("l" + learner)));
        model.join();
        return sandbox.closeAfterwards((BufferedExchange) ExchangeScheme.OVERLAP.create(model,
            new ExchangeSettings(pull, OnRollback.FAIL, new IterationTrace(NanoClock.SYSTEM, Instant.now()))));
    }

    private static MemorySegment buffer(BufferedExchange exchange, boolean gradient) throws IOException {
        return exchange.buffer(exchange.activeSet(), gradient, Cancellation.NONE).slab(0);
    }

    /** Trains, and returns the weights that the learner used in each iteration. */
    private static List<float[]> train(BufferedExchange exchange, int learner) throws Exception {
        List<float[]> seen = new ArrayList<>();
        exchange.prepareMapped(Cancellation.NONE);
        exchange.awaitWeights(Cancellation.NONE);
        for (int k = 1; k <= ITERATIONS; k++) {
            float[] weights = new float[WEIGHTS];
            MemorySegment current = buffer(exchange, false);
            MemorySegment gradient = buffer(exchange, true);
            for (int place = 0; place < WEIGHTS; place++) {
                weights[place] = current.getAtIndex(ValueLayout.JAVA_FLOAT, place);
                gradient.setAtIndex(ValueLayout.JAVA_FLOAT, place, gradient(weights[place], learner, place));
            }
            seen.add(weights);
            exchange.synchronize(Cancellation.NONE);
        }
        exchange.flush(Cancellation.NONE);
        return seen;
    }

    @ParameterizedTest
    @CsvSource({
        "BESIDE_PUSH, 65536", "AFTER_PUSH, 65536",
        // These blocks are larger than a request.
        "ADAPTIVE, 1048576"})
    void bspLearnersWithOverlapUseTheExactWeightsOfThePreviousRound(PullPolicy pull, int blockBytes) throws Exception {
        shards = Shards.launch(sandbox, "m", 2, SIZE_BYTES, context -> context.blockSizeBytes(blockBytes)
            .consistency("bsp").learners(2).aggregator("sgd:lr=0.5", Aggregators.parse("sgd:lr=0.5")));
        List<BufferedExchange> exchanges = List.of(exchange(0, pull), exchange(1, pull));
        List<List<float[]>> seen = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<List<float[]>> first = threads.submit(() -> train(exchanges.get(0), 0));
            Future<List<float[]>> second = threads.submit(() -> train(exchanges.get(1), 1));
            seen.add(first.get(60, TimeUnit.SECONDS));
            seen.add(second.get(60, TimeUnit.SECONDS));
        }
        List<float[]> reference = new ArrayList<>(List.of(new float[WEIGHTS]));
        for (int k = 1; k <= ITERATIONS; k++) {
            float[] used = reference.get(Math.max(0, k - 2));
            assertThat(Arrays.equals(seen.get(0).get(k - 1), used)).as("learner 0, iteration %d", k).isTrue();
            assertThat(Arrays.equals(seen.get(1).get(k - 1), used)).as("learner 1, iteration %d", k).isTrue();
            float[] next = reference.getLast().clone();
            for (int place = 0; place < WEIGHTS; place++) {
                next[place] -= 0.5f * ((gradient(used[place], 0, place) + gradient(used[place], 1, place)) / 2);
            }
            reference.add(next);
        }
    }

    @Test
    @Tag("mount")
    void trainingBenchComparesDurabilities() throws Exception {
        Programs.requireMounting();
        Path json = sandbox.path("durability.json");
        sandbox.run(Sandbox.modeldisk("bench", "training", "--model", "1MiB:5ms", "--learners", "1", "--shards", "1",
            "--exchange", "overlap", "--iterations", "5", "--rounds", "1", "--durability", "memory,replica", "--out",
            json)).succeeded();
        JsonNode results = new ObjectMapper().readTree(Files.readString(json)).path("results");
        assertThat(results.findValuesAsText("durability")).containsExactly("memory", "replica");
        assertThat(results.path(0).has("x without")).isFalse();
        assertThat(results.path(1).path("x without").path("median").asDouble()).isPositive();
    }

    @Test
    @Tag("mount")
    void trainingBenchReportsEachExchangeSchemeWithItsTimeline() throws Exception {
        Programs.requireMounting();
        Path json = sandbox.path("training.json");
        Path svg = sandbox.path("training.svg");
        sandbox.run(Sandbox.modeldisk("bench", "training", "--model", "1MiB:5ms", "--learners", "2", "--shards", "1",
            "--exchange", "direct,overlap", "--iterations", "5", "--rounds", "1", "--out", json + "," + svg))
            .succeeded();
        JsonNode results = new ObjectMapper().readTree(Files.readString(json)).path("results");
        assertThat(results.findValuesAsText("exchange")).containsExactly("direct", "overlap:adaptive");
        for (JsonNode result : results) {
            double computeMs = result.path("compute").path("median").asDouble();
            assertThat(computeMs).isGreaterThanOrEqualTo(5);
            double parts = computeMs + result.path("read and write").path("median").asDouble()
                + result.path("fsync").path("median").asDouble();
            assertThat(result.path("iteration").path("median").asDouble()).isGreaterThan(0.99 * parts)
                .isLessThan(1.01 * parts);
        }
        assertThat(svg).content().contains("<svg", "<path");
    }

    @Test
    void traceCommandDrawsATimelineAndRefusesAMalformedTrace() throws Exception {
        Path trace = sandbox.file("trace.json", """
            {"otherData": {"learner": "a", "model": "m", "exchange": "sync"}, "traceEvents": [
            {"ph": "X", "name": "compute", "ts": 0, "dur": 1000, "args": {"iteration": 1}}]}
            """);
        sandbox.run(Sandbox.modeldisk("trace", trace, "--out", sandbox.path("timeline"))).succeeded();
        assertThat(sandbox.path("timeline.svg")).content().contains("<svg");
        assertThat(Files.readAllBytes(sandbox.path("timeline.png"))).startsWith(0x89, 'P', 'N', 'G');

        sandbox.run(Sandbox.modeldisk("trace", sandbox.file("x.json", "{}")))
            .failed(1, "x.json is not a trace of a mount");
    }
}
