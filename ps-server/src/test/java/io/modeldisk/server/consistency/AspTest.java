package io.modeldisk.server.consistency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests of pushes under asp. */
class AspTest {
    private static final int PAGE = 4096;
    private static final int BLOCK = 2 * PAGE;

    @AutoClose
    private final BlockStore store = new BlockStore(new BlockLayout(4L * BLOCK, BLOCK), 2, 0);
    private final Learners membership = new Learners(1, 0, Duration.ZERO, Integer.MAX_VALUE, store.layout(),
        new ManualClock());
    private final SumAggregator aggregator = new SumAggregator();
    private final Asp asp = new Asp(store, aggregator, membership);
    private final Nexus a = FakeTask.nexus("a");

    AspTest() {
        membership.join(a);
    }

    private void push(long round, long offset, int lengthBytes, float value) throws ScsiException {
        assertThat(asp.push(new FakeTask(a, offset, lengthBytes).fill(value).ofRound(round))).isTrue();
    }

    @Test
    void pushIsAppliedImmediatelyUnderAsp() throws Exception {
        assertThat(asp.push(new FakeTask(a, 4096, BLOCK).fill(2))).isTrue();
        assertThat(Weights.at(store, 0)).isZero();
        assertThat(Weights.at(store, 4096)).isEqualTo(2);
        assertThat(Weights.at(store, BLOCK)).isEqualTo(2);
        assertThat(Weights.at(store, BLOCK + 4096)).isZero();
        assertThat(store.block(0).version()).isEqualTo(1);
        assertThat(store.block(1).version()).isEqualTo(1);
        assertThat(store.block(2).version()).isZero();
        assertThat(membership.member(a).pushedBytes()).isEqualTo(BLOCK);
        assertThat(asp.admitPull(new FakeTask(a, 0, BLOCK))).isTrue();
        assertThat(asp.synchronize(new FakeTask(a, 0, BLOCK))).isTrue();
    }

    @Test
    void concurrentPushesAreAppliedExactlyOnce() throws Exception {
        List<Callable<Void>> learners = new ArrayList<>();
        for (int t = 1; t <= 4; t++) {
            FakeTask push = new FakeTask(FakeTask.nexus("learner" + t), 0, 4096, 3 * BLOCK - 4096, BLOCK).fill(t);
            learners.add(() -> {
                for (int i = 0; i < 500; i++) {
                    asp.push(push);
                }
                return null;
            });
        }
        Roles.runAll(learners);
        for (int offset = 0; offset < 4 * BLOCK; offset += 4) {
            assertThat(Weights.at(store, offset)).isEqualTo(500 * (1 + 2 + 3 + 4));
        }
        assertThat(store.block(3).version()).isEqualTo(2000);
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
        aggregator.failAfter(2, () -> {
            throw new IllegalStateException("the aggregator fails on purpose");
        });
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
