package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.login.Right;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that a learner belongs to its CHAP user until its lease ends, even after a replay of its records. */
class LearnerUserTest {
    private static final int ISID = 1;
    private static final int OTHER_ISID = 2;
    private static final Nexus SEVEN = nexus(ISID, "seven", Right.LEARN);

    @AutoClose
    private RecordedShard shard;

    @BeforeEach
    void open() throws Exception {
        shard = new RecordedShard("asp", 1, SumAggregator::new);
        shard.connect(SEVEN);
    }

    /** Returns a nexus of initiator {@code seven}. */
    private static Nexus nexus(long isid, String user, Right... rights) {
        return new Nexus("iqn.test:seven", isid, "iqn.test:t", "seven", Set.of(rights), user, "10.0.0." + isid);
    }

    private static void assertNameInUse(RecordedShard at, Nexus nexus, String reason) {
        assertThatThrownBy(() -> at.join(nexus, 0, true)).isInstanceOfSatisfying(ScsiException.class,
            refusal -> assertThat(refusal.sense()).isEqualTo(RoundSense.NAME_IN_USE.sense()))
            .hasMessageContaining(reason);
    }

    private static FakeTask push(Nexus nexus, long round) {
        return new FakeTask(nexus, 0, RecordedShard.BLOCK).fill(1).ofRound(round);
    }

    private static void lose(RecordedShard at, Nexus nexus) {
        at.shard.target().nexusLost(nexus, false);
    }

    private static Learner learner(RecordedShard at) {
        List<Learner> members = at.shard.learners().roster().members();
        assertThat(members).hasSize(1);
        return members.getFirst();
    }

    @Test
    void joinOfTheSameUserReplacesTheLostLearnerAtOnce() throws Exception {
        JoinCommand.Answer before = shard.join(SEVEN, 0, true);
        RecordedShard.write(shard.train, push(SEVEN, 1));
        lose(shard, SEVEN);
        Nexus second = nexus(OTHER_ISID, "seven", Right.LEARN);
        shard.connect(second);
        // This JOIN is without ANEW. Even so, the new nexus must not inherit the rounds that the old nexus has pushed.
        JoinCommand.Answer after = shard.join(second, 0, false);
        assertThat(after.membership()).isNotEqualTo(before.membership());
        RecordedShard.write(shard.train, push(second, after.joinRound()));
        RecordedShard.write(shard.train, push(second, after.joinRound()));
        assertThat(Weights.at(shard.shard.store(), 0)).isEqualTo(2);
        assertThatThrownBy(() -> RecordedShard.write(shard.train, push(SEVEN, 2)))
            .isInstanceOfSatisfying(ScsiException.class,
                refusal -> assertThat(refusal.sense()).isEqualTo(RoundSense.NO_LEARNER.sense()));
        assertThat(learner(shard).isLost()).isFalse();
    }

    @Test
    void learnerOfAnotherUserIsNotReplacedUntilItsLeaseEnds() throws Exception {
        shard.join(SEVEN, 0, true);
        lose(shard, SEVEN);
        Nexus other = nexus(OTHER_ISID, "other", Right.LEARN);
        shard.connect(other);
        assertNameInUse(shard, other, "belongs to user seven until its lease ends");
        assertThatThrownBy(() -> RecordedShard.write(shard.train, push(other, 0)))
            .as("a write without JOIN by another user")
            .isInstanceOf(ScsiException.class);
        shard.clock.advance(RecordedShard.LEASE);
        shard.shard.expire();
        shard.join(other, 0, true);
        assertThat(learner(shard).key().user()).isEqualTo("other");
    }

    @Test
    void otherUserCannotUseTheNexusOfALearner() throws Exception {
        shard.join(SEVEN, 0, true);
        lose(shard, SEVEN);
        Nexus other = nexus(ISID, "other", Right.LEARN);
        assertThat(shard.shard.target().loginRefusal(other)).contains("belongs to user seven until its lease ends");
        assertThat(shard.shard.target().loginRefusal(SEVEN)).isNull();
        // At a backup, a session can be older than the record of the learner, so the login was not refused.
        shard.connect(other);
        assertThat(learner(shard).isLost()).isTrue();
        assertNameInUse(shard, other, "belongs to user seven");
        assertThatThrownBy(() -> RecordedShard.write(shard.train, push(other, 1))).isInstanceOf(ScsiException.class);
        shard.leave(other);
        assertThat(learner(shard).key().user()).isEqualTo("seven");
    }

    @Test
    void sessionWithoutTheLearnRightDoesNotAffectALearner() throws Exception {
        shard.join(SEVEN, 0, true);
        lose(shard, SEVEN);
        Nexus watcher = nexus(ISID, "seven", Right.STATUS, Right.RAW);
        shard.connect(watcher);
        assertThat(learner(shard).isLost()).isTrue();
        shard.leave(watcher);
        assertThat(shard.shard.learners().roster().members()).hasSize(1);
        shard.connect(watcher);
        shard.clock.advance(RecordedShard.LEASE);
        shard.shard.expire();
        assertThat(shard.shard.learners().roster().members()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void learnerKeepsItsUserAfterReplay(boolean roster) throws Exception {
        shard.join(SEVEN, 0, true);
        if (roster) {
            MemberRecords.appendRoster(shard.shard.learners(), shard.shard.records());
        }
        try (RecordedShard again = new RecordedShard("asp", 1, SumAggregator::new)) {
            Nexus other = nexus(OTHER_ISID, "other", Right.LEARN);
            again.connect(other);
            again.play(shard.records());
            assertThat(learner(again).key().user()).isEqualTo("seven");
            assertNameInUse(again, other, "belongs to user seven");
            again.connect(SEVEN);
            assertThat(learner(again).isLost()).isFalse();
        }
    }

    @Test
    void learnerFromARecordWithoutAUserBelongsToTheFirstUserThatLogsIn() throws Exception {
        shard.join(SEVEN, 0, true);
        MemberRecords.appendRoster(shard.shard.learners(), shard.shard.records());
        int userBytes = Short.BYTES + "seven".length();
        try (RecordedShard again = new RecordedShard("asp", 1, SumAggregator::new)) {
            for (RecordHeader record : shard.records()) {
                boolean hasUser = record.kind() == RecordKind.LEARNER
                    || record.kind() == RecordKind.ROSTER && record.position() > 1;
                if (hasUser) {
                    // The user is at the end of the body, so a shorter body has no user.
                    record.memory().set(ValueLayout.JAVA_INT_UNALIGNED, record.start(), record.bodyBytes() - userBytes);
                }
                again.player.apply(record);
                if (hasUser) {
                    assertThat(learner(again).key().user()).isNull();
                }
            }
            again.connect(nexus(ISID, "other", Right.LEARN));
            assertThat(learner(again).key().user()).isEqualTo("other");
            assertThat(again.shard.target().loginRefusal(SEVEN)).contains("belongs to user other");
        }
    }

    @Test
    void learnerThatAUserHasClaimedKeepsThatUserAfterAnotherReplay() throws Exception {
        Nexus unknown = nexus(ISID, null, Right.LEARN);
        shard.join(unknown, 0, true);
        try (RecordedShard again = new RecordedShard("asp", 1, SumAggregator::new);
            RecordedShard third = new RecordedShard("asp", 1, SumAggregator::new)) {
            again.play(shard.records());
            again.connect(SEVEN);
            assertThat(learner(again).key().user()).isEqualTo("seven");
            third.play(again.records());
            assertNameInUse(third, nexus(OTHER_ISID, "other", Right.LEARN), "belongs to user seven");
        }
    }
}
