package io.modeldisk.gradient;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import io.modeldisk.server.ParameterServer;
import io.modeldisk.server.ServerContext;
import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.StripedModel;
import io.modeldisk.striping.StripedModelContext;
import io.modeldisk.test.NetworkPath;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The shards and learners of a {@link Scenario}. */
final class RandomJob implements AutoCloseable {
    /** The size of a shard's buffers. It is small, because a shard spends most of its start on the allocation of this memory. */
    private static final int BUFFER_BYTES = 24 << 20;
    private static final int MAX_CONNECTIONS = 24;
    private static final int MAX_BREAKS = 6;
    private static final int MAX_CUTS = 10;
    private static final Duration MEMBERSHIP = Duration.ofMinutes(10);
    private static final int BOUND_S = 60;

    private final Scenario scenario;
    private final SplittableRandom random;
    private final List<ParameterServer> servers = new ArrayList<>();
    private final List<NetworkPath> paths = new ArrayList<>();
    private final List<RandomLearner> learners = new ArrayList<>();
    /** The timer has only one thread, so a path is cut before it is restored, even if both are due at the same time. */
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger breaksLeft = new AtomicInteger();

    RandomJob(Scenario scenario) throws IOException {
        this.scenario = scenario;
        this.random = new SplittableRandom(scenario.seed()).split();
        for (int i = 0; i < scenario.shards(); i++) {
            servers.add(ParameterServer.launch(new ServerContext().model("m").sizeBytes(scenario.sizeBytes())
                .blockSizeBytes(scenario.blockBytes()).shard(i).shards(scenario.shards())
                .aggregator("sum", Aggregators.parse("sum")).consistency(scenario.consistency())
                .learners(scenario.learners()).nonFinite(scenario.policy()).lease(MEMBERSHIP)
                .listen(new InetSocketAddress("127.0.0.1", 0))
                .network(network -> network.maxConnections(MAX_CONNECTIONS).bufferBytes(BUFFER_BYTES))));
        }
        List<InetSocketAddress> portals = servers.stream().map(ParameterServer::localAddress).toList();
        for (int i = 0; i < scenario.learners(); i++) {
            StripedModel model = StripedModel.connect(new StripedModelContext(
                new ModelAddress(scenario.cuts() ? pathsTo(portals) : portals, "m")).learner("learner" + i)
                .waitTimeout(scenario.waitTimeout()).reconnectTimeout(scenario.reconnectTimeout())
                .dtype(scenario.dtype()));
            learners.add(new RandomLearner(scenario, model, timer, random.split()));
        }
    }

    private List<InetSocketAddress> pathsTo(List<InetSocketAddress> portals) throws IOException {
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (InetSocketAddress portal : portals) {
            paths.add(new NetworkPath(portal, random.nextLong(), breaksLeft));
            addresses.add(paths.getLast().address());
        }
        return addresses;
    }

    /** Trains all learners, and checks the weights and the rounds. */
    void run() throws Exception {
        for (RandomLearner learner : learners) {
            learner.join();
        }
        if (scenario.cuts()) {
            breaksLeft.set(random.nextInt(MAX_BREAKS));
            scheduleCuts();
        }
        List<Future<Void>> training = learners.stream().map(learner -> threads.<Void>submit(() -> {
            learner.train();
            return null;
        })).toList();
        for (Future<Void> each : training) {
            each.get(BOUND_S, TimeUnit.SECONDS);
        }
        check();
    }

    private void scheduleCuts() {
        long atUs = 0;
        for (int i = random.nextInt(MAX_CUTS); i > 0; i--) {
            NetworkPath path = paths.get(random.nextInt(paths.size()));
            atUs += random.nextInt(20_000);
            timer.schedule(() -> path.state(NetworkPath.State.DOWN), atUs, TimeUnit.MICROSECONDS);
            atUs += random.nextInt(60_000);
            timer.schedule(() -> path.state(NetworkPath.State.UP), atUs, TimeUnit.MICROSECONDS);
        }
    }

    private void check() throws IOException {
        try (StripedModel observer = StripedModel.connect(new StripedModelContext(
            new ModelAddress(servers.stream().map(ParameterServer::localAddress).toList(), "m")).learner("observer"));
            DataMemory weights = DataMemory
                .allocate(Math.ceilDiv(scenario.sizeBytes(), LogicalBlock.BYTES) * (long) LogicalBlock.BYTES)) {
            JsonNode status = observer.status();
            checkRounds(status);
            checkNonFinite(status);
            observer.read(0, weights, 0, weights.bytes(), Cancellation.NONE);
            ExpectedWeights expected = new ExpectedWeights(learners.stream().map(RandomLearner::history).toList(),
                scenario.consistency().equals("bsp"));
            for (int i = 0; i < scenario.logicalBlocks(); i++) {
                expected.check(i, commonWeight(weights, i));
            }
            expected.checkDropped();
        }
    }

    private float commonWeight(DataMemory weights, int logicalBlock) {
        int length = LogicalBlock.BYTES * scenario.dtype().widening();
        int first = logicalBlock * length;
        float weight = weights.slab(0).get(ValueLayout.JAVA_FLOAT, first);
        int end = Math.min(first + length, scenario.sizeBytes());
        for (int at = first; at < end; at += Float.BYTES) {
            assertThat(weights.slab(0).get(ValueLayout.JAVA_FLOAT, at)).as("the weight at byte %d", at)
                .isEqualTo(weight);
        }
        return weight;
    }

    private void checkRounds(JsonNode status) {
        if (scenario.parts()) {
            return;
        }
        for (JsonNode shard : status) {
            assertThat(shard.path("learners")).hasSize(scenario.learners());
            for (JsonNode learner : shard.path("learners")) {
                assertThat(learner.at("/clock/min").asLong()).as(status::toPrettyString).isEqualTo(scenario.rounds());
                assertThat(learner.at("/clock/max").asLong()).as(status::toPrettyString).isEqualTo(scenario.rounds());
            }
            if (scenario.consistency().equals("bsp")) {
                assertThat(shard.at("/rounds/min").asLong()).as(status::toPrettyString).isEqualTo(scenario.rounds());
                assertThat(shard.at("/rounds/max").asLong()).as(status::toPrettyString).isEqualTo(scenario.rounds());
            }
        }
    }

    private void checkNonFinite(JsonNode status) {
        long nonFinite = 0;
        for (JsonNode shard : status) {
            nonFinite += shard.path("nonFinitePushes").asLong();
        }
        if (scenario.isCalm()) {
            assertThat(nonFinite).as("the number of gradients that the shards count as not finite")
                .isEqualTo(learners.stream()
                    .flatMap(learner -> learner.history().stream()).filter(gradient -> !gradient.finite).count());
        }
    }

    /** Returns the actions of the learners, for the message of a failed test. */
    String describe() {
        StringBuilder text = new StringBuilder(scenario.toString());
        for (RandomLearner learner : learners) {
            text.append("\n").append(learner.history()).append("\n  ").append(learner.trace());
        }
        return text.toString();
    }

    @Override
    public void close() throws IOException {
        timer.shutdownNow();
        threads.shutdownNow();
        for (NetworkPath path : paths) {
            path.close();
        }
        learners.forEach(RandomLearner::close);
        servers.forEach(ParameterServer::close);
    }
}
