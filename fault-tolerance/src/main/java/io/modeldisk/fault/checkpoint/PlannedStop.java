package io.modeldisk.fault.checkpoint;

import io.modeldisk.fault.membership.Membership;
import io.modeldisk.fault.membership.MembershipImage;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.engine.Nexus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The planned stop of a shard, which waits for a last checkpoint. Tracks whether the newest checkpoint contains all updates of
 * the shard. The checkpoint thread calls {@link #mustRequest}, {@link #begun}, {@link #written} and {@link #completed}. The other
 * methods are thread-safe.
 */
final class PlannedStop {
    private static final Logger LOG = LogManager.getLogger(PlannedStop.class);
    /** A shard that stops gives up its last checkpoint after this time without progress by any shard. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    /** After this number of checkpoints, a new one does not prolong the wait, because a shard might fail each time. */
    private static final int MAX_ATTEMPTS = 8;
    /** The time between two reads of the shards' progress in the shared directory. */
    private static final Duration LOOK = Duration.ofSeconds(1);
    /** The time for which shard 0 waits until the other shards stop too. */
    private static final Duration TOGETHER = Duration.ofSeconds(2);
    /** The time for which a shard still looks for a last checkpoint after shard 0 has stopped. */
    private static final Duration SEEN = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(50);
    /** The value of {@link Saved#updates} if the number of updates in the newest checkpoint is not known. */
    private static final long UNKNOWN = -1;

    private final StateDirectory state;
    private final int shards;
    private final boolean inRounds;
    private final boolean first;
    private final Progress progress;
    private final NanoClock clock;
    private final ShardStops stops;
    private final long history;
    private volatile Saved saved;
    private volatile boolean stopping;
    private volatile long sinceNs;
    private volatile long lastAdvanceNs;
    /** True if shard 0 has already stopped, so no shard requests a checkpoint. Used only by the thread that stops the shard. */
    private boolean alone;

    // Used only by the checkpoint thread.
    private Saved pending;
    private boolean requested;

    /**
     * The progress of the shard that a checkpoint contains.
     *
     * @param number the number of the checkpoint
     * @param round in bsp, the round of the checkpoint
     * @param held in bsp, whether this shard holds the pushes of later rounds
     */
    private record Saved(long number, long updates, long rawWrites, long round, boolean held) {}

    /**
     * The progress of a checkpoint.
     *
     * @param folder the checkpoint that is being written; null if there is none
     * @param shards the result of {@link PartWriter#shownProgress} for each shard
     */
    private record Written(StateDirectory.Folder folder, List<Long> shards) {}

    /**
     * Begins to record the progress of a shard.
     *
     * @param newest the number of the newest checkpoint
     * @param ofOther the number of the history that the shard continues; 0 if the shard has started from the newest checkpoint
     */
    PlannedStop(StateDirectory state, ModelFacts facts, Progress progress, NanoClock clock, long newest, long ofOther)
        throws IOException {
        this.state = state;
        this.shards = facts.shards();
        this.inRounds = facts.consistencyMode().kind() == ConsistencyMode.Kind.BSP;
        this.first = facts.shard() == 0;
        this.progress = progress;
        this.clock = clock;
        this.lastAdvanceNs = clock.nanoTime();
        this.stops = new ShardStops(state, facts.shard(), facts.shards());
        this.saved = new Saved(newest, ofOther == 0 ? progress.updates() : UNKNOWN, progress.rawWrites().getAsLong(),
            progress.openedRound(), false);
        long stopped = stops.takeHistory(newest);
        long continued = ofOther == 0 ? stopped : ofOther;
        this.history = continued != 0 ? continued : ThreadLocalRandom.current().nextLong() | 1;
    }

    /** Returns the learners that continue; empty unless this shard has started from the last checkpoint of a planned stop. */
    List<MembershipImage.Learner<Nexus>> learners() {
        return stops.learners();
    }

    /** See {@link Checkpointer#history}. */
    long history() {
        return history;
    }

    /**
     * Returns whether this shard must hold the pushes of the rounds after the next checkpoint, because this or another shard
     * stops or has stopped. Shards that are stopped a little later then save the same round, and lose no push.
     */
    boolean mustHold() throws IOException {
        return inRounds && (stopping || stops.hasOther());
    }

    /** Returns, on shard 0, whether shards stop and need a checkpoint that has not been requested yet. */
    boolean mustRequest() throws IOException {
        boolean others = stops.hasNew();
        if (!stopping || requested) {
            return others;
        }
        requested = stops.areAllStopping() || clock.nanoTime() - sinceNs >= TOGETHER.toNanos();
        return requested;
    }

    /** Records that the shard has begun to write a checkpoint. */
    void begun(long number, long round, boolean held) {
        pending = new Saved(number, 0, progress.rawWrites().getAsLong(), round, held);
    }

    /** Records that the shard has written its part of the checkpoint, with this number of updates. */
    void written(long updates) {
        pending = new Saved(pending.number(), updates, pending.rawWrites(), pending.round(), pending.held());
    }

    /** Records that a checkpoint is complete. */
    void completed(long number) {
        if (pending != null && pending.number() == number) {
            saved = pending;
        }
    }

    /** Returns whether the newest complete checkpoint contains all updates that this shard has received. */
    boolean isSaved() {
        Saved newest = saved;
        return newest.updates() == progress.updates() && newest.rawWrites() == progress.rawWrites().getAsLong()
            && (!inRounds || progress.openedRound() <= newest.round());
    }

    /** Returns whether the checkpoint with this number is the newest complete one, and contains all updates of this shard. */
    boolean isSavedBy(long checkpoint) {
        return saved.number() == checkpoint && isSaved();
    }

    /** In bsp, the round of the newest complete checkpoint of this shard. */
    long savedRound() {
        return saved.round();
    }

    /** Requests a last checkpoint. */
    void begin() throws IOException {
        sinceNs = clock.nanoTime();
        stops.stopping();
        stopping = true;
    }

    /**
     * Waits until {@link #isSaved} is true. In bsp, only a checkpoint counts after which this shard holds back pushes.
     * Returns early if the shard must go back, or if no shard has made progress with the checkpoint for 10 s.
     */
    void await(BooleanSupplier goneBack) throws IOException, InterruptedException {
        long endNs = sinceNs + TIMEOUT.toNanos();
        Written last = null;
        long lookedNs = sinceNs;
        int attempts = 0;
        while (!goneBack.getAsBoolean() && !(isSaved() && (saved.held() || !inRounds))
            && clock.nanoTime() - endNs < 0) {
            advanced();
            if (!alone && !first && stops.isFirstStopped()) {
                // Shard 0 might have published its last checkpoint just now, and will not request another one.
                alone = true;
                endNs = Math.min(endNs, clock.nanoTime() + SEEN.toNanos());
            }
            if (!alone && clock.nanoTime() - lookedNs >= LOOK.toNanos()) {
                lookedNs = clock.nanoTime();
                Written now = written();
                attempts += last == null || !Objects.equals(now.folder(), last.folder()) ? 1 : 0;
                if (!now.equals(last) && attempts <= MAX_ATTEMPTS) {
                    endNs = lookedNs + TIMEOUT.toNanos();
                }
                last = now;
            }
            clock.sleep(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /** Records that the thread that stops the shard has made progress now. */
    void advanced() {
        lastAdvanceNs = clock.nanoTime();
    }

    /** See {@link Checkpointer#lastAdvanceNs}. */
    long lastAdvanceNs() {
        return lastAdvanceNs;
    }

    /** Logs how the shard stops. */
    void report(boolean complete, CheckpointStatus status, boolean hasJournal) {
        if (complete) {
            LOG.info("checkpoint {} has all updates of the shard", status.number());
        } else {
            LOG.warn(
                "the shard stops without a last checkpoint ({}); the newest complete checkpoint is {}, and the pushes after"
                    + " it are {}",
                reason(status.failure()),
                status.number() == 0 ? "none" : status.path() + " of round " + status.round(),
                hasJournal ? "only in the journal" : "lost");
        }
    }

    private String reason(String failure) {
        if (failure != null) {
            return failure;
        }
        return alone
            ? "shard 0 has already stopped"
            : "no shard has made progress with it for " + TIMEOUT.toSeconds() + " s";
    }

    private Written written() throws IOException {
        StateDirectory.Folder partial = state.partial();
        List<Long> progressOfShards = new ArrayList<>();
        for (int i = 0; i < shards && partial != null; i++) {
            progressOfShards.add(PartWriter.shownProgress(partial, i, shards));
        }
        return new Written(partial, progressOfShards);
    }

    /**
     * Records for the next start whether the newest checkpoint contains all updates, and in bsp the learners that have pushed
     * the last round of the checkpoint.
     *
     * @return whether the checkpoint contains all updates
     *
     * @param former the learners of the last stop that have not joined yet; see {@link Membership#former}
     */
    boolean end(MembershipImage<Nexus> learners, List<MembershipImage.Learner<Nexus>> former) throws IOException {
        boolean complete = isSaved();
        boolean continues = complete && inRounds && learners.openedRound() == saved.round();
        stops.stopped(saved.number(), complete ? history : 0, continues
            ? Stream.concat(learners.learners().stream(), former.stream())
                .filter(learner -> learner.joinRound() <= saved.round()).toList()
            : List.of());
        return complete;
    }
}
