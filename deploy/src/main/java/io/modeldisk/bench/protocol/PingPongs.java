package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Mover;
import io.modeldisk.bench.report.LatencyResult;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Latency of the protocol beside the floor, one request at a time; the two take turns. */
final class PingPongs {
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final int DIGITS = 3;
    private static final int WARM_UP_REQUESTS = 2_000;
    private static final int FEWEST_REQUESTS = 20;

    private final LatencyPlan plan;

    PingPongs(LatencyPlan plan) {
        this.plan = plan;
    }

    LatencyResult measure(Direction direction, int requestBytes, Mover floor, Mover protocol) throws IOException {
        long forFloor = warmUp(floor, direction, requestBytes);
        long forProtocol = warmUp(protocol, direction, requestBytes);
        Histogram floors = histogram();
        Histogram protocols = histogram();
        for (int i = 0; i < plan.pairs(); i++) {
            floor.pingPong(direction, requestBytes, forFloor, floors);
            protocol.pingPong(direction, requestBytes, forProtocol, protocols);
        }
        return new LatencyResult(direction, requestBytes, floors, protocols);
    }

    /** Answers how many requests make a turn. */
    private long warmUp(Mover mover, Direction direction, int requestBytes) throws IOException {
        long limit = TimeUnit.MILLISECONDS.toNanos(plan.runMillis());
        long begun = System.nanoTime();
        long requests = 0;
        Histogram ignored = histogram();
        while (requests < WARM_UP_REQUESTS && System.nanoTime() - begun < limit) {
            mover.pingPong(direction, requestBytes, FEWEST_REQUESTS, ignored);
            requests += FEWEST_REQUESTS;
        }
        return Math.max(FEWEST_REQUESTS, requests * limit / (System.nanoTime() - begun));
    }

    private static Histogram histogram() {
        return new Histogram(LONGEST_NANOS, DIGITS);
    }
}
