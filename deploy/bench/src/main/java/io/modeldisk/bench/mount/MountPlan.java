package io.modeldisk.bench.mount;

import io.modeldisk.protocol.initiator.Route;
import java.util.List;

/**
 * The plan of {@code bench mount}.
 *
 * @param measuresRequests whether reads and writes of mounts with the exchange {@code direct} are measured
 * @param measuresLearner whether the times of a learner with each exchange scheme are measured
 * @param bindings the names of the FUSE bindings
 * @param datamovers the datamovers between the mounts and the shard
 * @param requestBytes the sizes of the requests
 * @param queueDepths the numbers of requests in flight; with 1, a thread sends one request at a time
 * @param rounds the number of measurements of each variant; the measurements alternate
 * @param runMs the duration of a measurement
 * @param warmUpMs the duration after which the warm-up of a variant begins no further turn
 * @param modelBytes the size of the model
 */
public record MountPlan(
    boolean measuresRequests, boolean measuresLearner, List<String> bindings, List<Route.Preference> datamovers,
    List<Integer> requestBytes, List<Integer> queueDepths,
    int rounds, long runMs, long warmUpMs, long modelBytes) {}
