package io.modeldisk.mount.exchange;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ShardCounters;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Asks the shards for the model's version: one round trip for a page of fixed size. Thread-safe. */
public final class VersionProbe {
    /** The version when a shard has not answered. */
    public static final long UNKNOWN = -1;

    private static final Logger LOG = LogManager.getLogger(VersionProbe.class);
    private static final long RECENT_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final Sample NOTHING = new Sample(UNKNOWN, 1, 0);

    private final RemoteModel model;
    private final NanoClock clock;
    private volatile Sample latest = NOTHING;

    /** A probe of this model. */
    public VersionProbe(RemoteModel model, NanoClock clock) {
        this.model = model;
        this.clock = clock;
    }

    /**
     * The shards' answer.
     *
     * @param version the updates that every block has had at least, or {@link #UNKNOWN}
     * @param updatesPerRound how many updates make a round: 1 in bsp, otherwise one for each learner
     * @param askedNs when it was asked
     */
    public record Sample(long version, int updatesPerRound, long askedNs) {
        /** How many rounds weights of an older version lag behind; NaN if either version is unknown. */
        public double roundsSince(long olderVersion) {
            return version == UNKNOWN || olderVersion == UNKNOWN
                ? Double.NaN
                : Math.max(0.0, version - olderVersion) / updatesPerRound;
        }
    }

    /**
     * An answer of the last {@value #RECENT_NS} ns, so that a learner with quicker iterations does not wait for one each time.
     */
    Sample recent() {
        Sample last = latest;
        return last.version() == UNKNOWN || clock.nanoTime() - last.askedNs() >= RECENT_NS ? ask() : last;
    }

    /** The last answer: the model has this version at least. Does not wait. */
    Sample latest() {
        return latest;
    }

    /** The version now. It is {@link #UNKNOWN} if a shard does not answer. */
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
            LOG.debug("the model's version is unknown: {}", e.getMessage());
            latest = NOTHING;
            return NOTHING;
        }
    }
}
