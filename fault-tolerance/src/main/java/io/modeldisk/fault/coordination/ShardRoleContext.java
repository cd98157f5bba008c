package io.modeldisk.fault.coordination;

import io.modeldisk.platform.time.NanoClock;
import java.time.Duration;
import java.util.Map;

/**
 * The configuration of a process's role for a shard.
 *
 * @param coordinator the configuration of the connection to ZooKeeper
 * @param model the name of the model
 * @param shard the number of the shard
 * @param shards the number of shards
 * @param options the options that all processes of the model must have in common: names and values
 * @param address the address at which this process will serve; null if it is not known yet
 * @param host the name of this host, which the status shows
 * @param startAnewAfter the time after which this process starts anew without the newest updates, if no live replica has them
 * @param changed the action after each change of the state; it must not block
 * @param clock the clock for all times except those of ZooKeeper itself
 */
public record ShardRoleContext(CoordinatorContext coordinator, String model, int shard, int shards,
    Map<String, String> options, String address, String host, Duration startAnewAfter, Runnable changed,
    NanoClock clock) {
    /** The default time after which a process without the newest updates replaces a primary that does not return. */
    public static final Duration DEFAULT_START_ANEW_AFTER = Duration.ofSeconds(10);
}
