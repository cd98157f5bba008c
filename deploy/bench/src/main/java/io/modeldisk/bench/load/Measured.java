package io.modeldisk.bench.load;

import io.modeldisk.bench.report.Samples;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * One measurement, in which one or more clients send requests.
 *
 * @param requests the number of completed requests, as the sum over all clients
 * @param nanos the nanoseconds from the start of the first request to the completion of the last request
 * @param p50Micros the median latency in microseconds; 0 if latencies are not measured
 * @param p99Micros the 99th percentile of the latency in microseconds; 0 if latencies are not measured
 */
public record Measured(long requests, long nanos, double p50Micros, double p99Micros) {
    private static final double SECOND_NS = 1e9;
    private static final double MICRO_NS = 1e3;

    /** Returns a measurement without latencies. */
    public static Measured of(long requests, long nanos) {
        return new Measured(requests, nanos, 0, 0);
    }

    /** Returns a measurement with the latencies of all requests. */
    public static Measured of(Histogram nanoseconds, long nanos) {
        return new Measured(nanoseconds.getTotalCount(), nanos, nanoseconds.getValueAtPercentile(50) / MICRO_NS,
            nanoseconds.getValueAtPercentile(99) / MICRO_NS);
    }

    /** The requests per second of all clients together. */
    public double requestsPerSecond() {
        return requests * SECOND_NS / nanos;
    }

    /** Returns the values of one figure in the measurements of all turns. */
    public static Samples samples(List<Measured> turns, ToDoubleFunction<Measured> figure) {
        return new Samples(turns.stream().mapToDouble(figure).toArray());
    }

    /** Returns the throughputs of all turns in GB/s, where each request moves {@code bytes} bytes. */
    public static Samples gigabytesPerSecond(List<Measured> turns, double bytes) {
        return samples(turns, turn -> turn.requestsPerSecond() * bytes / SECOND_NS);
    }
}
