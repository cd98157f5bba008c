package io.modeldisk.mount.exchange;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.striping.RemoteModel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Requests the version of the model from the shards. A request takes one round trip. Thread-safe. */
public final class VersionProbe {
    /** The value of a version that is unknown because a shard has not responded. */
    public static final long UNKNOWN = -1;

    private static final Logger LOG = LogManager.getLogger(VersionProbe.class);
    private static final long RECENT_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final Sample NOTHING = new Sample(UNKNOWN, 1, 0);

    private final RemoteModel model;
    private final NanoClock clock;
    private volatile Sample latest = NOTHING;

    /** Creates a probe of this model. */
    public VersionProbe(RemoteModel model, NanoClock clock) {
        this.model = model;
        this.clock = clock;
    }

    /**
     * The version of a model at a moment.
     *
     * @param version the lowest number of updates among all blocks, or {@link #UNKNOWN}
     * @param updatesPerRound the number of updates in a round: 1 in bsp, otherwise the number of learners
     * @param askedNs the time when the version was requested
     */
    public record Sample(long version, int updatesPerRound, long askedNs) {
        /** Returns the number of rounds between an older version and this version; NaN if a version is unknown. */
        public double roundsSince(long olderVersion) {
            return version == UNKNOWN || olderVersion == UNKNOWN
                ? Double.NaN
                : Math.max(0.0, version - olderVersion) / updatesPerRound;
        }
    }

    /**
     * Returns the last version if it was requested less than 20 ms ago. Otherwise requests the current version. With this limit,
     * a learner with short iterations does not wait for a request in each iteration.
     */
    Sample recent() {
        Sample last = latest;
        return last.version() == UNKNOWN || clock.nanoTime() - last.askedNs() >= RECENT_NS ? ask() : last;
    }

    /** Returns the last version that was requested, without a new request. The model has at least this version. */
    Sample latest() {
        return latest;
    }

    /** Requests the current version and returns it. The version is {@link #UNKNOWN} if a shard does not respond. */
    public Sample ask() {
        long askedNs = clock.nanoTime();
        try {
            ShardCounters counters = model.counters();
            boolean wholeRounds = model.facts().consistencyMode().appliesWholeRounds();
            Sample answer = new Sample(counters.minVersion(), wholeRounds ? 1 : Math.max(1, counters.learners()),
                askedNs);
            latest = answer;
            return answer;
        } catch (IOException e) {
            LOG.debug("the version of the model is unknown: {}", e.getMessage());
            latest = NOTHING;
            return NOTHING;
        }
    }
}
