package io.modeldisk.fault.checkpoint;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The starts of all shards of a model under bsp. The weights of all shards must be those of one round, so if one shard has gone
 * back to a checkpoint, the others must go back too, before any shard serves learners again.
 *
 * <p>Each shard has a file in the shared directory, with the checkpoint from which it has started, and with those starts of the
 * other shards with which it agrees. A shard agrees with the start of another shard if it has the weights of the same checkpoint:
 * either since its own start, or because it saved them when the other shard stopped, and has held back all later pushes since
 * then. Otherwise it starts again, from a checkpoint that is at most as new as the other shard's
 * ({@link StartAgainException#startAtMost}), so if some shards cannot load the newest checkpoint, all shards start from the
 * newest one that all can load. A shard serves learners after all other shards have agreed with its start.
 */
final class ShardStarts {
    private static final Logger LOG = LogManager.getLogger(ShardStarts.class);
    /** The time within which another shard must start with the directory for the first time. */
    private static final Duration FIRST_START = Duration.ofMinutes(5);

    /**
     * The start of a shard.
     *
     * @param id a random number other than 0, which is different for each start
     * @param checkpoint the number of the checkpoint from which the shard has started; 0 for the initial weights
     * @param agreed for each shard, the id of the start with which this shard agrees; 0 if there is none
     */
    private record Start(long id, long checkpoint, long[] agreed) {}

    private final StateDirectory state;
    private final int shard;
    private final Start own;
    /** For each shard, the id of the start that was in the directory when this shard started; 0 if there was none. */
    private final long[] old;
    private final NanoClock clock;
    private final long endNs;
    /** The shard that was last logged as missing; -1 if there is none. */
    private int reported = -1;

    private ShardStarts(StateDirectory state, int shard, Start own, long[] old, NanoClock clock) {
        this.state = state;
        this.shard = shard;
        this.own = own;
        this.old = old;
        this.clock = clock;
        this.endNs = clock.nanoTime() + FIRST_START.toNanos();
    }

    /** Writes the start of this shard, which has loaded this checkpoint. */
    static ShardStarts begin(StateDirectory state, int shard, int shards, long checkpoint, NanoClock clock)
        throws IOException {
        long[] old = new long[shards];
        for (int i = 0; i < shards; i++) {
            Start start = read(state, i, shards);
            old[i] = start == null ? 0 : start.id();
        }
        ShardStarts starts = new ShardStarts(state, shard,
            new Start(ThreadLocalRandom.current().nextLong() | 1, checkpoint, new long[shards]), old, clock);
        starts.write();
        return starts;
    }

    /** Continues another process's start. This process has all updates of that process, so other shards need not start again. */
    static ShardStarts resume(StateDirectory state, int shard, int shards, NanoClock clock) throws IOException {
        Start own = read(state, shard, shards);
        return own == null
            ? begin(state, shard, shards, 0, clock)
            : new ShardStarts(state, shard, own, new long[shards], clock);
    }

    private void write() throws IOException {
        state.write(file(shard), own);
    }

    private static String file(int number) {
        return PlainText.format("shard-%05d.json", number);
    }

    private Start read(int number) throws IOException {
        return read(state, number, own.agreed().length);
    }

    private static Start read(StateDirectory state, int number, int shards) throws IOException {
        Start start = state.read(file(number), Start.class);
        return start != null && start.agreed() != null && start.agreed().length == shards ? start : null;
    }

    /**
     * Agrees with the starts of the other shards, as far as possible.
     *
     * @param has returns whether the weights of this shard are those of the checkpoint with a given number
     * @return the start of another shard with which this shard cannot agree, so this shard must start again; null if there
     *     is none
     */
    StartAgainException firstDisagreement(LongPredicate has) throws IOException {
        StartAgainException agreed = null;
        long checkpoint = 0;
        for (int i = 0; i < own.agreed().length; i++) {
            Start start = i == shard ? null : read(i);
            // A shard with an old start and another checkpoint has stopped, or will go back when it reads this shard's start.
            boolean ignored = start != null && start.id() == old[i] && start.checkpoint() != own.checkpoint();
            if (start != null && !ignored && start.id() != own.agreed()[i]) {
                StartAgainException disagreement = new StartAgainException(i, start.checkpoint());
                if (!has.test(start.checkpoint())) {
                    return disagreement;
                }
                own.agreed()[i] = start.id();
                agreed = disagreement;
                checkpoint = start.checkpoint();
            }
        }
        if (agreed != null) {
            write();
            // A push might have changed the weights during the write. The agreement is then wrong, so this shard starts again.
            return has.test(checkpoint) ? null : agreed;
        }
        return null;
    }

    /**
     * Waits until all other shards have agreed with the start of this shard.
     *
     * @param has returns whether the weights of this shard are those of the checkpoint with a given number
     * @param period the time between two reads of the files
     * @throws StartAgainException if this shard cannot agree with the start of another shard
     * @throws IOException as in {@link #areAgreed}
     */
    void await(LongPredicate has, Duration period) throws IOException, InterruptedException {
        while (!areAgreed(has)) {
            clock.sleep(period.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Agrees with the other shards' starts, as far as possible. Returns whether all of them have agreed with this shard's start.
     *
     * @throws StartAgainException if this shard cannot agree with the start of another shard
     * @throws IOException if another shard has not started with this directory for some minutes; it might use another directory
     */
    boolean areAgreed(LongPredicate has) throws IOException {
        StartAgainException disagreement = firstDisagreement(has);
        if (disagreement != null) {
            throw disagreement;
        }
        int absent = firstAbsent();
        int missing = absent >= 0 ? absent : firstMissing();
        if (absent >= 0 && clock.nanoTime() - endNs >= 0) {
            throw new IOException("shard " + absent + " has not started with --state " + state.path() + " within "
                + FIRST_START.toMinutes() + " min; all shards of a model need one shared directory. If shard " + absent
                + " runs, give it this directory; if it starts later, start this shard again then");
        }
        if (missing >= 0 && missing != reported) {
            LOG.warn(absent >= 0
                ? "this start waits until shard {} has started with the same --state {}, at most {} min; all shards of a"
                    + " model need one shared directory"
                : "this start waits until shard {} has started from the same checkpoint in --state {}; in bsp, all shards"
                    + " start together",
                missing, state.path(), FIRST_START.toMinutes());
        }
        reported = missing;
        return missing < 0;
    }

    /** Returns the number of a shard that has never started with this directory; -1 if all have. */
    private int firstAbsent() throws IOException {
        return first(Objects::isNull);
    }

    /** Returns the number of a shard that has not agreed with the start of this shard; -1 if all have agreed. */
    int firstMissing() throws IOException {
        return first(start -> start == null || start.agreed()[shard] != own.id());
    }

    private int first(Predicate<Start> wanted) throws IOException {
        for (int i = 0; i < own.agreed().length; i++) {
            if (i != shard && wanted.test(read(i))) {
                return i;
            }
        }
        return -1;
    }
}
