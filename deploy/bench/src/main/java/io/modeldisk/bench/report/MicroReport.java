package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.modeldisk.bench.load.Direction;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.knowm.xchart.CategoryChart;

/**
 * The result of {@code bench micro}.
 *
 * @param modelBytes the size of a server's weights
 * @param ways the names of the measured datamovers, followed by {@code gRPC}
 * @param latency the point-to-point latencies; one result for each direction, request size and entry of {@code ways}
 * @param fanIn the throughput of one server with many clients
 * @param mesh the throughput of fully connected nodes
 * @param notes the datamovers that were not measured, each with the reason
 */
public record MicroReport(
    long modelBytes, List<String> ways, List<Latency> latency, List<Rate> fanIn, List<Rate> mesh,
    List<String> notes) implements Report {
    /**
     * The latency of one request at a time.
     *
     * @param over the name of a datamover, or {@code gRPC}
     * @param direction push or pull
     * @param requestBytes the size of a request
     * @param nanoseconds the latency of each request
     */
    public record Latency(String over, Direction direction, int requestBytes, Histogram nanoseconds) {}

    /**
     * The throughput of all clients or nodes together.
     *
     * @param over the name of a datamover, or {@code gRPC}
     * @param direction push or pull
     * @param parties the number of clients or nodes
     * @param requestBytes the size of a request
     * @param requestsPerSecond the requests per second in each round, as the sum of all parties
     * @param p50Micros the median latency, in microseconds
     * @param p99Micros the 99th percentile of the latency, in microseconds
     */
    public record Rate(
        String over, Direction direction, int parties, int requestBytes, Samples requestsPerSecond, double p50Micros,
        double p99Micros) {
        /** The throughput of one client or node, in bytes per second, in each round. */
        Samples bytesPerSecondEach() {
            double[] values = requestsPerSecond.values();
            for (int i = 0; i < values.length; i++) {
                values[i] = values[i] * requestBytes / parties;
            }
            return Samples.of(values);
        }
    }

    @Override
    public String benchmark() {
        return "micro";
    }

    @Override
    public String text() {
        return MicroText.of(this);
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("modelBytes", modelBytes);
        ways.forEach(way -> root.withArray("ways").add(way));
        for (Latency each : latency) {
            ObjectNode node = JsonNodeFactory.instance.objectNode().put("over", each.over())
                .put("direction", each.direction().label()).put("requestBytes", each.requestBytes());
            ReportFiles.putMicroseconds(node, "microseconds", each.nanoseconds());
            root.withArray("latency").add(node);
        }
        fanIn.forEach(rate -> root.withArray("fanIn").add(json(rate, "clients")));
        mesh.forEach(rate -> root.withArray("mesh").add(json(rate, "nodes")));
        notes.forEach(note -> root.withArray("notes").add(note));
    }

    private static ObjectNode json(Rate rate, String parties) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("over", rate.over())
            .put("direction", rate.direction().label()).put(parties, rate.parties())
            .put("requestBytes", rate.requestBytes());
        ReportFiles.put(node, "requestsPerSecond", rate.requestsPerSecond());
        return node.put("p50Microseconds", rate.p50Micros()).put("p99Microseconds", rate.p99Micros());
    }

    @Override
    public List<List<CategoryChart>> charts() {
        return MicroCharts.of(this);
    }
}
