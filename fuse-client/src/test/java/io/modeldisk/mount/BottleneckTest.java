package io.modeldisk.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.TimeShares;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The line about a learner's time, in typical situations. Each iteration takes 200 ms. */
class BottleneckTest {
    private static final int ITERATIONS = 20;
    private static final long PERCENT_NS = ITERATIONS * TimeUnit.MILLISECONDS.toNanos(2);

    /** Returns iterations with these shares in percent, in which 10 MB are moved while fsync waits. */
    private static TimeShares shares(int compute, int copy, int wait, int move, int lag) {
        return new TimeShares(ITERATIONS, 100 * PERCENT_NS, compute * PERCENT_NS, copy * PERCENT_NS, wait * PERCENT_NS,
            move * PERCENT_NS, lag * PERCENT_NS, 1, ITERATIONS * 10_000_000L, move * PERCENT_NS);
    }

    private static String text(TimeShares shares, String awaited) {
        return new Bottleneck(shares, 0, awaited, ExchangeScheme.SYNC, true, true).text();
    }

    @Test
    void fasterDeviceIsAdvisedIfTheComputationDominates() {
        assertThat(text(shares(91, 0, 2, 6, 1), "learner two")).isEqualTo("the last 20 iterations took 200 ms each: "
            + "computing 91 %, waiting for learner two 2 %, moving bytes 7 % at 833 MB/s; "
            + "what helps: a faster device for the learner, or more learners");
    }

    @Test
    void stragglerIsNamed() {
        assertThat(text(shares(30, 0, 60, 10, 0), "learner two")).contains("waiting for learner two 60 %",
            "what helps: a faster machine or fewer samples for learner two, or --consistency ssp or asp");
        assertThat(text(shares(30, 0, 60, 10, 0), Stragglers.SHARDS))
            .endsWith("what helps: faster processors for the shards");
    }

    @Test
    void slowShardIsNamed() {
        assertThat(text(shares(30, 0, 2, 20, 48), "learner two"))
            .contains("waiting for shard 1 48 %", "what helps: a faster machine or network for shard 1");
    }

    @Test
    void networkIsShownWithItsRate() {
        TimeShares shares = shares(31, 4, 4, 60, 1);
        assertThat(text(shares, "learner two")).contains("moving bytes 61 % at 83 MB/s, copying 4 %;")
            .endsWith("what helps: more shards, a faster network, --exchange overlap, --dtype bf16");
        assertThat(new Bottleneck(shares, 0, "learner two", ExchangeScheme.OVERLAP, false, false).text())
            .endsWith("what helps: more shards");
    }

    @Test
    void mappedBuffersAreAdvisedIfCopiesDominate() {
        assertThat(text(shares(40, 35, 5, 18, 0), "learner two")).contains("copying 35 %, other 2 %")
            .endsWith("what helps: the mapped buffers in DIR/mapped, which need no copy");
    }

    @Test
    void smallSharesBlameNobody() {
        assertThat(text(shares(70, 2, 3, 1, 2), "learner two")).endsWith("other 22 %; nothing stands out");
        assertThat(text(shares(70, 0, 0, 0, 0), "learner two"))
            .endsWith("computing 70 %, other 30 %; nothing stands out");
        assertThat(text(shares(85, 2, 3, 1, 2), "learner two")).contains("what helps: a faster device");
    }

    @Test
    void noSharesAreShownBeforeThreeIterations() {
        assertThat(text(TimeShares.NONE, "learner two")).isEqualTo("not known until 3 iterations have ended");
        assertThat(text(new TimeShares(2, 9, 9, 0, 0, 0, 0, 0, 1, 1), "learner two"))
            .isEqualTo("not known until 3 iterations have ended");
    }

    @Test
    void fsyncThatWaitsForLongComesFirst() {
        long fsyncNs = TimeUnit.SECONDS.toNanos(12);
        assertThat(new Bottleneck(TimeShares.NONE, fsyncNs, "learner two", ExchangeScheme.SYNC, true, true).text())
            .isEqualTo("an fsync has waited for learner two for 12.0 s; not known until 3 iterations have ended");
        assertThat(new Bottleneck(shares(91, 0, 2, 7, 0), TimeUnit.MILLISECONDS.toNanos(900), "learner two",
            ExchangeScheme.SYNC, true, true).text()).startsWith("the last 20 iterations");
    }
}
