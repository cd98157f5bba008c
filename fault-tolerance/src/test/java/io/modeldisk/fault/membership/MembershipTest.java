package io.modeldisk.fault.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MembershipTest {
    private static final long LEASE = 5_000;

    private long now = Long.MAX_VALUE - 100;
    private final Membership<String, Object> membership = new Membership<>(2, 2, LEASE, () -> now, Object::new);

    private Member<String, Object> joinConnected(String key) {
        membership.connected(key);
        return membership.join(key);
    }

    @Test
    void allWhoJoinWhileFormingJoinAtRoundOne() {
        assertThat(joinConnected("a").joinRound()).isEqualTo(1);
        membership.opened(1);
        assertThat(membership.roster().formed()).isFalse();
        assertThat(joinConnected("b").joinRound()).isEqualTo(1);
        assertThat(membership.roster().formed()).isTrue();
    }

    @Test
    void joiningTwiceIsOneLearner() {
        assertThat(joinConnected("a")).isSameAs(membership.join("a"));
        assertThat(membership.roster().formed()).isFalse();
    }

    @Test
    void aNewcomerJoinsAtTheFirstRoundNobodyHasOpened() {
        joinConnected("a");
        joinConnected("b");
        membership.opened(7);
        membership.opened(3);
        assertThat(membership.lastOpenedRound()).isEqualTo(7);
        assertThat(joinConnected("c").joinRound()).isEqualTo(8);
    }

    @Test
    void aLearnerThatLeavesWhileFormingCountsNoMore() {
        joinConnected("a");
        assertThat(membership.left("a")).isTrue();
        joinConnected("b");
        assertThat(membership.roster().formed()).isFalse();
        assertThat(joinConnected("c").joinRound()).isEqualTo(1);
        assertThat(membership.roster().formed()).isTrue();
    }

    @Test
    void aFormedJobStaysFormed() {
        joinConnected("a");
        joinConnected("b");
        membership.opened(1);
        membership.left("a");
        membership.left("b");
        assertThat(membership.roster()).isEqualTo(new Roster<>(true, true, java.util.List.of()));
        assertThat(joinConnected("c").joinRound()).isEqualTo(2);
    }

    @Test
    void aLostLearnerStaysOneForItsLease() {
        Member<String, Object> a = joinConnected("a");
        membership.lost("a");
        assertThat(a.isLost()).isTrue();
        assertThat(membership.expire(now + LEASE - 1)).isEmpty();
        assertThat(membership.member("a")).isSameAs(a);
        assertThat(membership.expire(now + LEASE)).containsExactly(a);
        assertThat(membership.member("a")).isNull();
        assertThat(membership.roster().members()).isEmpty();
    }

    @Test
    void aLearnerBackWithinItsLeaseIsTheSameLearner() {
        Member<String, Object> a = joinConnected("a");
        membership.lost("a");
        now += LEASE - 1;
        membership.connected("a");
        assertThat(a.isLost()).isFalse();
        assertThat(membership.expire(now + 10 * LEASE)).isEmpty();
        assertThat(membership.join("a")).isSameAs(a);
    }

    @Test
    void aLearnerBackAfterItsLeaseIsANewcomer() {
        joinConnected("a");
        joinConnected("b");
        membership.opened(4);
        membership.lost("a");
        membership.expire(now + LEASE);
        assertThat(joinConnected("a").joinRound()).isEqualTo(5);
    }

    @Test
    void aReconnectHeardOfBeforeTheEndOfTheOldConnectionKeepsTheLearner() {
        Member<String, Object> a = joinConnected("a");
        membership.connected("a");
        membership.lost("a");
        assertThat(a.isLost()).isFalse();
        assertThat(membership.left("a")).isTrue();
    }

    @Test
    void aLearnerThatJoinsWithoutAConnectionExpires() {
        membership.connected("a");
        membership.left("a");
        Member<String, Object> ghost = membership.join("a");
        assertThat(ghost.isLost()).isTrue();
        assertThat(membership.expire(now + LEASE)).containsExactly(ghost);
    }

    @Test
    void whoNeverJoinedLeavesNothing() {
        membership.connected("a");
        assertThat(membership.left("a")).isFalse();
        assertThat(membership.left("never")).isFalse();
        membership.lost("never");
        assertThat(membership.expire(Long.MAX_VALUE)).isEmpty();
    }

    @Test
    void aJobNeedsALearner() {
        assertThatThrownBy(() -> new Membership<>(0, 0, LEASE, () -> 0, Object::new))
            .hasMessage("learners=0 must be at least 1");
    }

    @Test
    void aLearnerMayJoinLaterThanItCould() {
        Member<String, Object> member = joinConnected("a");
        assertThat(member.postpone(5)).isTrue();
        assertThat(member.postpone(3)).isFalse();
        assertThat(member.joinRound()).isEqualTo(5);
    }

    @Test
    void minimumIsNoMoreThanTheJobFormsWith() {
        assertThatThrownBy(() -> new Membership<>(2, 3, LEASE, () -> 0, Object::new))
            .hasMessage("minLearners=3 must be from 0 to learners=2");
    }

    @Test
    void fewerThanTheMinimumAreTooFewOnceTheJobHasFormed() {
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
    void leaseOfASilentLearnerRunsSinceItWasHeard() {
        joinConnected("a");
        membership.silent("a", LEASE - 1);
        assertThat(membership.expire(now)).isEmpty();
        membership.lost("a");
        assertThat(membership.expire(now + 1)).hasSize(1);
    }

    @Test
    void silentLearnerThatConnectsAgainIsLive() {
        joinConnected("a");
        membership.silent("a", LEASE);
        membership.connected("a");
        membership.lost("a");
        assertThat(membership.member("a").isLost()).isFalse();
        assertThat(membership.expire(now + LEASE)).isEmpty();
    }
}
