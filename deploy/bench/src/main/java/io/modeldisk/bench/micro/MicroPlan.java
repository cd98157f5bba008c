package io.modeldisk.bench.micro;

import io.modeldisk.bench.protocol.LatencyPlan;
import io.modeldisk.protocol.initiator.Route;
import java.util.List;

/**
 * What is to be measured.
 *
 * @param datamovers over what, gRPC apart
 * @param latency point to point; null if that is not wanted
 * @param fanIn one server with many clients; null if that is not wanted
 * @param mesh fully connected; null if that is not wanted
 * @param rounds how often each throughput is measured, in turn with the others
 * @param runMillis how long each of them takes, about
 * @param warmUpMillis for how long each is run before anything is measured
 * @param modelBytes how many weights a server has
 */
public record MicroPlan(
    List<Route.Preference> datamovers, LatencyPlan latency, FanIn fanIn, Mesh mesh, int rounds, long runMillis,
    long warmUpMillis, long modelBytes) {
    /**
     * One server, many clients, each with one request at a time.
     *
     * @param clients how many, one number after the other
     * @param requestBytes the size of a request
     */
    public record FanIn(List<Integer> clients, int requestBytes) {}

    /**
     * Nodes that each serve, and make one request at a time of each other one.
     *
     * @param nodes how many
     * @param requestBytes the sizes of requests
     */
    public record Mesh(int nodes, List<Integer> requestBytes) {}
}
