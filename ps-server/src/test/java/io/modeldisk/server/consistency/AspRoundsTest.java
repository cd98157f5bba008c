package io.modeldisk.server.consistency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests of pushes with a round number under asp. */
class AspRoundsTest {
    private static final int PAGE = 4096;
    private static final int BLOCK = 2 * PAGE;

    @AutoClose
    private final BlockStore store = new BlockStore(new BlockLayout(4L * BLOCK, BLOCK), 2, 0);
    private final Learners membership = new Learners(1, 0, Duration.ZERO, Integer.MAX_VALUE, store.layout(),
        new ManualClock());
    private final SumAggregator sum = new SumAggregator();
    private final AtomicInteger callsBeforeFailure = new AtomicInteger(Integer.MAX_VALUE);
    private final Aggregator aggregator = (block, offset, gradient, gradientOffset, lengthBytes, scale) -> {
        if (callsBeforeFailure.getAndDecrement() == 0) {
            throw new IllegalStateException("the aggregator fails on purpose");
        }
        sum.aggregate(block, offset, gradient, gradientOffset, lengthBytes, scale);
    };
    private final Asp asp = new Asp(store, aggregator, membership);
    private final Nexus a = FakeTask.nexus("a");

    AspRoundsTest() {
        membership.join(a);
    }

    private void push(long round, long offset, int lengthBytes, float value) throws ScsiException {
        assertThat(asp.push(new FakeTask(a, offset, lengthBytes).fill(value).ofRound(round))).isTrue();
    }

    @Test
    void missingPartOfARepeatedPushIsAppliedWithTheGradientOfThatPart() throws Exception {
        push(1, PAGE, PAGE, 3);
        asp.push(new FakeTask(a, 0, 2 * BLOCK).fillEach(4, 5, 6, 7).ofRound(1));
        push(2, 0, PAGE, 0);
        asp.push(new FakeTask(a, 0, BLOCK).fillEach(8, 9).ofRound(2));
        assertThat(Weights.at(store, 0)).isEqualTo(4);
        assertThat(Weights.at(store, PAGE)).isEqualTo(3 + 9);
        assertThat(Weights.at(store, BLOCK)).isEqualTo(6);
        assertThat(Weights.at(store, BLOCK + PAGE)).isEqualTo(7);
    }

    @Test
    void repeatedPushCompletesAPushThatFailedInTheMiddle() throws Exception {
        callsBeforeFailure.set(2);
        assertThatThrownBy(() -> push(1, 0, 4 * BLOCK, 7)).isInstanceOf(IllegalStateException.class);
        assertThat(Weights.at(store, BLOCK)).isEqualTo(7);
        assertThat(Weights.at(store, 2 * BLOCK)).isZero();
        push(1, 0, 4 * BLOCK, 7);
        for (int block = 0; block < 4; block++) {
            assertThat(Weights.at(store, block * BLOCK)).isEqualTo(7);
        }
    }

    @Test
    void pushWithoutARoundNumberIsAppliedEachTime() throws Exception {
        push(1, 0, PAGE, 3);
        asp.push(new FakeTask(a, 0, PAGE).fill(4));
        asp.push(new FakeTask(a, 0, PAGE).fill(4));
        push(1, 0, PAGE, 3);
        push(2, 0, PAGE, 3);
        assertThat(Weights.at(store, 0)).isEqualTo(14);
    }

    @Test
    void pushWithARoundNumberIsRefusedBeforeJoin() {
        assertThatThrownBy(() -> asp.push(new FakeTask(FakeTask.nexus("b"), 0, PAGE).ofRound(1)))
            .isInstanceOfSatisfying(ScsiException.class, e -> assertThat(e.sense()).isEqualTo(RoundRules.NO_LEARNER));
        assertThat(membership.member(FakeTask.nexus("b"))).isNull();
    }
}
