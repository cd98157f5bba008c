package io.modeldisk.bench.micro;

import io.modeldisk.bench.protocol.LatencyPlan;
import io.modeldisk.protocol.initiator.Route;
import java.util.List;

/**
 * The plan of {@code bench micro}.
 *
 * @param datamovers the measured datamovers; gRPC is always measured too
 * @param latency the plan for point-to-point latency; null to skip this benchmark
 * @param fanIn the plan for one server with many clients; null to skip this benchmark
 * @param mesh the plan for fully connected nodes; null to skip this benchmark
 * @param rounds the number of measurements of each datamover and of gRPC; the measurements alternate
 * @param runMs the approximate duration of a measurement
 * @param warmUpMs the duration of the warm-up before the measurement
 * @param modelBytes the size of a server's weights
 */
public record MicroPlan(
    List<Route.Preference> datamovers, LatencyPlan latency, FanIn fanIn, Mesh mesh, int rounds, long runMs,
    long warmUpMs, long modelBytes) {
    /**
     * The plan for one server with many clients. Each client sends one request at a time.
     *
     * @param clients the numbers of clients
     * @param requestBytes the size of a request
     */
    public record FanIn(List<Integer> clients, int requestBytes) {}

    /**
     * The plan for fully connected nodes. Each node sends one request at a time to every other node.
     *
     * @param nodes the number of nodes
     * @param requestBytes the sizes of requests
     */
    public record Mesh(int nodes, List<Integer> requestBytes) {}
}
