package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.protocol.dialect.AbsentCommand;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.dialect.ValueType;
import io.modeldisk.protocol.engine.LogicalUnit;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Weights;
import java.io.IOException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the command ABSENT, which declares that a learner has no gradient for a range in a round. */
class AbsentTest {
    private static final int LOGICAL_BLOCK = 4096;
    private static final int BLOCK = 2 * LOGICAL_BLOCK;
    private static final int SIZE = 2 * BLOCK + LOGICAL_BLOCK;
    private static final Nexus A = FakeTask.nexus("a");
    private static final Nexus B = FakeTask.nexus("b");

    @AutoClose
    private ShardModel shard;
    private LogicalUnit train;

    private void open(String consistency, int learners) throws IOException {
        shard = ShardModel.open(new ServerContext().model("test").sizeBytes(SIZE).blockSizeBytes(BLOCK)
            .consistency(consistency).learners(learners).aggregator("sum", Aggregators.parse("sum")));
        for (Nexus nexus : new Nexus[]{A, B}) {
            shard.target().nexusEstablished(nexus);
        }
        for (int i = 0; i < learners; i++) {
            shard.learners().join(i == 0 ? A : B);
        }
        train = shard.target().units().get(0);
    }

    private static FakeTask absent(Nexus learner, long round, int offset, int length) {
        return new FakeTask(learner, offset, length).ofRound(round).absent();
    }

    private static FakeTask push(Nexus learner, long round, int offset, int length) {
        return new FakeTask(learner, offset, length).fill(1).ofRound(round);
    }

    private void assertMarks(FakeTask task, int logicalBlocks) throws ScsiException {
        assertThat(train.markAbsent(task)).isEqualTo(AbsentCommand.data(logicalBlocks));
    }

    private void assertWeights(float... ofLogicalBlocks) {
        for (int i = 0; i < ofLogicalBlocks.length; i++) {
            assertThat(Weights.at(shard.store(), i * LOGICAL_BLOCK)).as("weight in logical block %d", i)
                .isEqualTo(ofLogicalBlocks[i]);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"asp", "ssp:0", "bsp"})
    void absentCountsOnceForTheBlocksThatTheLearnerHasNotPushed(String consistency) throws Exception {
        open(consistency, 1);
        assertThat(train.write(push(A, 1, LOGICAL_BLOCK, BLOCK))).isTrue();
        assertMarks(absent(A, 1, 0, SIZE), 3);
        assertMarks(absent(A, 1, 0, SIZE), 3);
        assertMarks(absent(A, 1, LOGICAL_BLOCK, BLOCK), 0);
        assertWeights(0, 1, 1, 0, 0);
        assertThat(train.write(push(A, 1, 0, SIZE))).as("a push of a round after its ABSENT is accepted").isTrue();
        assertWeights(0, 1, 1, 0, 0);
        assertThat(train.write(push(A, 2, 0, SIZE))).isTrue();
        assertWeights(1, 2, 2, 1, 1);
        assertThat(shard.learners().member(A).pushedBytes()).as("bytes of pushes with data")
            .isEqualTo(BLOCK + 2L * SIZE);
    }

    @Test
    void roundClosesWithTheMeanOfTheLearnersThatHaveAGradient() throws Exception {
        open("bsp", 2);
        assertMarks(absent(A, 1, 0, SIZE), 5);
        assertThat(shard.consistency().rounds(0)).isZero();
        assertThat(train.write(new FakeTask(B, 0, SIZE).fill(4).ofRound(1))).isTrue();
        assertWeights(4, 4, 4, 4, 4);
        assertMarks(absent(A, 2, 0, SIZE), 5);
        assertMarks(absent(B, 2, 0, SIZE), 5);
        assertThat(shard.consistency().rounds(2)).isEqualTo(2);
        assertWeights(4, 4, 4, 4, 4);
    }

    @Test
    void absentOfALaterRoundWaitsUntilThatRoundOpens() throws Exception {
        open("bsp", 2);
        assertThat(train.write(push(A, 1, 0, SIZE))).isTrue();
        FakeTask next = absent(A, 2, 0, SIZE);
        assertThat(train.markAbsent(next)).isNull();
        assertThat(train.write(push(B, 1, 0, SIZE))).isTrue();
        next.awaitResume();
        assertMarks(next, 5);
        train.forget(next);
    }

    @Test
    void absentOfARoundBeforeTheJoinRoundIsRefused() throws Exception {
        open("bsp", 1);
        assertThat(train.write(push(A, 1, 0, SIZE))).isTrue();
        shard.learners().join(B);
        assertThatThrownBy(() -> train.markAbsent(absent(B, 1, 0, SIZE))).isInstanceOfSatisfying(
            ScsiException.class, e -> assertThat(e.sense()).isEqualTo(RoundSense.NOT_IN_ROUND.sense()));
    }

    @Test
    void absentFromANexusThatIsNotALearnerIsRefused() throws Exception {
        open("asp", 1);
        assertThatThrownBy(() -> train.markAbsent(absent(B, 1, 0, SIZE))).isInstanceOfSatisfying(
            ScsiException.class, e -> assertThat(e.sense()).isEqualTo(RoundSense.NO_LEARNER.sense()));
    }

    @Test
    void absentRangeOfA16BitUnitCanEndBeyondTheShard() throws Exception {
        open("bsp", 1);
        LogicalUnit half = shard.target().units().stream()
            .filter(unit -> unit.valueType() == ValueType.BFLOAT16).findFirst().orElseThrow();
        FakeTask task = absent(A, 1, 0, SIZE / 2 + LOGICAL_BLOCK / 2).ofType(ValueType.BFLOAT16);
        assertThat(half.markAbsent(task)).as("blocks of 16-bit values").isEqualTo(AbsentCommand.data(3));
        assertThat(shard.consistency().rounds(2)).isEqualTo(1);
    }

    @Test
    void nonFiniteGradientDeclaredByAnAbsentIsCountedOnce() throws Exception {
        open("asp", 1);
        assertMarks(absent(A, 1, 0, BLOCK).declareNonFinite(), 2);
        assertMarks(absent(A, 1, 0, BLOCK).declareNonFinite(), 2);
        assertMarks(absent(A, 1, BLOCK, BLOCK), 2);
        assertMarks(new FakeTask(A, 0).ofRound(2).absent().declareNonFinite(), 0);
        assertThat(new ObjectMapper().readTree(shard.status()).at("/nonFinitePushes").asInt()).isEqualTo(2);
    }
}
