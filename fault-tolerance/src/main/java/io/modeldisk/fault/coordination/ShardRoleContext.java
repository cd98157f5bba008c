package io.modeldisk.fault.coordination;

import io.modeldisk.platform.time.NanoClock;
import java.time.Duration;
import java.util.Map;

/**
 * The configuration of a process's role for a shard. The coordinator, the model and the shard must be set. Not thread-safe.
 */
public final class ShardRoleContext {
    /** The default time after which a process without the newest updates replaces a primary that does not return. */
    public static final Duration DEFAULT_START_ANEW_AFTER = Duration.ofSeconds(10);

    private CoordinatorContext coordinator;
    private String model;
    private int shard;
    private int shards = 1;
    private Map<String, String> options = Map.of();
    private String address;
    private String host = "localhost";
    private Duration startAnewAfter = DEFAULT_START_ANEW_AFTER;
    private Runnable changed = () -> {};
    private NanoClock clock = NanoClock.SYSTEM;

    /** Sets how to connect to ZooKeeper. */
    public ShardRoleContext coordinator(CoordinatorContext connection) {
        this.coordinator = connection;
        return this;
    }

    /** Sets the name of the model. */
    public ShardRoleContext model(String name) {
        this.model = name;
        return this;
    }

    /** Sets the number of the shard, and the number of shards. */
    public ShardRoleContext shard(int number, int of) {
        this.shard = number;
        this.shards = of;
        return this;
    }

    /** Sets the options that all processes of the model must have in common: names and values. */
    public ShardRoleContext options(Map<String, String> common) {
        this.options = common;
        return this;
    }

    /** Sets the address at which this process will serve; null if it is not known yet. */
    public ShardRoleContext address(String known) {
        this.address = known;
        return this;
    }

    /** Sets the name of this host, which the status shows. */
    public ShardRoleContext host(String name) {
        this.host = name;
        return this;
    }

    /**
     * Sets the time for which no replica with the newest updates may be alive before this process starts anew without them; 10 s
     * by default.
     */
    public ShardRoleContext startAnewAfter(Duration time) {
        this.startAnewAfter = time;
        return this;
    }

    /** Sets the action after each change of the state. It must not block. */
    public ShardRoleContext changed(Runnable action) {
        this.changed = action;
        return this;
    }

    /** Sets the clock for all times except those of ZooKeeper itself. */
    public ShardRoleContext clock(NanoClock source) {
        this.clock = source;
        return this;
    }

    CoordinatorContext coordinator() {
        return coordinator;
    }

    String model() {
        return model;
    }

    int shard() {
        return shard;
    }

    int shards() {
        return shards;
    }

    Map<String, String> options() {
        return options;
    }

    String address() {
        return address;
    }

    String host() {
        return host;
    }

    long startAnewAfterNs() {
        return startAnewAfter.toNanos();
    }

    Runnable changed() {
        return changed;
    }

    NanoClock clock() {
        return clock;
    }

    @Override
    public String toString() {
        return coordinator + " startAnewAfter=" + startAnewAfter + " address=" + address;
    }
}
