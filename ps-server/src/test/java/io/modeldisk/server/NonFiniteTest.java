package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.consistency.NonFinite;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Weights;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NonFiniteTest {
    private static final int BLOCK = 8192;
    private static final int SIZE = 2 * BLOCK;
    private static final Nexus A = FakeTask.nexus("a");
    private static final Nexus B = FakeTask.nexus("b");

    @AutoClose
    private ShardModel shard;
    private LogicalUnit train;

    private void open(String aggregator, String consistency, int learners, NonFinite nonFinite)
        throws IOException {
        shard = ShardModel.open(new ServerContext().model("test").sizeBytes(SIZE).blockSizeBytes(BLOCK)
            .consistency(consistency).learners(learners).aggregator(aggregator, Aggregators.parse(aggregator))
            .nonFinite(nonFinite));
        for (Nexus nexus : new Nexus[]{A, B}) {
            shard.target().nexusEstablished(nexus);
        }
        for (int i = 0; i < learners; i++) {
            shard.learners().join(i == 0 ? A : B);
        }
        train = shard.target().units().get(0);
    }

    /** Returns a push whose gradient is 1 everywhere, except for {@code value} in the middle of the last logical block. */
    private static FakeTask push(Nexus learner, long round, float value) {
        FakeTask task = new FakeTask(learner, 0, SIZE).fill(1).ofRound(round);
        task.data().set(ValueLayout.JAVA_FLOAT, SIZE - 4096 + 404, value);
        return task;
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "ssp:0", "bsp"})
    void refusedNonFiniteGradientDoesNotCountForItsRound(String consistency) throws Exception {
        open("sum", consistency, 1, NonFinite.REFUSE);
        for (float value : new float[]{Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            assertThatThrownBy(() -> train.write(push(A, 1, value))).isInstanceOfSatisfying(
                ScsiException.class, e -> assertThat(e.sense()).isEqualTo(RoundSense.NON_FINITE.sense()));
        }
        assertThat(Weights.at(shard.store(), 0)).as("weight in the first block after a refused push").isZero();
        assertThat(train.write(push(A, 1, 1))).isTrue();
        assertThat(Weights.at(shard.store(), 0)).isEqualTo(1);
        JsonNode status = new ObjectMapper().readTree(shard.status());
        assertThat(status.at("/nonFinitePushes").asInt()).isEqualTo(3);
        assertThat(status.at("/learners/0/nonFinitePushes").asInt()).isEqualTo(3);
    }

    @Test
    void skippedNonFiniteGradientCountsForItsRoundButNotForTheMean() throws Exception {
        open("sum", "bsp", 2, NonFinite.SKIP);
        assertThat(train.write(push(A, 1, Float.NaN))).isTrue();
        assertThat(train.write(new FakeTask(B, 0, SIZE).fill(4).ofRound(1))).isTrue();
        assertThat(shard.consistency().rounds(0)).isEqualTo(1);
        assertThat(Weights.at(shard.store(), 0)).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "ssp:0"})
    void skippedNonFiniteGradientCountsForItsRoundButIsNotApplied(String consistency) throws Exception {
        open("sum", consistency, 1, NonFinite.SKIP);
        assertThat(train.write(push(A, 1, Float.NaN))).isTrue();
        assertThat(Weights.at(shard.store(), 0)).isZero();
        assertThat(train.write(push(A, 1, 1))).as("a repeated push is accepted").isTrue();
        assertThat(Weights.at(shard.store(), 0)).isZero();
    }

    @Test
    void nonFiniteGradientIsAppliedUnderThePassPolicy() throws Exception {
        open("sum", "asp", 1, NonFinite.PASS);
        assertThat(train.write(push(A, 1, Float.NaN))).isTrue();
        assertThat(Weights.at(shard.store(), SIZE - 4096 + 404)).isNaN();
    }

    @Test
    void shardDoesNotCheckAGradientThatIsDeclaredFinite() throws Exception {
        open("sum", "asp", 1, NonFinite.REFUSE);
        assertThat(train.write(push(A, 1, Float.NaN).declareFinite())).isTrue();
    }

    @Test
    void factsStateWhetherTheShardChecksGradients() throws Exception {
        open("sum", "asp", 1, NonFinite.REFUSE);
        assertThat(shard.facts().checksGradients()).isTrue();
        shard.close();
        open("assign", "asp", 1, NonFinite.REFUSE);
        assertThat(shard.facts().checksGradients()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"assign", "null"})
    void nonFiniteGradientIsAcceptedIfTheAggregatorDoesNotAccumulate(String aggregator) throws Exception {
        open(aggregator, "asp", 1, NonFinite.REFUSE);
        assertThat(train.write(push(A, 1, Float.NaN))).isTrue();
    }
}
