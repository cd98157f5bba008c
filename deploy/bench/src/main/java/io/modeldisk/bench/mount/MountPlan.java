package io.modeldisk.bench.mount;

import io.modeldisk.bench.shard.Datamovers;
import java.util.List;

/**
 * The plan of {@code bench mount}.
 *
 * @param bindings the names of the FUSE bindings
 * @param datamovers the datamovers between the mounts and the shard
 * @param requestBytes the sizes of the requests
 * @param rounds the number of measurements of each variant; the measurements alternate
 * @param runMs the duration of a measurement
 * @param modelBytes the size of the model
 */
public record MountPlan(
    List<String> bindings, Datamovers datamovers, List<Integer> requestBytes, int rounds, long runMs,
    long modelBytes) {}
