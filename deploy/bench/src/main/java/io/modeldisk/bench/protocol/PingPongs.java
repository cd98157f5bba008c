package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Requester;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Measures the latency of several requesters in alternation. Each requester sends one request at a time. */
public final class PingPongs {
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(1);
    private static final int DIGITS = 3;
    private static final int WARM_UP_REQUESTS = 2_000;
    private static final int FEWEST_REQUESTS = 20;

    private final LatencyPlan plan;

    /** Creates a latency measurement for a plan. */
    public PingPongs(LatencyPlan plan) {
        this.plan = plan;
    }

    /**
     * Measures one direction and one request size with every requester.
     *
     * @return the latencies of each requester in nanoseconds, in the order of {@code requesters}
     */
    public List<Histogram> measure(Direction direction, int requestBytes, List<? extends Requester> requesters)
        throws IOException {
        long[] requests = new long[requesters.size()];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = warmUp(requesters.get(i), direction, requestBytes);
        }
        List<Histogram> found = requesters.stream().map(_ -> histogram()).toList();
        for (int turn = 0; turn < plan.pairs(); turn++) {
            for (int i = 0; i < requests.length; i++) {
                requesters.get(i).pingPong(direction, requestBytes, requests[i], found.get(i));
            }
        }
        return found;
    }

    /** Sends requests to warm up and to estimate the duration of a request. Returns the number of requests of a measurement. */
    private long warmUp(Requester requester, Direction direction, int requestBytes) throws IOException {
        long limit = TimeUnit.MILLISECONDS.toNanos(plan.runMs());
        long begun = System.nanoTime();
        long requests = 0;
        long nanos = 0;
        Histogram ignored = histogram();
        // On an emulated machine, the clock may stand still during requests. The division below needs a positive duration.
        while (nanos <= 0 || requests < WARM_UP_REQUESTS && nanos < limit) {
            requester.pingPong(direction, requestBytes, FEWEST_REQUESTS, ignored);
            requests += FEWEST_REQUESTS;
            nanos = System.nanoTime() - begun;
        }
        return Math.max(FEWEST_REQUESTS, requests * limit / nanos);
    }

    private static Histogram histogram() {
        return new Histogram(LONGEST_NS, DIGITS);
    }
}
