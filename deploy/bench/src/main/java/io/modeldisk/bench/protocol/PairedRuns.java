package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Mover;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.ThroughputResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Measures the throughput of the protocol and of its baselines in alternation. The order is reversed after every round, so that
 * other load on the machine affects all measurements equally.
 */
final class PairedRuns {
    private static final double SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final double MOST_GROWTH = 100;

    private final int pairs;
    private final long runNs;

    PairedRuns(int pairs, long runMs) {
        this.pairs = pairs;
        this.runNs = TimeUnit.MILLISECONDS.toNanos(runMs);
    }

    /**
     * The movers that are compared.
     *
     * @param baselineWithSgd the baseline whose server applies sgd; may be null
     * @param alone the memory baseline; may be null
     */
    record Sides(Mover baseline, Mover baselineWithSgd, Mover protocol, Mover alone) {}

    /** The measurements of one mover. */
    private final class Runs {
        private final Mover mover;
        private final Load load;
        private final double[] bytesPerSecond = new double[pairs];

        Runs(Mover mover, Load kind) throws IOException {
            this.mover = mover;
            this.load = warmUp(mover, kind);
        }

        void run(int turn) throws IOException {
            bytesPerSecond[turn] = load.bytes() * SECOND_NS / mover.move(load);
        }

        static Samples samples(Runs runs) {
            return runs == null ? null : Samples.of(runs.bytesPerSecond);
        }
    }

    /** Measures one load with every mover. */
    ThroughputResult measure(String aggregator, Load kind, Sides sides) throws IOException {
        List<Runs> turn = new ArrayList<>();
        Runs baselineWithSgd = add(turn, sides.baselineWithSgd(), kind);
        Runs baseline = add(turn, sides.baseline(), kind);
        Runs protocol = add(turn, sides.protocol(), kind);
        Runs alone = add(turn, sides.alone(), kind);
        for (int i = 0; i < pairs; i++) {
            for (Runs runs : turn) {
                runs.run(i);
            }
            Collections.reverse(turn);
        }
        return new ThroughputResult(aggregator, kind.direction(), kind.requestBytes(), kind.queueDepth(),
            Runs.samples(baseline), Runs.samples(baselineWithSgd), Runs.samples(protocol), Runs.samples(alone));
    }

    private Runs add(List<Runs> turn, Mover side, Load kind) throws IOException {
        if (side == null) {
            return null;
        }
        Runs runs = new Runs(side, kind);
        turn.add(runs);
        return runs;
    }

    /**
     * Increases the number of requests until a run takes at least half the planned time. Returns the load with the estimated
     * number of requests of a run that takes the planned time.
     */
    private Load warmUp(Mover mover, Load kind) throws IOException {
        Load load = kind.withRequests(kind.queueDepth());
        long ns = mover.move(load);
        while (ns < runNs / 2) {
            double growth = Math.min(MOST_GROWTH, (double) runNs / Math.max(1, ns));
            load = load.withRequests((long) Math.ceil(load.requests() * growth));
            ns = mover.move(load);
        }
        double fit = (double) runNs / ns;
        return load.withRequests(Math.max(kind.queueDepth(), (long) (load.requests() * fit)));
    }
}
