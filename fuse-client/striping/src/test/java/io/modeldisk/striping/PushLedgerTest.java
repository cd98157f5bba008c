package io.modeldisk.striping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.initiator.TransferSizes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the ledger for two shards and five blocks. A block has four logical blocks; the last block has one. Blocks 0, 2 and 4 are
 * on shard 0.
 */
class PushLedgerTest {
    private static final int PAGE = 4096;
    private static final int BLOCK = 4;

    private final PushLedger ledger = ledger(2, 4 * BLOCK + 1, ConsistencyMode.Kind.SSP);
    private final PushLedger.Grant grant = new PushLedger.Grant();

    PushLedgerTest() {
        ledger.reset(0, 1, Long.MAX_VALUE);
        ledger.reset(1, 1, Long.MAX_VALUE);
    }

    private static PushLedger ledger(int shards, long pages, ConsistencyMode.Kind consistency) {
        return new PushLedger(new Striping(BLOCK * PAGE, shards, TransferSizes.DEFAULTS.requestBytes()), pages * PAGE,
            consistency);
    }

    /** Begins a push and returns its round; 0 if the push must wait. */
    private long begin(long from, long end) {
        ledger.push(from, end, grant);
        assertThat(grant.logicalBlocks).isIn(0L, end - from);
        return grant.logicalBlocks == 0 ? 0 : grant.round;
    }

    private void end(long from, long end, boolean shardHasIt) {
        ledger.ended(from, end, grant.epoch, shardHasIt);
    }

    private long push(long from, long end) {
        long round = begin(from, end);
        end(from, end, true);
        return round;
    }

    private void fail(long from, long end) {
        begin(from, end);
        end(from, end, false);
    }

    private long clock(long from, long end) {
        ledger.pull(from, end, grant);
        return grant.round;
    }

    @Test
    void pushesOfDifferentPartsOfABlockHaveTheSameRound() {
        assertThat(push(0, 1)).isEqualTo(1);
        assertThat(push(1, 4)).isEqualTo(1);
        assertThat(push(3, 4)).isEqualTo(2);
        assertThat(push(4, 8)).isEqualTo(1);
    }

    @Test
    void underBspALearnerPullsTheRoundBeforeItsFirstRoundUntilItHasPushed() {
        PushLedger whole = ledger(1, 4 * BLOCK, ConsistencyMode.Kind.BSP);
        whole.reset(0, 5, Long.MAX_VALUE);
        whole.pull(0, 4 * BLOCK, grant);
        assertThat(grant.round).isEqualTo(4);
        assertThat(grant.logicalBlocks).isEqualTo(4 * BLOCK);
        whole.push(0, BLOCK, grant);
        whole.ended(0, BLOCK, grant.epoch, true);
        whole.pull(0, 4 * BLOCK, grant);
        assertThat(grant.round).isEqualTo(5);
        assertThat(grant.logicalBlocks).isEqualTo(BLOCK);
        whole.postpone(0, 9);
        whole.pull(0, 4 * BLOCK, grant);
        assertThat(grant.round).isEqualTo(8);
        assertThat(grant.logicalBlocks).isEqualTo(4 * BLOCK);
    }

    @Test
    void nextRoundWaitsForTheOutstandingPushesOfTheBlock() {
        assertThat(begin(0, 2)).isEqualTo(1);
        assertThat(begin(0, 2)).isZero();
        assertThat(begin(2, 3)).isEqualTo(1);
        end(0, 2, true);
        assertThat(begin(0, 2)).isZero();
        end(2, 3, true);
        assertThat(begin(0, 2)).isEqualTo(2);
    }

    @Test
    void gradientAfterAnAbandonedOneHasTheSameRoundInAllBlocks() {
        push(0, 4);
        push(0, 4);
        push(4, 8);
        assertThat(ledger.isPartial(0)).isTrue();
        fail(8, 10);
        ledger.goOn();
        assertThat(push(0, 4)).isEqualTo(3);
        assertThat(push(4, 8)).isEqualTo(3);
        assertThat(push(8, 12)).isEqualTo(3);
        assertThat(ledger.hasRepeatable(0, 17)).isFalse();
    }

    @Test
    void gradientOfWhichAShardHasAcceptedNothingIsNotPartial() {
        push(0, 4);
        push(8, 12);
        push(16, 17);
        begin(0, 4);
        begin(8, 12);
        assertThat(ledger.isInProgress(0)).isTrue();
        assertThat(ledger.isPartial(0)).isFalse();
        end(8, 12, true);
        assertThat(ledger.isPartial(0)).isTrue();
    }

