package io.modeldisk.mount.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExchangeSpanTest {
    /** The search ends at 2, the push at 10, the wait at 30 and the pull at 40. From 35, the pull waits for one shard. */
    private static final ExchangeSpan SPAN = new ExchangeSpan(0, 2, 10, 30, 35, 40, 1, 800);

    @Test
    void eachStepOfAForegroundExchangeCounts() {
        TimeShares shares = SPAN.of(-100, 0, 41, 20);
        assertThat(shares).isEqualTo(new TimeShares(1, 141, 80, 22, 20, 13, 5, 1, 800, 18));
        assertThat(shares.otherNs()).isEqualTo(1);
    }

    @Test
    void exchangeDuringAComputationCountsOnlyDuringTheFsync() {
        assertThat(SPAN.of(0, 33, 40, 0)).isEqualTo(new TimeShares(1, 40, 33, 0, 0, 2, 5, 1, 800, 18));
        assertThat(SPAN.of(0, 50, 51, 0)).isEqualTo(new TimeShares(1, 51, 50, 0, 0, 0, 0, 1, 800, 18));
    }

    @Test
    void onlyTheLastIterationsCount() {
        RecentIterations recent = new RecentIterations();
        for (int i = 0; i < 50; i++) {
            recent.add(SPAN.of(-i, 0, 40, 0));
        }
        TimeShares sum = recent.sum();
        assertThat(sum.iterations()).isEqualTo(RecentIterations.KEPT);
        assertThat(sum.computeNs()).isEqualTo(790);
        assertThat(sum.lagNs()).isEqualTo(100);
        assertThat(sum.shard()).isEqualTo(1);
        for (int i = 0; i < 6; i++) {
            recent.add(new TimeShares(1, 50, 0, 0, 0, 1, 49, 2, 0, 1));
        }
        assertThat(recent.sum().shard()).as("the shard with the longest time").isEqualTo(2);
        assertThat(recent.sum().lagNs()).isEqualTo(6 * 49);
        assertThat(recent.sum().moveNs()).isEqualTo(14 * (13 + 5) + 6);
        recent.clear();
        assertThat(recent.sum()).isEqualTo(TimeShares.NONE);
    }
}
