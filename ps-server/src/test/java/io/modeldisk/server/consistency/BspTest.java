package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.BLOCK;
import static io.modeldisk.server.consistency.RoundsFixture.PAGE;
import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class BspTest {
    @AutoClose
    private final RoundsFixture shard = new RoundsFixture(2);
    private final Consistency bsp = shard.consistency;
    private final Nexus a = shard.connect("a");
    private final Nexus b = shard.connect("b");

    @Test
    void noRoundClosesBeforeTheJobHasFormed() throws Exception {
        shard.push(a, 0, SIZE, 2);
        assertThat(bsp.rounds(0)).isZero();
        shard.leave(a);
        assertThat(bsp.rounds(0)).isZero();
        shard.push(b, 0, SIZE, 2);
        assertThat(bsp.rounds(0)).isZero();
        shard.push(shard.connect("c"), 0, SIZE, 8);
        assertThat(shard.weight(0)).isEqualTo(4);
    }

    @Test
    void pullWaitsUntilTheRoundsThatTheLearnerPushedHaveClosed() throws Exception {
        assertThat(shard.pull(a)).isTrue();
        shard.push(a, 0, SIZE, 2);
        FakeTask pull = new FakeTask(a, 0, SIZE);
        assertThat(bsp.admitPull(pull)).isFalse();
        assertThat(bsp.waiting()).isEqualTo(1);
        assertThat(shard.pull(b)).isTrue();
        shard.push(b, 0, SIZE, 2);
        assertThat(pull.resumes()).isEqualTo(1);
        assertThat(bsp.waiting()).isZero();
        assertThat(bsp.admitPull(pull)).isTrue();
    }

    @Test
    void secondPushOfABlockByTheSameLearnerBelongsToTheNextRound() throws Exception {
        shard.push(a, 0, BLOCK, 2);
        FakeTask second = new FakeTask(a, 0, BLOCK).fill(10);
        assertThat(bsp.push(second)).isFalse();
        shard.push(b, 0, BLOCK, 4);
        assertThat(shard.weight(0)).isEqualTo(3);
        assertThat(second.resumes()).isEqualTo(1);
        assertThat(bsp.push(second)).isTrue();
        shard.push(b, 0, BLOCK, 20);
        assertThat(shard.weight(0)).isEqualTo(3 + 15);
    }

    @Test
    void pushThatWaitsAtALaterBlockChangesNoBlock() throws Exception {
        shard.push(a, 2 * BLOCK, PAGE, 2);
        FakeTask spanning = new FakeTask(a, 0, SIZE).fill(4);
        assertThat(bsp.push(spanning)).isFalse();
        bsp.forget(spanning);
        assertThat(bsp.waiting()).isZero();
        assertThat(shard.push(a, 0, 2 * BLOCK, 6)).isTrue();
        shard.push(b, 0, SIZE, 0);
        assertThat(shard.weight(0)).isEqualTo(3);
        assertThat(shard.weight(2 * BLOCK)).isEqualTo(1);
    }

    @Test
    void gradientOfALogicalBlockCountsOncePerLearnerAndRound() throws Exception {
        assertThat(shard.push(a, 0, PAGE, 2)).isTrue();
        assertThat(shard.push(a, 0, PAGE, 2)).isFalse();
        assertThat(shard.push(a, PAGE, PAGE, 4)).isTrue();
        assertThat(shard.push(b, PAGE, PAGE, 4)).isTrue();
        assertThat(bsp.rounds(0)).isZero();
        assertThat(shard.push(b, 0, PAGE, 2)).isTrue();
        assertThat(shard.weight(0)).isEqualTo(2);
        assertThat(shard.weight(PAGE)).isEqualTo(4);
        assertThat(shard.store.block(0).version()).isEqualTo(1);
    }

    @Test
    void forgottenTaskIsNotResumed() throws Exception {
        shard.push(a, 0, SIZE, 2);
        FakeTask push = new FakeTask(a, 0, SIZE);
        FakeTask pull = new FakeTask(a, 0, SIZE);
        bsp.push(push);
        bsp.admitPull(pull);
        bsp.forget(push);
        bsp.forget(pull);
        bsp.forget(pull);
        assertThat(bsp.waiting()).isZero();
        shard.push(b, 0, SIZE, 2);
        assertThat(push.resumes() + pull.resumes()).isZero();
    }

    @Test
    void waitingPullThatIsTriedAgainCountsAsOneWaitingTask() throws Exception {
        shard.push(a, 0, SIZE, 2);
        FakeTask pull = new FakeTask(a, 0, SIZE);
        bsp.admitPull(pull);
        assertThat(bsp.admitPull(pull)).isFalse();
        assertThat(bsp.waiting()).isEqualTo(1);
    }

    @Test
    void synchronizationWaitsForEarlierWaitingWrites() throws Exception {
        shard.push(a, 0, BLOCK, 2);
        FakeTask sync = new FakeTask(a, 0);
        assertThat(bsp.synchronize(sync)).isTrue();
        FakeTask second = new FakeTask(a, 0, BLOCK);
        bsp.push(second);
        assertThat(bsp.synchronize(sync)).isFalse();
        assertThat(bsp.synchronize(new FakeTask(b, 0))).isTrue();
        shard.push(b, 0, BLOCK, 2);
        assertThat(bsp.synchronize(sync)).isFalse();
        bsp.push(second);
        assertThat(sync.resumes()).isEqualTo(1);
        assertThat(bsp.synchronize(sync)).isTrue();
    }

    @Test
    void synchronizationIsResumedWhenTheLastWaitingWriteIsForgotten() throws Exception {
        shard.push(a, 0, BLOCK, 2);
        FakeTask second = new FakeTask(a, 0, BLOCK);
        bsp.push(second);
        FakeTask sync = new FakeTask(a, SIZE);
        FakeTask forgotten = new FakeTask(a, 0);
        assertThat(bsp.synchronize(sync)).isFalse();
        assertThat(bsp.synchronize(forgotten)).isFalse();
        bsp.forget(forgotten);
        bsp.forget(second);
        assertThat(sync.resumes()).isEqualTo(1);
        assertThat(forgotten.resumes()).isZero();
    }

    @Test
    void gradientCountsAfterTheLeaseOfItsLearnerExpired() throws Exception {
        shard.push(a, 0, PAGE, 2);
        shard.push(b, 0, SIZE, 4);
        assertThat(bsp.rounds(0)).isZero();
        shard.expire(a);
        assertThat(bsp.rounds(0)).isEqualTo(1);
        assertThat(shard.weight(0)).isEqualTo(3);
        assertThat(shard.weight(PAGE)).isEqualTo(4);
        assertThat(shard.store.block(0).version()).isEqualTo(1);
    }

    @Test
    void roundWaitsForALostLearnerUntilItsLeaseExpires() throws Exception {
        shard.push(a, 0, SIZE, 2);
        shard.push(b, 0, PAGE, 4);
        shard.membership.lost(b);
        shard.clock.advance(RoundsFixture.LEASE.minusNanos(1));
        assertThat(shard.membership.expire()).isEmpty();
        assertThat(bsp.rounds(0)).isZero();
        shard.membership.connected(b);
        assertThat(shard.push(b, PAGE, SIZE - PAGE, 4)).isTrue();
        assertThat(shard.weight(0)).isEqualTo(3);
    }

    @Test
    void pushOfANewcomerWaitsUntilEarlierRoundsClose() throws Exception {
        shard.push(a, 0, SIZE, 2);
        Nexus c = shard.connect("c");
        shard.push(b, 0, BLOCK, 2);
        FakeTask push = new FakeTask(c, 0, SIZE).fill(8);
        assertThat(bsp.push(push)).isFalse();
        shard.push(b, BLOCK, SIZE - BLOCK, 2);
        assertThat(bsp.push(push)).isTrue();
        shard.push(a, 0, SIZE, 2);
        shard.push(b, 0, SIZE, 2);
        assertThat(shard.weight(0)).isEqualTo(2 + 4);
        assertThat(shard.weight(SIZE - PAGE)).isEqualTo(2 + 4);
    }

    @Test
    void completeGradientIsAppliedWhenAllLearnersHaveLeft() throws Exception {
        shard.push(b, 0, PAGE, 2);
        shard.push(a, 0, SIZE, 4);
        shard.leave(a);
        assertThat(shard.weight(PAGE)).isZero();
        shard.expire(b);
        assertThat(shard.weight(0)).isEqualTo(3);
        assertThat(shard.weight(PAGE)).isEqualTo(4);
        assertThat(shard.weight(SIZE - PAGE)).isEqualTo(4);
    }

    @Test
    void incompleteRoundWaitsForANewcomerWhenAllLearnersHaveLeft() throws Exception {
        shard.push(a, 0, PAGE, 2);
        shard.push(b, 0, PAGE, 4);
        shard.leave(a);
        shard.leave(b);
        assertThat(shard.weight(0)).isZero();
        Nexus c = shard.connect("c");
        assertThat(shard.push(c, 0, SIZE, 10)).isTrue();
        assertThat(shard.weight(0)).isEqualTo(3 + 10);
        assertThat(shard.weight(PAGE)).isEqualTo(10);
        assertThat(bsp.rounds(0)).isEqualTo(2);
        assertThat(bsp.rounds(2)).isEqualTo(2);
        assertThat(shard.store.block(2).version()).isEqualTo(1);
    }

    @Test
    void failedAggregationOfOneBlockDoesNotDelayOtherBlocks() throws Exception {
        SumAggregator failsFirst = new SumAggregator();
        failsFirst.failAfter(0, () -> {
            throw new IllegalStateException("the aggregation of the first block fails on purpose");
        });
        try (RoundsFixture other = new RoundsFixture(2, failsFirst)) {
            Nexus survivor = other.connect("survivor");
            Nexus victim = other.connect("victim");
            other.membership.join(victim);
            other.push(survivor, 0, RoundsFixture.SIZE, 1);
            assertThatThrownBy(() -> other.expire(victim)).isInstanceOf(IllegalStateException.class);
            assertThat(other.consistency.rounds(1)).isEqualTo(1);
            assertThat(other.consistency.rounds(2)).isEqualTo(1);
        }
    }
}
