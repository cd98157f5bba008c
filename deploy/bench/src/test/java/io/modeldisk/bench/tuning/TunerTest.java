package io.modeldisk.bench.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.report.Samples;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class TunerTest {
    private static final int BUILT_IN = 32;

    private static Map<Integer, Samples> ratios(int bytes, double ratio, int moreBytes, double moreRatio) {
        return new TreeMap<>(
            Map.of(4096, new Samples(0.5), bytes, new Samples(ratio), moreBytes, new Samples(moreRatio)));
    }

    @Test
    void fastestTransferSizeReplacesTheBuiltInSize() {
        assertThat(Tuner.best(Map.of(8, new Samples(2), 16, new Samples(3), BUILT_IN, new Samples(2.5)), BUILT_IN))
            .isEqualTo(16);
    }

    @Test
    void transferSizeWithAGainBelowFivePercentIsNotChosen() {
        assertThat(Tuner.best(Map.of(8, new Samples(1.04), BUILT_IN, new Samples(1)), BUILT_IN)).isEqualTo(BUILT_IN);
    }

    /** The median throughput of the candidate is twice that of the built-in size, but in most rounds the candidate is slower. */
    @Test
    void throughputsOfTransferSizesAreComparedWithinTheSameRound() {
        assertThat(Tuner.best(Map.of(8, new Samples(2, 2, 2, 1, 0.5), BUILT_IN, new Samples(3, 3, 1, 1, 1)), BUILT_IN))
            .isEqualTo(BUILT_IN);
    }

    @Test
    void eagerThresholdIsTheLargestSizeUpToWhichSendingIsNotSlowerThanFetching() {
        assertThat(Tuner.threshold(ratios(8192, 1, 16384, 1.3))).isEqualTo(8192);
        assertThat(Tuner.threshold(ratios(8192, 1.3, 16384, 0.5))).isEqualTo(4096);
    }

    @Test
    void eagerThresholdIsZeroIfSendingTheSmallestPushIsSlowerThanFetchingIt() {
        assertThat(Tuner.threshold(ratios(2048, 1.5, 8192, 0.5))).isZero();
    }
}
