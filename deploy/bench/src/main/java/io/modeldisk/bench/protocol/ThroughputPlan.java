package io.modeldisk.bench.protocol;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import java.util.ArrayList;
import java.util.List;

/**
 * The plan of a throughput measurement.
 *
 * @param directions the directions of the data
 * @param requestBytes the sizes of requests
 * @param queueDepths the maximum numbers of requests in flight, in each direction
 * @param gradientBytes the size of the gradient; 0 for one buffer for each request in flight
 * @param pairs the number of measurements of the baseline and of the protocol; the measurements alternate
 * @param runMs the approximate duration of a measurement
 */
public record ThroughputPlan(
    List<Direction> directions, List<Integer> requestBytes, List<Integer> queueDepths, long gradientBytes, int pairs,
    long runMs) {
    /** Returns a load of one request for each combination of direction, queue depth and request size. */
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

    /** The maximum number of bytes that a load has in flight. */
    long bufferBytes() {
        long most = 0;
        for (Load load : loads()) {
            most = Math.max(most, (long) load.requestBytes() * load.queueDepth() * load.direction().ways());
        }
        return most;
    }
}
