package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Mover;
import io.modeldisk.bench.report.Samples;
import io.modeldisk.bench.report.ThroughputResult;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Throughput of the protocol beside the floor. The two are measured in turn, one soon after the other, and the order changes
 * from pair to pair, so that what disturbs the machine disturbs both.
 */
final class PairedRuns {
    private static final double SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final double MOST_GROWTH = 100;

    private final int pairs;
    private final long runNanos;

    PairedRuns(int pairs, long runMillis) {
        this.pairs = pairs;
        this.runNanos = TimeUnit.MILLISECONDS.toNanos(runMillis);
    }

    /**
     * Measures one kind of load.
     *
     * @param floorWithSgd null if that is not wanted
     */
    ThroughputResult measure(String aggregator, Load kind, Mover floor, Mover floorWithSgd, Mover protocol)
        throws IOException {
        Load forFloor = warmUp(floor, kind);
        Load forSgd = floorWithSgd == null ? null : warmUp(floorWithSgd, kind);
        Load forProtocol = warmUp(protocol, kind);
        double[] floors = new double[pairs];
        double[] sgds = new double[pairs];
        double[] protocols = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            if (i % 2 == 0) {
                floors[i] = run(floor, forFloor);
                protocols[i] = run(protocol, forProtocol);
            } else {
                protocols[i] = run(protocol, forProtocol);
                floors[i] = run(floor, forFloor);
            }
            if (floorWithSgd != null) {
                sgds[i] = run(floorWithSgd, forSgd);
            }
        }
        return new ThroughputResult(aggregator, kind.direction(), kind.requestBytes(), kind.queueDepth(),
            Samples.of(floors), floorWithSgd == null ? null : Samples.of(sgds), Samples.of(protocols));
    }

    /** Moves more and more until a run is about as long as it is to be; answers the load that makes it so. */
    private Load warmUp(Mover mover, Load kind) throws IOException {
        Load load = kind.withRequests(kind.queueDepth());
        long nanos = mover.move(load);
        while (nanos < runNanos / 2) {
            double growth = Math.min(MOST_GROWTH, (double) runNanos / Math.max(1, nanos));
            load = load.withRequests((long) Math.ceil(load.requests() * growth));
            nanos = mover.move(load);
        }
        double fit = (double) runNanos / nanos;
        return load.withRequests(Math.max(kind.queueDepth(), (long) (load.requests() * fit)));
    }

    private static double run(Mover mover, Load load) throws IOException {
        return load.bytes() * SECOND_NANOS / mover.move(load);
    }
}