    @Test
    void gradientThatAShardHasWhollyAcceptedIsNotPartial() {
        assertThat(ledger.isPartial(0)).isFalse();
        push(0, 4);
        push(8, 12);
        assertThat(ledger.isPartial(0)).isTrue();
        push(16, 17);
        assertThat(ledger.isPartial(0)).isFalse();
    }

    @Test
    void nextRoundOfAShardFollowsTheHighestPushedRoundOfItsBlocks() {
        assertThat(ledger.nextRound(0)).isEqualTo(1);
        push(0, 4);
        push(0, 4);
        push(8, 12);
        assertThat(ledger.nextRound(0)).isEqualTo(3);
        assertThat(ledger.nextRound(1)).isEqualTo(1);
        ledger.postpone(0, 7);
        assertThat(ledger.nextRound(0)).isEqualTo(7);
    }

    @Test
    void currentRoundEndsWhenTheShardHasAllBlocks() {
        assertThat(ledger.currentRound(0)).isEqualTo(1);
        push(0, 4);
        push(8, 12);
        assertThat(ledger.currentRound(0)).isEqualTo(1);
        push(16, 17);
        assertThat(ledger.currentRound(0)).isEqualTo(2);
        ledger.repeat(0, 4);
        assertThat(ledger.currentRound(0)).isEqualTo(1);
        assertThat(ledger.currentRound(1)).isEqualTo(1);
    }

    @Test
    void nearestRoundAfterAResetIsTheFirstOrSecondRoundOfTheMembership() {
        push(0, 4);
        assertThat(ledger.nearestRound(0, 3)).isEqualTo(3);
        ledger.reset(0, 1, Long.MAX_VALUE);
        assertThat(ledger.nearestRound(0, 9)).isEqualTo(2);
        ledger.reset(0, 20, Long.MAX_VALUE);
        assertThat(ledger.nearestRound(0, 9)).isEqualTo(20);
    }

    @Test
    void failedPushKeepsItsRoundWhenItIsRepeated() {
        fail(0, 4);
        assertThat(ledger.hasRepeatable(0, 8)).isTrue();
        assertThat(push(0, 4)).isEqualTo(1);
        assertThat(ledger.hasRepeatable(0, 8)).isFalse();
        assertThat(push(0, 4)).isEqualTo(2);
    }

    @Test
    void shardIsDoubtfulAfterAFailedPushAndAResetUntilTheLearnerContinues() {
        fail(0, 4);
        ledger.reset(1, 9, Long.MAX_VALUE);
        assertThat(ledger.isDoubtful(1)).isFalse();
        ledger.reset(0, 9, Long.MAX_VALUE);
        ledger.reset(0, 10, Long.MAX_VALUE);
        assertThat(ledger.isDoubtful(0)).isTrue();
        assertThat(ledger.isDoubtful(0)).isTrue();
        assertThat(restored().isDoubtful(0)).isTrue();
        ledger.goOn();
        assertThat(ledger.isDoubtful(0)).isFalse();
    }

