package io.modeldisk.fault.checkpoint;

import io.modeldisk.platform.files.PrivateFiles;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.dialect.ModelFacts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Requests checkpoints. Only shard 0 uses this class. A request is a folder in the shared directory. If a shard cannot fulfil the
 * request, shard 0 withdraws it, and requests a later round.
 *
 * <p>{@link #request} is thread-safe. One thread calls the other methods.
 */
final class CheckpointRequests {
    /** The name, without the shard's number, of a file that reports that the shard has already passed the requested round. */
    static final String MISSED = "missed-";
    /**
     * The start of the name of a file with which a shard reports that it cannot write the checkpoint. The name ends with the
     * number of the shard. The file contains the reason; it is empty if the disk has no space for the reason.
     */
    static final String FAILED = "failed-";

    private static final Logger LOG = LogManager.getLogger(CheckpointRequests.class);
    private static final long MAX_LEAD_ROUNDS = 1 << 20;
    private static final int STUCK_TICKS = 10;

    private final CheckpointSettings settings;
    private final ModelFacts facts;
    private final boolean inRounds;
    private final Progress progress;
    private final NanoClock clock;
    private final StateDirectory state;
    private final Runnable withdrawn;
    /** The number of calls of {@link #request}. Guarded by the lock of this object. */
    private long requested;

    private long nextNs;
    private long leadRounds;
    /** The result of {@link #covered()}. */
    private long covered;
    private long lastRound;
    private long lastChanges;
    private long lastNumber;
    private long ticksWithoutRound;
    private long openedBefore;
    private String failure;

    /**
     * Creates an object without pending requests. Calls {@code withdrawn} before the folder of a pending checkpoint is deleted.
     */
    CheckpointRequests(
        CheckpointSettings settings, ModelFacts facts, Progress progress, NanoClock clock, StateDirectory state,
        Runnable withdrawn) {
        this.settings = settings;
        this.facts = facts;
        this.inRounds = facts.consistencyMode().kind() == ConsistencyMode.Kind.BSP;
        this.progress = progress;
        this.clock = clock;
        this.state = state;
        this.withdrawn = withdrawn;
        this.lastChanges = progress.changes();
        this.lastRound = progress.openedRound();
        postpone();
    }

    /** Requests a checkpoint that is taken as soon as possible. Returns the number of this request. */
    synchronized long request() {
        return ++requested;
    }

    private synchronized long requested() {
        return requested;
    }

    /** The number of the newest {@linkplain #request request} that the last checkpoint, pending or not, fulfils. */
    long covered() {
        return covered;
    }

    /** Returns the reason why a shard could not write the last checkpoint; null if no shard has failed since the last call. */
    String takeFailure() {
        String taken = failure;
        failure = null;
        return taken;
    }

    /** Records that the pending checkpoint is complete. */
    void completed() {
        leadRounds /= 2;
    }

    /** Schedules the next periodic checkpoint one period from now. */
    void postpone() {
        nextNs = settings.period().time() == null ? 0 : clock.nanoTime() + settings.period().time().toNanos();
    }

    /**
     * Requests the next checkpoint if one is due, and withdraws a request that the shards could not fulfil.
     *
     * @param answered the number of the last request that was fulfilled or has failed
     * @return the folder of a new request; null if there is no new request
     */
    StateDirectory.Folder next(long answered) throws IOException {
        StateDirectory.Folder pending = state.partial();
        boolean wanted = requested() > covered;
        if (pending == null) {
            return wanted || isDue() ? requestNext(wanted) : null;
        }
        Path failed = mark(pending, FAILED);
        if (failed != null) {
            String reason = new String(PrivateFiles.readAllBytes(failed), StandardCharsets.UTF_8);
            failure = reason.isEmpty()
                ? failed.getFileName()
                    + ": a shard could write neither its blocks nor the reason; see the log of the shard"
                : reason;
            withdraw(pending);
            return null;
        }
        if (mark(pending, MISSED) != null) {
            withdraw(pending);
            leadRounds = Math.min(MAX_LEAD_ROUNDS, Math.max(1, 2 * leadRounds));
            return requestNext(wanted || covered > answered);
        }
        boolean stuck = !wanted && isStuck(pending, answered);
        if (wanted || stuck) {
            withdraw(pending);
            leadRounds = stuck ? 0 : leadRounds;
            return requestNext(true);
        }
        return null;
    }

    /** Returns whether a requested checkpoint waits for a round that does not begin, because the learners have stopped. */
    private boolean isStuck(StateDirectory.Folder pending, long answered) throws IOException {
        long opened = progress.openedRound();
        if (opened != openedBefore || covered <= answered || pending.facts().round() <= opened) {
            openedBefore = opened;
            ticksWithoutRound = 0;
            return false;
        }
        return ++ticksWithoutRound >= STUCK_TICKS;
    }

    /** Returns the file with which a shard reports that it cannot take the checkpoint; null if there is none. */
    private Path mark(StateDirectory.Folder pending, String kind) {
        return IntStream.range(0, facts.shards()).mapToObj(shard -> pending.file(kind + shard)).filter(Files::exists)
            .findFirst().orElse(null);
    }

    private void withdraw(StateDirectory.Folder pending) throws IOException {
        withdrawn.run();
        StateDirectory.delete(pending.path());
    }

    private boolean isDue() {
        CheckpointPeriod period = settings.period();
        long round = progress.openedRound();
        if (period.time() == null) {
            return inRounds ? round > lastRound : round >= lastRound + period.rounds();
        }
        return clock.nanoTime() - nextNs >= 0 && progress.changes() != lastChanges;
    }

    private StateDirectory.Folder requestNext(boolean now) throws IOException {
        long opened = progress.openedRound();
        long rounds = settings.period().rounds();
        long round = inRounds ? opened + leadRounds : opened;
        if (inRounds && rounds > 0 && !now) {
            round = Math.ceilDiv(Math.max(round, lastRound + 1), rounds) * rounds;
        }
        lastRound = inRounds ? round : opened;
        lastChanges = progress.changes();
        postpone();
        covered = requested();
        StateDirectory.Folder next = state.request(CheckpointFacts.of(facts, round), lastNumber);
        lastNumber = next.number();
        LOG.debug("requested {} of round {}", next.path(), round);
        return next;
    }
}
