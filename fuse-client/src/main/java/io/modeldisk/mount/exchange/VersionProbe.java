package io.modeldisk.mount.exchange;

import com.fasterxml.jackson.databind.JsonNode;
import io.modeldisk.protocol.striping.RemoteModel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Asks the shards for the version of the model now and then, to know how stale weights are. Thread-safe. */
public final class VersionProbe {
    /** The version where no shard has told one. */
    public static final long UNKNOWN = -1;

    private static final Logger LOG = LogManager.getLogger(VersionProbe.class);
    // The question costs a shard a look at each block: iterations that are quicker than this share an answer.
    private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private final RemoteModel model;
    private volatile Sample last = new Sample(UNKNOWN, 1);
    private long lastNs;
    private boolean asked;

    /** A probe of this model. */
    public VersionProbe(RemoteModel model) {
        this.model = model;
    }

    /**
     * What the shards said.
     *
     * @param version how many updates each block has had at least, or {@link #UNKNOWN}
     * @param updatesPerRound how many of them make a round: in bsp one, else one from each learner
     */
    public record Sample(long version, int updatesPerRound) {
        /** How many rounds weights of this version lag behind; not a number if either is not known. */
        public double roundsSince(long olderVersion) {
            return version == UNKNOWN || olderVersion == UNKNOWN
                ? Double.NaN
                : Math.max(0.0, version - olderVersion) / updatesPerRound;
        }
    }

    /** The version now, or of a moment ago. A shard that does not answer makes it unknown, and nothing else. */
    synchronized Sample sample(long nowNs) {
        if (!asked || nowNs - lastNs >= INTERVAL_NS) {
            last = ask();
            lastNs = nowNs;
            asked = true;
        }
        return last;
    }

    /** What was answered last: the model has this version at least. Does not wait. */
    Sample latest() {
        return last;
    }

    /** The version now, asked for. */
    public Sample ask() {
        try {
            return read(model.status());
        } catch (IOException e) {
            LOG.debug("the version of the model is not known: {}", e.getMessage());
            return new Sample(UNKNOWN, 1);
        }
    }

    private Sample read(JsonNode shards) {
        long version = Long.MAX_VALUE;
        int learners = 1;
        for (JsonNode shard : shards) {
            version = Math.min(version, shard.path("version").path("min").asLong(UNKNOWN));
            learners = Math.max(learners, shard.path("learners").size());
        }
        boolean inRounds = model.facts().consistency().equals("bsp");
        return new Sample(version == Long.MAX_VALUE ? UNKNOWN : version, inRounds ? 1 : learners);
    }
}
