package io.modeldisk.bench.micro;

import io.modeldisk.bench.protocol.LatencyPlan;
import io.modeldisk.protocol.initiator.Route;
import java.util.List;

/**
 * The plan of {@code bench micro}.
 *
 * @param datamovers the datamovers; gRPC is always measured
 * @param latency point to point; may be null
 * @param fanIn one server with many clients; may be null
 * @param mesh fully connected nodes; may be null
 * @param rounds the number of runs of each throughput, in turn
 * @param runMs the approximate duration of a run
 * @param warmUpMs the duration of the runs before the measurement
 * @param modelBytes the size of a server's weights
 */
public record MicroPlan(
    List<Route.Preference> datamovers, LatencyPlan latency, FanIn fanIn, Mesh mesh, int rounds, long runMs,
    long warmUpMs, long modelBytes) {
    /**
     * One server, many clients, each with one request at a time.
     *
     * @param clients the numbers of clients
     * @param requestBytes the size of a request
     */
    public record FanIn(List<Integer> clients, int requestBytes) {}

    /**
     * Nodes that each serve, and each have one request at a time in flight to every other node.
     *
     * @param nodes the number of nodes
     * @param requestBytes the sizes of requests
     */
    public record Mesh(int nodes, List<Integer> requestBytes) {}
}
