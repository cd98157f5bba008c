package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.BLOCK;
import static io.modeldisk.server.consistency.RoundsFixture.PAGE;
import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.protocol.scsi.Sense;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of pushes and pulls with a round number under bsp. */
class BspRoundsTest {
    @AutoClose
    private final RoundsFixture shard = new RoundsFixture(2);
    private final Nexus a = shard.connect("a");
    private final Nexus b = shard.connect("b");

    @BeforeEach
    void join() {
        shard.membership.join(a);
        shard.membership.join(b);
    }

    private FakeTask push(Nexus learner, long round, long offset, int lengthBytes, float value) {
        return new FakeTask(learner, offset, lengthBytes).fill(value).ofRound(round);
    }

    private boolean pushes(Nexus learner, long round, float value) throws ScsiException {
        return shard.consistency.push(push(learner, round, 0, SIZE, value));
    }

    private void assertRefused(FakeTask task, Sense sense) {
        assertThatThrownBy(() -> shard.consistency.push(task))
            .isInstanceOfSatisfying(ScsiException.class, e -> assertThat(e.sense()).isEqualTo(sense));
    }

    @Test
    void latenessOfTheLastLearnerBeginsAtTheFirstPush() throws Exception {
        for (long round = 1; round <= 2; round++) {
            pushes(a, round, 1);
            shard.clock.advance(Duration.ofMillis(300));
            pushes(b, round, 1);
        }
        pushes(b, 3, 1);
        shard.clock.advance(Duration.ofMillis(50));
        pushes(a, 3, 1);
        assertThat(TimeUnit.NANOSECONDS.toMillis(shard.membership.member(b).lateNs())).isEqualTo(600);
        assertThat(TimeUnit.NANOSECONDS.toMillis(shard.membership.member(a).lateNs())).isEqualTo(50);
    }

    @Test
    void ownTransferOfALearnerDoesNotCountAsLate() throws Exception {
        for (long round = 1; round <= 2; round++) {
            shard.consistency.push(push(b, round, BLOCK, SIZE - BLOCK, 1));
            shard.clock.advance(Duration.ofMillis(300));
            shard.consistency.push(push(b, round, 0, BLOCK, 1));
            pushes(a, round, 1);
        }
        assertThat(shard.membership.member(a).lateNs()).isZero();
        shard.leave(a);
        shard.consistency.push(push(b, 3, BLOCK, SIZE - BLOCK, 1));
        shard.clock.advance(Duration.ofMillis(300));
        shard.consistency.push(push(b, 3, 0, BLOCK, 1));
        assertThat(shard.weight(0)).as("three rounds of gradients of 1").isEqualTo(3);
        assertThat(shard.membership.member(b).lateNs()).isZero();
    }

    @Test
    void missingPartOfARepeatedPushIsAddedWithTheGradientOfThatPart() throws Exception {
        shard.consistency.push(push(a, 1, 0, PAGE, 3));
        shard.consistency.push(new FakeTask(a, 0, SIZE).fillEach(4, 5, 6, 7, 8).ofRound(1));
        pushes(b, 1, 0);
        assertThat(shard.weight(0)).isEqualTo(1.5f);
        assertThat(shard.weight(PAGE)).isEqualTo(2.5f);
        assertThat(shard.weight(BLOCK)).isEqualTo(3);
        assertThat(shard.weight(SIZE - PAGE)).isEqualTo(4);
    }

    @Test
    void pushWithARoundNumberIsRefusedBeforeJoin() {
        assertRefused(push(shard.connect("c"), 1, 0, SIZE, 1), RoundRules.NO_LEARNER);
    }

    @Test
    void pushOfARoundBeforeTheJoinRoundIsRefused() throws Exception {
        pushes(a, 1, 2);
        pushes(b, 1, 2);
        pushes(a, 2, 2);
        Nexus c = shard.connect("c");
        assertThat(shard.membership.join(c).joinRound()).isEqualTo(3);
        assertRefused(push(c, 1, 0, SIZE, 9), RoundRules.NOT_IN_ROUND);
        assertRefused(push(c, 2, 0, SIZE, 9), RoundRules.NOT_IN_ROUND);
        pushes(b, 2, 2);
        assertThat(shard.weight(0)).isEqualTo(4);
    }

    @Test
    void newcomerPullsTheWeightsOfWholeRoundsOnly() throws Exception {
        pushes(a, 1, 2);
        pushes(b, 1, 2);
        shard.consistency.push(push(a, 2, 0, BLOCK, 2));
        shard.consistency.push(push(b, 2, 0, BLOCK, 2));
        Nexus c = shard.connect("c");
        assertThat(shard.membership.join(c).joinRound()).isEqualTo(3);
        FakeTask pull = new FakeTask(c, 0, SIZE).ofRound(2);
        assertThat(shard.consistency.admitPull(pull)).isFalse();
        pushes(a, 2, 2);
        pushes(b, 2, 2);
        assertThat(pull.resumes()).isPositive();
        assertThat(shard.consistency.admitPull(pull)).isTrue();
    }

    @Test
    void pullOfANewcomerWaitsForRoundsThatOtherLearnersWillPush() throws Exception {
        pushes(a, 1, 2);
        pushes(b, 1, 2);
        shard.membership.partition(a, 3);
        Nexus c = shard.connect("c");
        assertThat(shard.membership.join(c).joinRound()).isEqualTo(4);
        FakeTask pull = new FakeTask(c, 0, SIZE).ofRound(3);
        assertThat(shard.consistency.admitPull(pull)).isFalse();
        for (int round = 2; round <= 3; round++) {
            pushes(a, round, 2);
            pushes(b, round, 2);
        }
        assertThat(pull.resumes()).isPositive();
        assertThat(shard.consistency.admitPull(pull)).isTrue();
    }

