package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.checkpoint.CheckpointStatus;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * The common parts of tests that take checkpoints of a model and start shards from them. The model has five and a half blocks.
 */
abstract class CheckpointFixture {
    protected static final int BLOCK = 8192;
    protected static final int SIZE = 5 * BLOCK + 4096;
    protected static final Nexus LEARNER = FakeTask.nexus("a");
    protected static final int STEPS = 20;

    @TempDir
    protected Path folder;
    protected final ManualClock clock = new ManualClock();
    protected final List<ShardModel> open = new ArrayList<>();
    protected String period = "1h";
    protected String consistency = "bsp";
    protected int keep = 3;
    protected long maxFileBytes = 1 << 20;
    protected final List<Integer> goneBack = new ArrayList<>();
    protected Aggregator aggregator = new SumAggregator();
    protected String aggregatorName = "sum";

    @AfterEach
    void closeShards() {
        open.forEach(ShardModel::close);
        open.clear();
    }

    protected ServerContext context(int shard, int shards) {
        return contextWithoutWeights(shard, shards).sizeBytes(SIZE);
    }

    protected ServerContext fileContext(int shard, int shards, Path file) {
        return contextWithoutWeights(shard, shards).safetensors(file);
    }

    protected ServerContext contextWithoutWeights(int shard, int shards) {
        return new ServerContext().model("test").blockSizeBytes(BLOCK).shard(shard).shards(shards)
            .aggregator(aggregatorName, aggregator).consistency(consistency).clock(clock)
            .goBack(() -> goneBack.add(shard))
            .checkpoints(new CheckpointSettings(folder.resolve("state"), CheckpointPeriod.parse(period), keep,
                CheckpointSettings.ANY, maxFileBytes));
    }

    protected List<ShardModel> start(int shards) throws IOException {
        List<ShardModel> started = new ArrayList<>();
        for (int i = 0; i < shards; i++) {
            started.add(start(context(i, shards)));
        }
        // In these steps, each shard finds out that the others have started from the same checkpoint.
        step(started);
        return started;
    }

    protected ShardModel start(ServerContext context) throws IOException {
        ShardModel shard = ShardModel.open(context);
        open.add(shard);
        shard.target().nexusEstablished(LEARNER);
        return shard;
    }

    /** Makes the learner join, and returns a push of the whole shard. */
    protected static FakeTask pushOf(ShardModel shard, long round, float value) {
        shard.learners().join(LEARNER);
        return new FakeTask(LEARNER, 0, (int) shard.facts().bytesOfShard()).fill(value).ofRound(round);
    }

    /** Pushes the whole shard. */
    protected void push(ShardModel shard, long round, float value) throws Exception {
        write(shard.target().units().get(0), pushOf(shard, round, value));
    }

    /** Writes, and checks that the write is not parked. */
    protected void write(LogicalUnit unit, FakeTask push) throws Exception {
        assertThat(unit.write(push)).isTrue();
    }

    protected void pushAll(List<ShardModel> shards, long round, float value) throws Exception {
        for (ShardModel shard : shards) {
            push(shard, round, value);
        }
    }

    protected static void step(List<ShardModel> shards) {
        for (int i = 0; i < STEPS; i++) {
            shards.forEach(shard -> shard.checkpointer().step());
        }
    }

    protected CheckpointStatus checkpoint(List<ShardModel> shards) {
        long request = shards.getFirst().checkpointer().request();
        step(shards);
        CheckpointStatus status = shards.getFirst().checkpointer().status();
        assertThat(status.answered()).isEqualTo(request);
        assertThat(status.failure()).isNull();
        return status;
    }

    protected static float[] weights(ShardModel shard) throws Exception {
        LogicalUnit raw = shard.target().units().get(1);
        FakeTask task = new FakeTask(LEARNER, 0, (int) raw.sizeBytes());
        return Weights.read(raw, task).toArray(ValueLayout.JAVA_FLOAT);
    }

    protected void twoCheckpoints() throws Exception {
        List<ShardModel> shards = start(2);
        for (int round = 1; round <= 2; round++) {
            pushAll(shards, round, 1);
            checkpoint(shards);
        }
        closeShards();
    }

    protected List<Path> checkpoints() throws IOException {
        try (Stream<Path> entries = Files.list(folder.resolve("state"))) {
            return entries.filter(entry -> entry.getFileName().toString().startsWith("checkpoint-")).sorted().toList();
        }
    }

    protected Path newest() throws IOException {
        return checkpoints().getLast();
    }
}
