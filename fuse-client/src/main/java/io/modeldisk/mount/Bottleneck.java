package io.modeldisk.mount;

import io.modeldisk.mount.exchange.ExchangeScheme;
import io.modeldisk.mount.exchange.TimeShares;
import io.modeldisk.platform.text.PlainText;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Describes in one line where the time of a learner's iterations goes, and what would make them faster.
 *
 * @param times the last iterations
 * @param fsyncNs the time for which the current fsync has been in progress; 0 if no fsync is in progress
 * @param awaited the learner for which this one waits, such as {@code learner two}
 * @param exchange the exchange scheme
 * @param float32 whether gradients and weights are moved as float32
 * @param network whether they are moved over a network
 */
record Bottleneck(TimeShares times, long fsyncNs, String awaited, ExchangeScheme exchange, boolean float32,
    boolean network) {
    /** With fewer iterations, the shares mean little. */
    private static final int ENOUGH = 3;
    /** The share of the computation in percent from which only a faster computation helps. */
    private static final int MOST = 80;
    /** The wait for one shard is shown only from this share in percent. */
    private static final int WORTH_A_WORD = 5;
    private static final long LONG_FSYNC_NS = TimeUnit.SECONDS.toNanos(1);

    /** Returns the line. */
    String text() {
        String now = fsyncNs > Math.max(LONG_FSYNC_NS, 2 * times.totalNs() / Math.max(1, times.iterations()))
            ? PlainText.format("an fsync has waited for %s for %.1f s", awaited, fsyncNs / 1e9)
            : "";
        String past = times.iterations() < ENOUGH
            ? "not known until " + ENOUGH + " iterations have ended"
            : PlainText.format("the last %d iterations took %s ms each: %s; %s", times.iterations(), mean(),
                String.join(", ", shares()), advice());
        return now.isEmpty() ? past : now + "; " + past;
    }

    private String mean() {
        double ms = times.totalNs() / 1e6 / times.iterations();
        return PlainText.format(ms < 10 ? "%.1f" : "%.0f", ms);
    }

    private List<String> shares() {
        List<String> shares = new ArrayList<>();
        shares.add("computing " + percent(times.computeNs()) + " %");
        add(shares, "waiting for " + awaited, times.waitNs(), "");
        add(shares, "waiting for shard " + times.shard(), lagNs(), "");
        add(shares, "moving bytes", moveNs(), " at " + rate());
        add(shares, "copying", times.copyNs(), "");
        add(shares, "other", times.otherNs(), "");
        return shares;
    }

    private void add(List<String> shares, String name, long ns, String end) {
        if (percent(ns) > 0) {
            shares.add(name + " " + percent(ns) + " %" + end);
        }
    }

    /** Returns the wait for one shard. Some shard is always the last one, so a short wait counts as transfer time. */
    private long lagNs() {
        return percent(times.lagNs()) < WORTH_A_WORD ? 0 : times.lagNs();
    }

    private long moveNs() {
        return times.moveNs() + times.lagNs() - lagNs();
    }

    private long percent(long ns) {
        return Math.round(100.0 * ns / Math.max(1, times.totalNs()));
    }

    private String rate() {
        double mbPerSecond = 1e3 * times.movedBytes() / Math.max(1, times.movingNs());
        return mbPerSecond < 1e3
            ? PlainText.format("%.0f MB/s", mbPerSecond)
            : PlainText.format("%.1f GB/s", mbPerSecond / 1e3);
    }

    private String advice() {
        if (percent(times.computeNs()) < MOST && percent(mostNs()) < WORTH_A_WORD) {
            return "nothing stands out";
        }
        return "what helps: " + help();
    }

    private long mostNs() {
        return Math.max(Math.max(times.waitNs(), lagNs()), Math.max(moveNs(), times.copyNs()));
    }

    private String help() {
        long most = mostNs();
        if (percent(times.computeNs()) >= MOST) {
            return "a faster device for the learner, or more learners";
        }
        if (most == times.waitNs()) {
            return awaited.equals(Stragglers.SHARDS)
                ? "faster processors for the shards"
                : "a faster machine or fewer samples for " + awaited + ", or --consistency ssp or asp";
        }
        if (most == lagNs()) {
            return "a faster machine or network for shard " + times.shard();
        }
        if (most == times.copyNs()) {
            return "the mapped buffers in DIR/mapped, which need no copy";
        }
        return "more shards" + (network ? ", a faster network" : "")
            + (exchange == ExchangeScheme.SYNC ? ", --exchange overlap" : "") + (float32 ? ", --dtype bf16" : "");
    }
}
