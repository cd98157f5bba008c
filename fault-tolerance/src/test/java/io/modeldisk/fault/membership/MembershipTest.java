package io.modeldisk.fault.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class MembershipTest {
    private static final Duration LEASE = Duration.ofSeconds(5);

    private final ManualClock clock = new ManualClock();
    private final Membership<String, Learner> membership = new Membership<>(2, 2, LEASE, clock, Learner::new);

    private static final class Learner extends Member<String> {
        Learner(String key) {
            super(key);
        }
    }

    private Learner joinConnected(String key) {
        membership.connected(key);
        return membership.join(key);
    }

    @Test
    void learnersJoinAtRoundOneWhileTheJobForms() {
        assertThat(joinConnected("a").joinRound()).isEqualTo(1);
        membership.opened(1);
        assertThat(membership.roster().formed()).isFalse();
        assertThat(joinConnected("b").joinRound()).isEqualTo(1);
        assertThat(membership.roster().formed()).isTrue();
    }

    @Test
    void secondJoinWithTheSameKeyReturnsTheSameLearner() {
        assertThat(joinConnected("a")).isSameAs(membership.join("a"));
        assertThat(membership.roster().formed()).isFalse();
    }

    @Test
    void newLearnerOfAFormedJobJoinsAfterTheLastOpenedRound() {
        joinConnected("a");
        joinConnected("b");
        membership.opened(7);
        membership.opened(3);
        assertThat(membership.lastOpenedRound()).isEqualTo(7);
        assertThat(joinConnected("c").joinRound()).isEqualTo(8);
    }

    @Test
    void learnerThatHasLeftDoesNotCountTowardsTheRequiredLearners() {
        joinConnected("a");
        assertThat(membership.left("a")).isTrue();
        joinConnected("b");
        assertThat(membership.roster().formed()).isFalse();
        assertThat(joinConnected("c").joinRound()).isEqualTo(1);
        assertThat(membership.roster().formed()).isTrue();
    }

    @Test
    void formedJobStaysFormedWhenAllLearnersLeave() {
        joinConnected("a");
        joinConnected("b");
        membership.opened(1);
        membership.left("a");
        membership.left("b");
        assertThat(membership.roster()).isEqualTo(new Roster<>(true, true, List.of()));
        assertThat(joinConnected("c").joinRound()).isEqualTo(2);
    }

    @Test
    void lostLearnerStaysAMemberUntilItsLeaseExpires() {
        Learner a = joinConnected("a");
        membership.lost("a");
        assertThat(a.isLost()).isTrue();
        clock.advance(LEASE.minusNanos(1));
        assertThat(membership.expire()).isEmpty();
        assertThat(membership.member("a")).isSameAs(a);
        clock.advance(Duration.ofNanos(1));
        assertThat(membership.expire()).containsExactly(a);
        assertThat(membership.member("a")).isNull();
        assertThat(membership.roster().members()).isEmpty();
    }

    @Test
    void learnerThatReconnectsWithinItsLeaseIsTheSameLearner() {
        Learner a = joinConnected("a");
        membership.lost("a");
        clock.advance(LEASE.minusNanos(1));
        membership.connected("a");
        assertThat(a.isLost()).isFalse();
        clock.advance(LEASE.multipliedBy(10));
        assertThat(membership.expire()).isEmpty();
        assertThat(membership.join("a")).isSameAs(a);
    }

    @Test
    void learnerThatReconnectsAfterItsLeaseIsANewLearner() {
        joinConnected("a");
        joinConnected("b");
        membership.opened(4);
        membership.lost("a");
        clock.advance(LEASE);
        membership.expire();
        assertThat(joinConnected("a").joinRound()).isEqualTo(5);
    }

    @Test
    void learnerStaysLiveWhenItReconnectsBeforeTheOldConnectionIsLost() {
        Learner a = joinConnected("a");
        membership.connected("a");
        membership.lost("a");
        assertThat(a.isLost()).isFalse();
        assertThat(membership.left("a")).isTrue();
    }

    @Test
    void learnerThatJoinsWithoutAConnectionIsRemovedWhenItsLeaseExpires() {
        membership.connected("a");
        membership.left("a");
        Learner ghost = membership.join("a");
        assertThat(ghost.isLost()).isTrue();
        clock.advance(LEASE);
        assertThat(membership.expire()).containsExactly(ghost);
    }

    @Test
    void logoutWithoutAJoinHasNoEffect() {
        membership.connected("a");
        assertThat(membership.left("a")).isFalse();
        assertThat(membership.left("never")).isFalse();
        membership.lost("never");
        assertThat(membership.expire()).isEmpty();
    }

    @Test
    void joinRoundCanBeRaisedButNotLowered() {
        Learner member = joinConnected("a");
        assertThat(membership.postpone(member, 5)).isTrue();
        assertThat(membership.postpone(member, 3)).isFalse();
        assertThat(member.joinRound()).isEqualTo(5);
    }

    @Test
    void formedJobBelowItsMinimumReportsTooFewLearners() {
        joinConnected("a");
        assertThat(membership.roster().tooFew()).as("forming").isFalse();
        joinConnected("b");
        assertThat(membership.roster().tooFew()).isFalse();
        membership.left("a");
        assertThat(membership.roster().tooFew()).isTrue();
        joinConnected("c");
        assertThat(membership.roster().tooFew()).isFalse();
    }

    @Test
    void leaseOfASilentLearnerStartsAtItsLastMessage() {
        joinConnected("a");
        membership.silent("a", LEASE.toNanos() - 1);
        assertThat(membership.expire()).isEmpty();
        membership.lost("a");
        clock.advance(Duration.ofNanos(1));
        assertThat(membership.expire()).hasSize(1);
    }

    @Test
    void silentLearnerIsLiveAfterItReconnects() {
        joinConnected("a");
        membership.silent("a", LEASE.toNanos());
        membership.connected("a");
        membership.lost("a");
        assertThat(membership.member("a").isLost()).isFalse();
        clock.advance(LEASE);
        assertThat(membership.expire()).isEmpty();
    }

    @Test
    void extendedLeaseExpiresLaterByTheExtension() {
        joinConnected("a");
        joinConnected("b");
        membership.lost("a");
        clock.advance(LEASE.multipliedBy(2));
        membership.extendLeases(LEASE.multipliedBy(2).toNanos());
        clock.advance(LEASE.minusNanos(1));
        assertThat(membership.expire()).isEmpty();
        clock.advance(Duration.ofNanos(1));
        assertThat(membership.expire()).extracting(Learner::key).containsExactly("a");
    }

    @Test
    void restartedLeaseLastsItsWholeTime() {
        joinConnected("a");
        joinConnected("b");
        membership.lost("a");
        clock.advance(LEASE.multipliedBy(2));
        membership.restartLeases();
        clock.advance(LEASE.minusNanos(1));
        assertThat(membership.expire()).isEmpty();
        clock.advance(Duration.ofNanos(1));
        assertThat(membership.expire()).extracting(Learner::key).containsExactly("a");
    }
}
