package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.exchange.ExchangeProgress.Cut;
import io.modeldisk.mount.exchange.ExchangeProgress.Pull;
import io.modeldisk.mount.exchange.ExchangeProgress.Push;
import io.modeldisk.mount.exchange.ExchangeProgress.Step;
import io.modeldisk.mount.exchange.ExchangeProgress.StepKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ExchangeProgressTest {
    private static final long PIECE = 256 << 10;
    private static final long BYTES = 3 * PIECE - 4096;

    private final ExchangeProgress progress = new ExchangeProgress(BYTES, 4096);

    private Step take() {
        Step step = new Step();
        assertThat(progress.next(step)).as("the next step can start").isTrue();
        return step;
    }

    private Step take(StepKind kind) {
        Step step = take();
        assertThat(step.kind).isEqualTo(kind);
        return step;
    }

    private void noneIsDue() {
        assertThat(progress.next(new Step())).isFalse();
    }

    private void end(Step step) {
        progress.ended(step, step.kind == StepKind.PUSH ? step.end - step.from : 0, false);
    }

    private void fail(Step step) {
        progress.ended(step, 0, true);
    }

    private void begin(Cut cut) {
        progress.begin(true, false, false, cut);
    }

    private Step[] takeTwoPieces() {
        return new Step[]{take(StepKind.PUSH), take(StepKind.PUSH)};
    }

    private void observe() {
        end(take(StepKind.OBSERVE));
    }

    private void pushAll() {
        Step[] two = takeTwoPieces();
        observe();
        end(two[0]);
        Step third = take(StepKind.PUSH);
        end(two[1]);
        end(third);
    }

    @ParameterizedTest
    @CsvSource({"4096, 262144", "262144, 262144", "524288, 524288", "1048576, 1048576"})
    void piecesOfAPushAreWholeBlocks(int blockBytes, long pieceBytes) {
        long bytes = 5 << 20;
        ExchangeProgress large = new ExchangeProgress(bytes, blockBytes);
        large.begin(true, false, false, Cut.FINE);
        Step step = new Step();
        for (long from = 0; from < bytes; from += pieceBytes) {
            assertThat(large.next(step)).isTrue();
            assertThat(step.kind).isEqualTo(StepKind.PUSH);
            assertThat(step.from).isEqualTo(from);
            assertThat(step.end).isEqualTo(from + pieceBytes);
            large.ended(step, pieceBytes, false);
        }
        assertThat(large.isPushed()).isTrue();
    }

    @Test
    void atMostTwoPiecesArePushedAtTheSameTime() {
        begin(Cut.FINE);
        Step[] two = takeTwoPieces();
        observe();
        noneIsDue();
        assertThat(two[0].from).isZero();
        assertThat(two[1].from).isEqualTo(PIECE);
        end(two[1]);
        Step third = take(StepKind.PUSH);
        assertThat(third.from).isEqualTo(2 * PIECE);
        assertThat(third.end).isEqualTo(BYTES);
    }

    @Test
    void pushThatCompletesBeforeThePullBeginsIsDividedIntoLargePieces() {
        begin(Cut.COARSE);
        assertThat(take(StepKind.PUSH).end).isEqualTo(BYTES);
    }

    @Test
    void pushEndsOnlyAfterTheShardsHaveAggregatedTheGradient() {
        begin(Cut.FINE);
        pushAll();
        assertThat(progress.push()).isEqualTo(Push.SYNCHRONIZING);
        assertThat(progress.isPushed()).isTrue();
        assertThat(progress.pushedBytes()).isEqualTo(BYTES);
        Step synchronize = take(StepKind.SYNCHRONIZE);
        noneIsDue();
        end(synchronize);
        assertThat(progress.push()).isEqualTo(Push.ENDED);
        assertThat(progress.hasEnded()).isFalse();
    }

    @Test
    void pieceIsNotPulledBeforeAllEarlierPiecesArePushed() {
        begin(Cut.FINE);
        Step[] two = takeTwoPieces();
        observe();
        progress.pullIsDue();
        end(take(StepKind.BEGIN_PULL));
        end(two[1]);
        take(StepKind.PUSH);
        noneIsDue();
        end(two[0]);
        Step pull = take(StepKind.PULL);
        assertThat(pull.from).isZero();
        assertThat(pull.end).isEqualTo(2 * PIECE);
        noneIsDue();
    }

    @Test
    void pullThatBeginsAfterTheWholePushIsNotDivided() {
        begin(Cut.FINE);
        pushAll();
        end(take(StepKind.SYNCHRONIZE));
        progress.pullIsDue();
        end(take(StepKind.BEGIN_PULL));
        Step pull = take(StepKind.PULL);
        assertThat(pull.end).isEqualTo(BYTES);
        end(pull);
        assertThat(progress.hasEnded()).isTrue();
    }

    @Test
    void weightsAreCopiedAfterThePull() {
        progress.begin(false, false, true, Cut.COARSE);
        progress.pullIsDue();
        end(take(StepKind.BEGIN_PULL));
        end(take(StepKind.PULL));
        assertThat(progress.pull()).isEqualTo(Pull.COPYING);
        end(take(StepKind.COPY));
        assertThat(progress.hasEnded()).isTrue();
        noneIsDue();
    }

    @Test
    void failedPushEndsWhenThePiecesInFlightHaveEnded() {
        begin(Cut.FINE);
        Step[] two = takeTwoPieces();
        observe();
        fail(two[0]);
        noneIsDue();
        assertThat(progress.push()).isEqualTo(Push.STOPPING);
        assertThat(progress.pull()).isEqualTo(Pull.ENDED);
        end(two[1]);
        assertThat(progress.hasEnded()).isTrue();
        assertThat(progress.isPushed()).isFalse();
    }

    @Test
    void pushContinuesWhenThePullFails() {
        begin(Cut.FINE);
        Step[] two = takeTwoPieces();
        observe();
        progress.pullIsDue();
        fail(take(StepKind.BEGIN_PULL));
        assertThat(progress.pull()).isEqualTo(Pull.ENDED);
        end(two[0]);
        Step third = take(StepKind.PUSH);
        end(two[1]);
        end(third);
        end(take(StepKind.SYNCHRONIZE));
        assertThat(progress.hasEnded()).isTrue();
    }

    @Test
    void stoppedPullEndsWhenItsLastStepInProgressHasEnded() {
        progress.begin(false, false, true, Cut.COARSE);
        progress.pullIsDue();
        end(take(StepKind.BEGIN_PULL));
        Step pull = take(StepKind.PULL);
        progress.stopPull();
        assertThat(progress.pull()).isEqualTo(Pull.STOPPING);
        end(pull);
        assertThat(progress.hasEnded()).isTrue();
    }

    @Test
    void stopEndsAnExchangeImmediatelyWhenNoStepIsInProgress() {
        begin(Cut.FINE);
        progress.stop();
        assertThat(progress.hasEnded()).isTrue();
    }

    @Test
    void versionIsNotRequestedAgainWhileARequestIsInFlight() {
        begin(Cut.FINE);
        Step[] two = takeTwoPieces();
        Step unanswered = take(StepKind.OBSERVE);
        fail(two[0]);
        fail(two[1]);
        progress.begin(true, false, false, Cut.FINE);
        takeTwoPieces();
        noneIsDue();
        end(unanswered);
        noneIsDue();
    }
}