    @Test
    void pullOfANewcomerWaitsUntilAStoppedJobContinues() throws Exception {
        try (RoundsFixture stopped = new RoundsFixture(3, 3, new SumAggregator(), Bsp::new)) {
            Nexus first = stopped.connect("a");
            Nexus second = stopped.connect("b");
            Nexus third = stopped.connect("c");
            List.of(first, second, third).forEach(stopped.membership::join);
            assertThat(stopped.consistency.push(push(first, 1, 0, SIZE, 2))).isTrue();
            stopped.leave(second);
            stopped.leave(third);
            Nexus newcomer = stopped.connect("d");
            stopped.membership.join(newcomer);
            FakeTask pull = new FakeTask(newcomer, 0, SIZE).ofRound(1);
            assertThat(stopped.consistency.admitPull(pull)).isFalse();
            stopped.membership.join(stopped.connect("e"));
            stopped.consistency.learnersLeft();
            assertThat(pull.resumes()).isPositive();
            assertThat(stopped.consistency.admitPull(pull)).isTrue();
        }
    }

    @Test
    void pullDoesNotWaitForARoundThatNoLearnerPushes() throws Exception {
        shard.membership.postpone(shard.membership.member(a), 5);
        FakeTask pull = new FakeTask(a, 0, SIZE).ofRound(4);
        assertThat(shard.consistency.admitPull(pull)).as("b may push round 1").isFalse();
        shard.membership.postpone(shard.membership.member(b), 7);
        assertThat(shard.consistency.admitPull(pull)).isTrue();
    }

    @Test
    void repeatedPushIsIgnoredAfterTheLearnerPostponedItsFirstRound() throws Exception {
        pushes(a, 1, 2);
        shard.consistency.push(push(b, 1, 0, PAGE, 4));
        shard.membership.postpone(shard.membership.member(b), 5);
        shard.consistency.learnersLeft();
        assertThat(shard.consistency.rounds(0)).isEqualTo(1);
        assertThat(pushes(a, 1, 2)).isTrue();
        assertThat(shard.consistency.push(push(b, 1, 0, PAGE, 4))).isTrue();
        assertRefused(push(b, 1, PAGE, PAGE, 4), RoundRules.NOT_IN_ROUND);
        assertThat(shard.weight(0)).isEqualTo(3);
    }

    @Test
    void pushThatIsRefusedAfterAWaitIsNoLongerCountedAsWaiting() throws Exception {
        FakeTask early = push(a, 2, 0, SIZE, 10);
        assertThat(shard.consistency.push(early)).isFalse();
        shard.membership.postpone(shard.membership.member(a), 5);
        assertRefused(early, RoundRules.NOT_IN_ROUND);
        assertThat(shard.consistency.waiting()).isZero();
        assertThat(shard.consistency.synchronize(new FakeTask(a, 0))).isTrue();
    }

    @Test
    void pullByANonLearnerWaitsForTheRoundThatItNames() throws Exception {
        Nexus observer = shard.connect("observer");
        FakeTask pull = new FakeTask(observer, 0, SIZE).ofRound(1);
        assertThat(shard.consistency.admitPull(new FakeTask(observer, 0, SIZE).ofRound(0))).isTrue();
        assertThat(shard.consistency.admitPull(pull)).isFalse();
        pushes(a, 1, 2);
        assertThat(shard.consistency.admitPull(new FakeTask(a, 0, SIZE).ofRound(0))).isTrue();
        pushes(b, 1, 2);
        while (!shard.consistency.admitPull(pull)) {
            pull.awaitResume();
        }
        assertThat(shard.membership.member(observer)).isNull();
    }

    @Test
    void pullOfSeveralBlocksWaitsUntilEachBlockHasTheNeededRound() throws Exception {
        pushes(a, 1, 2);
        shard.consistency.push(push(b, 1, 0, BLOCK, 2));
        FakeTask pull = new FakeTask(a, 0, SIZE).ofRound(1);
        assertThat(shard.consistency.admitPull(pull)).as("only the first block is ready").isFalse();
        shard.consistency.push(push(b, 1, BLOCK, BLOCK, 2));
        pull.awaitResume();
        assertThat(shard.consistency.admitPull(pull)).as("all blocks except the last are ready").isFalse();
        shard.consistency.push(push(b, 1, 2 * BLOCK, PAGE, 2));
        pull.awaitResume();
        assertThat(shard.consistency.admitPull(pull)).isTrue();
    }

    @Test
    void pushesWithAndWithoutRoundNumbersCountForTheSameRounds() throws Exception {
        pushes(a, 1, 2);
        FakeTask write = new FakeTask(a, 0, SIZE).fill(8);
        assertThat(shard.consistency.push(write)).isFalse();
        assertThat(shard.push(b, 0, SIZE, 4)).isTrue();
        assertThat(shard.consistency.push(write)).isTrue();
        assertThat(pushes(a, 2, 100)).isTrue();
        assertThat(pushes(b, 2, 0)).isTrue();
        assertThat(shard.weight(0)).isEqualTo(3 + 4);
    }

    @Test
    void newcomerJoinsAfterRoundsThatClosedWithoutAPush() throws Exception {
        try (RoundsFixture young = new RoundsFixture(2)) {
            Nexus first = young.connect("first");
            Nexus second = young.connect("second");
            young.membership.join(first);
            // The second learner has joined at round 5 on another shard.
            young.membership.postpone(young.membership.join(second), 5);
            young.leave(first);
            assertThat(young.consistency.rounds(0)).isEqualTo(4);
            assertThat(young.membership.join(young.connect("newcomer")).joinRound()).isEqualTo(5);
        }
    }
}
