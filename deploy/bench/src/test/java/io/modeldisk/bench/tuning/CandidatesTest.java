package io.modeldisk.bench.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.tuning.Candidates.Measured;
import io.modeldisk.bench.tuning.Candidates.Push;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CandidatesTest {
    private static final int BUILT_IN = 32;

    private static Measured measured(int value, double... figures) {
        return new Measured(value, Samples.of(figures));
    }

    private static Push push(int bytes, double eager, double rendezvous) {
        return new Push(bytes, Samples.of(eager), Samples.of(rendezvous));
    }

    @Test
    void fastestTransferSizeReplacesTheBuiltInSize() {
        assertThat(Candidates.best(List.of(measured(8, 2), measured(16, 3), measured(BUILT_IN, 2.5)), BUILT_IN))
            .isEqualTo(16);
    }

    @Test
    void transferSizeWithAGainBelowFivePercentIsNotChosen() {
        assertThat(Candidates.best(List.of(measured(8, 1.04), measured(BUILT_IN, 1)), BUILT_IN)).isEqualTo(BUILT_IN);
    }

    /** The median throughput of the candidate is twice that of the built-in size, but in most rounds the candidate is slower. */
    @Test
    void throughputsOfTransferSizesAreComparedWithinTheSameRound() {
        assertThat(Candidates.best(List.of(measured(8, 2, 2, 2, 1, 0.5), measured(BUILT_IN, 3, 3, 1, 1, 1)), BUILT_IN))
            .isEqualTo(BUILT_IN);
    }

    @Test
    void eagerThresholdIsTheLastSizeBeforeAPushIsFasterWithFetchedData() {
        assertThat(Candidates.threshold(List.of(push(4096, 1, 2), push(8192, 2, 2), push(16384, 4, 3),
            push(32768, 5, 9)))).isEqualTo(8192);
    }

    @Test
    void eagerThresholdIsZeroIfTheSmallestPushIsFasterWithFetchedData() {
        assertThat(Candidates.threshold(List.of(push(4096, 3, 2), push(8192, 1, 2)))).isZero();
    }
}
