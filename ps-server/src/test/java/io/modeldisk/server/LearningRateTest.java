package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.protocol.dialect.LearningRateCommand;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.scsi.Cdb;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The learning rate and the state of optimizers, in running shards and after a restart from a checkpoint. */
class LearningRateTest extends CheckpointFixture {
    private static final int ROUNDS = 20;

    private void useAggregator(String specification) {
        aggregatorName = specification;
        aggregator = Aggregators.parse(specification);
    }

    private List<ShardModel> restart(String specification, int shards) throws IOException {
        closeShards();
        useAggregator(specification);
        return start(shards);
    }

    private static float rate(ShardModel shard, long round, float rate) throws ScsiException {
        return LearningRateCommand.rate(shard.target().units().get(0).vendorCommand(LEARNER, cdb(round, rate)));
    }

    private static Cdb cdb(long round, float rate) {
        Cdb cdb = new Cdb();
        byte[] bytes = LearningRateCommand.cdb(round, rate);
        System.arraycopy(bytes, 0, cdb.bytes(), 0, bytes.length);
        return cdb;
    }

    private void train(List<ShardModel> shards, int from, int to) throws Exception {
        for (int round = from; round <= to; round++) {
            pushAll(shards, round, (float) Math.sin(round));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "sgd:lr=0.1,weight-decay=0.1", "momentum:lr=0.1", "nesterov:lr=0.1,warmup=15", "adagrad:lr=0.1",
        "rmsprop:lr=0.1",
        "adam:lr=0.1,schedule=step,every=7", "adamw:lr=0.1,schedule=cosine,rounds=18,final=0.1"})
    void trainingFromACheckpointGivesTheSameWeightsAsWithoutARestart(String specification) throws Exception {
        useAggregator(specification);
        List<ShardModel> shards = start(2);
        train(shards, 1, ROUNDS / 2);
        assertThat(checkpoint(shards).round()).isEqualTo(ROUNDS / 2);
        train(shards, ROUNDS / 2 + 1, ROUNDS);
        float[] expected = weights(shards.get(1));
        List<ShardModel> restarted = restart(specification, 2);
        train(restarted, ROUNDS / 2 + 1, ROUNDS);
        assertThat(weights(restarted.get(1))).isEqualTo(expected);
        assertThat(expected[0]).isNotZero();
    }

    @Test
    void newRateAppliesFromItsRoundEvenAfterARestart() throws Exception {
        useAggregator("sgd:lr=1");
        List<ShardModel> shards = start(2);
        train(shards, 1, 1);
        for (ShardModel shard : shards) {
            assertThat(rate(shard, 3, 0.5f)).isEqualTo(0.5f);
            assertThat(rate(shard, 2, 0)).isEqualTo(1);
            push(shard, 2, 4);
            push(shard, 3, 4);
        }
        assertThat(weights(shards.getFirst())[0]).isEqualTo((float) -Math.sin(1) - 4 - 2);
        rate(shards.getFirst(), 5, 0.25f);
        checkpoint(shards);
        // One shard starts from the checkpoint of two shards. The new shard has the changes of the old shard that received the
        // last change.
        ShardModel only = restart("sgd:lr=1", 1).getFirst();
        assertThat(rate(only, 4, 0)).isEqualTo(0.5f);
        assertThat(rate(only, 5, 0)).isEqualTo(0.25f);
    }

    @Test
    void restartWithAnotherRateDiscardsEarlierChangesOfTheRate() throws Exception {
        useAggregator("sgd:lr=1");
        List<ShardModel> shards = start(1);
        train(shards, 1, 1);
        rate(shards.getFirst(), 2, 0.5f);
        checkpoint(shards);
        assertThat(rate(restart("sgd:lr=0.25", 1).getFirst(), 2, 0)).isEqualTo(0.25f);
    }

    @Test
    void clipNormWithoutBspIsRefused() {
        useAggregator("adam:lr=1,clip-norm=1");
        consistency = "asp";
        assertThatThrownBy(() -> start(1)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("clip-norm, which needs consistency=bsp");
        aggregator.close();
    }

    @Test
    void statusShowsTheRateOfTheNextRound() throws Exception {
        useAggregator("sgd:lr=8,schedule=step,every=2,factor=0.5");
        List<ShardModel> shards = start(1);
        assertThat(new String(shards.getFirst().status())).contains("\"learningRate\":8.0");
        train(shards, 1, 2);
        assertThat(new String(shards.getFirst().status())).contains("\"learningRate\":4.0")
            .contains("\"stateBytes\":0");
        ShardModel adam = restart("adam:lr=1", 2).getFirst();
        // Shard 0 of two has three of the five and a half blocks.
        assertThat(new String(adam.status())).contains("\"stateBytes\":" + (2 * 3 * BLOCK + 6 * 8));
    }

    @Test
    void statusShowsAChangeUntilItsRoundBegins() throws Exception {
        useAggregator("sgd:lr=8");
        List<ShardModel> shards = start(1);
        rate(shards.getFirst(), 2, 4);
        assertThat(new String(shards.getFirst().status()))
            .contains("\"learningRate\":8.0,\"learningRateChange\":{\"rate\":4.0,\"fromRound\":2}");
        train(shards, 1, 1);
        assertThat(new String(shards.getFirst().status())).contains("\"learningRate\":4.0")
            .doesNotContain("learningRateChange");
    }

    @Test
    void aggregatorWithoutALearningRateRefusesTheCommand() throws Exception {
        aggregator = new SumAggregator();
        ShardModel shard = start(1).getFirst();
        assertThatThrownBy(() -> rate(shard, 1, 1)).isInstanceOf(ScsiException.class)
            .hasMessageContaining("the aggregator sum has none");
        assertThat(new String(shard.status())).doesNotContain("learningRate");
    }

    @ParameterizedTest
    @ValueSource(floats = {-1, Float.NaN, Float.POSITIVE_INFINITY})
    void commandWithAnImpossibleRateIsRefused(float rate) throws Exception {
        useAggregator("sgd:lr=1");
        ShardModel shard = start(1).getFirst();
        assertThatThrownBy(() -> rate(shard, 1, rate)).isInstanceOf(ScsiException.class)
            .hasMessageContaining("must be finite and must not be negative");
        assertThatThrownBy(() -> rate(shard, 0, 1)).isInstanceOf(ScsiException.class)
            .hasMessageContaining("names round 0");
        assertThat(rate(shard, 1, 0)).isEqualTo(1);
    }

    @Test
    void pushWithoutARoundNumberCountsAsANewRound() throws Exception {
        consistency = "asp";
        useAggregator("sgd:lr=1,schedule=step,every=1,factor=0.5");
        ShardModel shard = start(1).getFirst();
        LogicalUnit train = shard.target().units().get(0);
        shard.learners().join(LEARNER);
        for (int i = 0; i < 3; i++) {
            train.write(new FakeTask(LEARNER, 0, BLOCK).fill(1));
        }
        assertThat(weights(shard)[0]).isEqualTo(-1.75f);
        // A push with a round number is applied with the rate of its round, regardless of other pushes.
        train.write(new FakeTask(LEARNER, 0, BLOCK).fill(1).ofRound(1));
        assertThat(weights(shard)[0]).isEqualTo(-2.75f);
    }
}
