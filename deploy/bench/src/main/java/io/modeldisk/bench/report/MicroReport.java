package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * What {@code bench micro} found.
 *
 * @param modelBytes how many weights a server has
 * @param ways over what was measured: datamovers, and gRPC last
 * @param latency point to point, a figure for each way, one size after the other
 * @param fanIn one server with many clients
 * @param mesh fully connected
 * @param notes what was not measured, and why
 */
public record MicroReport(
    long modelBytes, List<String> ways, List<Latency> latency, List<Rate> fanIn, List<Rate> mesh,
    List<String> notes) {
    /**
     * How long a request takes when it is the only one.
     *
     * @param over a datamover, or gRPC
     * @param direction push or pull
     * @param requestBytes the size of a request
     * @param nanoseconds of each request
     */
    public record Latency(String over, Direction direction, int requestBytes, Histogram nanoseconds) {}

    /**
     * How many requests end in a second, of all who make them together.
     *
     * @param over a datamover, or gRPC
     * @param direction push or pull
     * @param parties how many clients, or nodes, there are
     * @param requestBytes the size of a request
     * @param requestsPerSecond in each round
     * @param p50Micros how long a request took, the median
     * @param p99Micros the same of the slowest in a hundred
     */
    public record Rate(
        String over, Direction direction, int parties, int requestBytes, Samples requestsPerSecond, double p50Micros,
        double p99Micros) {
        /** What each party moves in a second, its share of all, in each round. */
        Samples bytesPerSecondEach() {
            double[] values = requestsPerSecond.values();
            for (int i = 0; i < values.length; i++) {
                values[i] = values[i] * requestBytes / parties;
            }
            return Samples.of(values);
        }
    }
}
