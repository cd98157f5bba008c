package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import java.util.ArrayList;
import java.util.List;

/**
 * What throughput is to be measured of.
 *
 * @param directions which way data goes
 * @param requestBytes the sizes of requests
 * @param queueDepths how many are under way
 * @param gradientBytes how much memory pushes come from, in turn; 0 for as many buffers as requests are under way
 * @param pairs how often each is measured, over bare sockets and over the protocol in turn
 * @param runMillis how long a run takes, about
 */
public record ThroughputPlan(
    List<Direction> directions, List<Integer> requestBytes, List<Integer> queueDepths, long gradientBytes, int pairs,
    long runMillis) {
    /** One request of each kind. */
    List<Load> loads() {
        List<Load> loads = new ArrayList<>();
        for (Direction direction : directions) {
            for (int depth : queueDepths) {
                for (int bytes : requestBytes) {
                    loads.add(new Load(direction, bytes, depth, 1, gradientBytes));
                }
            }
        }
        return loads;
    }

    /** The memory for all the requests that are ever under way at the same time, each way. */
    long bufferBytes() {
        long most = 0;
        for (Load load : loads()) {
            most = Math.max(most, (long) load.requestBytes() * load.queueDepth() * load.direction().ways());
        }
        return most;
    }
}