    @Test
    void shardIsDoubtfulIfAPushFailsAfterTheShardHasForgottenTheLearner() {
        begin(0, 4);
        int before = grant.epoch;
        ledger.endedInDoubt(0, before, 1);
        assertThat(ledger.isDoubtful(0)).as("the shard knows the learner").isFalse();
        ledger.reset(0, 1, 0);
        ledger.endedInDoubt(0, before, 1);
        assertThat(ledger.isDoubtful(0)).as("the shard has no push of round 1").isFalse();
        ledger.reset(0, 2, 1);
        ledger.endedInDoubt(0, before, 1);
        assertThat(ledger.isDoubtful(0)).isTrue();
        assertThat(ledger.isDoubtful(1)).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"BSP, true", "SSP, true", "ASP, false"})
    void shardIsDoubtfulIfItHasAPushThatIsAcknowledgedAfterItForgotTheLearner(ConsistencyMode.Kind kind,
        boolean doubt) {
        PushLedger of = ledger(2, 4 * BLOCK + 1, kind);
        of.reset(0, 1, Long.MAX_VALUE);
        of.push(0, 4, grant);
        of.reset(0, 2, Long.MAX_VALUE);
        assertThat(of.isDoubtful(0)).isFalse();
        of.ended(0, 4, grant.epoch, true);
        assertThat(of.isDoubtful(0)).isEqualTo(doubt);
        of.goOn();
        assertThat(of.isDoubtful(0)).isFalse();
    }

    @Test
    void shardThatForgotTheLearnerAfterAPartOfAFailedCallIsDoubtful() {
        push(0, 8);
        ledger.reset(1, 1, Long.MAX_VALUE);
        ledger.repeat(0, 8);
        assertThat(ledger.isDoubtful(0)).isFalse();
        assertThat(ledger.isDoubtful(1)).isTrue();
    }

    @Test
    void successfulPushesAreNotDoubtfulAfterTheShardForgetsTheLearner() {
        push(0, 4);
        ledger.reset(0, 9, Long.MAX_VALUE);
        assertThat(ledger.isDoubtful(0)).isFalse();
    }

    @Test
    void completedPartOfAFailedCallKeepsItsRoundWhenRepeated() {
        push(0, 4);
        push(8, 12);
        ledger.repeat(0, 4);
        assertThat(push(0, 4)).isEqualTo(1);
        assertThat(push(8, 12)).isEqualTo(2);
    }

    @Test
    void onlyBlocksOfFailedPushesAreRepeatable() {
        push(0, 2);
        fail(2, 4);
        BitRanges repeated = ledger.repeatable(0, 4);
        assertThat(repeated.nextSet(0, 4)).isEqualTo(2);
        assertThat(repeated.all(2, 4)).isTrue();
    }

    @Test
    void pulledWeightsIncludeTheLastRoundInWhichTheWholeBlockWasPushed() {
        assertThat(clock(0, 4)).isZero();
        push(0, 4);
        assertThat(clock(0, 4)).isEqualTo(1);
        push(0, 2);
        assertThat(clock(0, 4)).isEqualTo(1);
        push(2, 4);
        assertThat(clock(0, 4)).isEqualTo(2);
        push(16, 17);
        assertThat(clock(16, 17)).isEqualTo(1);
    }

    @Test
    void grantEndsBeforeABlockWithADifferentRound() {
        PushLedger single = ledger(1, 4 * BLOCK, ConsistencyMode.Kind.SSP);
        single.reset(0, 5, Long.MAX_VALUE);
        single.push(4, 8, grant);
        single.ended(4, 8, grant.epoch, true);
        single.push(0, 16, grant);
        assertThat(grant.round).isEqualTo(5);
        assertThat(grant.logicalBlocks).isEqualTo(4);
        single.pull(0, 16, grant);
        assertThat(grant.logicalBlocks).isEqualTo(4);
        single.push(8, 16, grant);
        assertThat(grant.logicalBlocks).isEqualTo(8);
    }

    @Test
    void pushesOfANewMembershipBeginAtItsFirstRound() {
        push(0, 4);
        begin(8, 12);
        int before = grant.epoch;
        push(4, 8);
        ledger.reset(0, 7, Long.MAX_VALUE);
        assertThat(ledger.epoch(0)).isNotEqualTo(before);
        ledger.ended(8, 12, before, true);
        assertThat(clock(0, 4)).isZero();
        assertThat(push(8, 12)).isEqualTo(7);
        assertThat(push(0, 4)).isEqualTo(7);
        assertThat(push(4, 8)).isEqualTo(2);
    }

    @Test
    void failedPushIsDoubtfulOnlyIfTheShardMightHaveItsRound() {
        push(0, 4);
        fail(0, 4);
        ledger.reset(0, 2, 1);
        assertThat(ledger.isDoubtful(0)).isFalse();
        assertThat(ledger.mayHave(0, 1)).isTrue();
        assertThat(ledger.mayHave(0, 2)).isFalse();
        fail(0, 4);
        ledger.reset(0, 2, 2);
        assertThat(ledger.isDoubtful(0)).isTrue();
    }

    @Test
    void pushHasRoundNineAfterTheLearnerIsPostponedToRoundNine() {
        push(0, 2);
        begin(4, 6);
        ledger.postpone(0, 9);
        ledger.postpone(1, 9);
        assertThat(push(2, 4)).isEqualTo(9);
        assertThat(begin(6, 8)).isZero();
        end(4, 6, true);
        assertThat(push(6, 8)).isEqualTo(9);
    }

    /** Returns the ledger of another process, which continues from the image of {@code ledger}. */
    private PushLedger restored() {
        PushLedger other = ledger(2, 4 * BLOCK + 1, ConsistencyMode.Kind.SSP);
        other.resume(ledger.image(), new ShardId(0, "h"));
        return other;
    }

    private long round(PushLedger of, long from, long end) {
        of.push(from, end, grant);
        of.ended(from, end, grant.epoch, true);
        return grant.round;
    }

    @Test
    void anotherProcessRepeatsOnlyPushesWhoseResultIsNotKnown() {
        push(0, 17);
        push(0, 4);
        assertThat(begin(4, 8)).isEqualTo(2);
        fail(8, 12);
        PushLedger other = restored();
        assertThat(round(other, 0, 4)).as("the shard has the push of round 2").isEqualTo(3);
        assertThat(round(other, 4, 8)).as("the push of round 2 was outstanding").isEqualTo(2);
        assertThat(round(other, 8, 12)).as("the push of round 2 has failed").isEqualTo(2);
        assertThat(round(other, 12, 16)).as("nothing was pushed in round 2").isEqualTo(2);
        assertThat(other.nextRound(0)).isEqualTo(4);
        other.pull(0, 4, grant);
        assertThat(grant.round).isEqualTo(3);
    }

    @Test
    void processThatReplacesAKilledOneRepeatsTheWholeNextGradient() {
        push(0, 17);
        PushLedger other = restored();
        other.repeatCurrentRound();
        assertThat(other.nextPushRound(0)).isEqualTo(2);
        assertThat(round(other, 0, 4)).isEqualTo(2);
        assertThat(other.nextPushRound(0)).isEqualTo(3);
        assertThat(round(other, 0, 4)).isEqualTo(3);
        other.reset(1, 1, Long.MAX_VALUE);
        assertThat(other.isDoubtful(0)).isFalse();
        assertThat(other.isDoubtful(1)).isTrue();
    }

    /** The first process has stopped in order while it pushed, and the process that continued its push was killed. */
    @Test
    void gradientInProgressInTheImageKeepsItsRoundAfterALaterProcessWasKilled() {
        push(0, 17);
        push(0, 4);
        assertThat(begin(4, 6)).isEqualTo(2);
        PushLedger other = restored();
        other.repeatCurrentRound();
        assertThat(round(other, 4, 8)).as("a push of round 2 was outstanding").isEqualTo(2);
        assertThat(round(other, 8, 17)).as("nothing was pushed in round 2").isEqualTo(2);
        assertThat(other.currentRound(0)).isEqualTo(3);
        assertThat(other.nextRound(1)).isEqualTo(3);
        assertThat(round(other, 0, 4)).as("the shard had the push of round 2").isEqualTo(3);
    }

    @Test
    void gradientAfterAnAbandonedOneHasOneRoundAfterTheProcessWasKilled() {
        push(0, 17);
        push(0, 4);
        ledger.goOn();
        PushLedger other = restored();
        other.repeatCurrentRound();
        assertThat(other.currentRound(0)).isEqualTo(3);
        assertThat(round(other, 0, 4)).isEqualTo(3);
        assertThat(round(other, 4, 8)).isEqualTo(3);
        assertThat(other.nextRound(0)).isEqualTo(4);
    }

    @Test
    void nextPushOfTheWholeModelRepeatsAGradientOfWhichTheShardHasNothing() {
        push(0, 17);
        fail(0, 17);
        assertThat(ledger.nextPushRound(0)).isEqualTo(2);
        push(0, 4);
        assertThat(ledger.nextPushRound(0)).isEqualTo(3);
        assertThat(ledger.nextPushRound(1)).isEqualTo(2);
        ledger.postpone(1, 7);
        assertThat(ledger.nextPushRound(1)).isEqualTo(7);
    }

    @Test
    void imageForAnotherProcessContainsFirstRoundsAndTheAbandonedGradient() {
        push(0, 17);
        ledger.postpone(1, 9);
        assertThat(round(restored(), 4, 8)).isEqualTo(9);
        ledger.abandon(new ShardException(ShardException.Kind.WENT_BACK, new ShardId(1, "h"), "back"), 3);
        PushLedger other = restored();
        assertThatThrownBy(other::beginCall).isInstanceOf(ShardException.class);
        assertThat(other.goOn()).isEqualTo(3);
        assertThat(restored().nextRound(0)).isEqualTo(2);
    }
}
