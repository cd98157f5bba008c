package io.modeldisk.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.cancellation.CancelledException;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.KeepRoundCommand;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Answer;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Result;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Service;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads a range of the model as it was after one round, also while learners push. Each shard keeps the weights of the round until
 * they are read (KEEP ROUND). Reads one range at a time; further calls wait. Thread-safe.
 *
 * <p>The shards do not communicate, so the reader finds a round that every shard can keep. It tries the latest round that has
 * closed in any block. If the learners are so fast that this round is over before all shards keep it, the reader tries a later
 * round. When all shards keep a round, the reader waits until this round has closed in all blocks.
 */
final class VersionReader {
    /** Sends KEEP ROUND to a shard. */
    @FunctionalInterface
    interface Keeper {
        Answer keepRound(Service service, int firstBlock, int blocks, long round, Cancellation cancellation)
            throws IOException;
    }

    /** Moves weights of the kept round. */
    @FunctionalInterface
    interface Mover {
        void pull(long offset, DataMemory memory, long memoryOffset, long lengthBytes, Cancellation cancellation)
            throws IOException;
    }

    /** The maximum duration of a call. */
    static final Duration MAX_WAIT = Duration.ofMinutes(1);

    private static final long MAX_AHEAD = 64;
    private static final long FIRST_PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** The time without progress after which the reader no longer waits for a round that has not closed in any block yet. */
    private static final long AHEAD_WAIT_NS = TimeUnit.MILLISECONDS.toNanos(500);
    /** The time without learners after which the reader no longer waits for the end of a round. */
    private static final long ALONE_WAIT_NS = TimeUnit.SECONDS.toNanos(5);

    private final List<Keeper> shards;
    private final ShardId firstShard;
    private final ModelFacts facts;
    private final boolean hasRounds;
    private final long waitNs;
    private final long reconnectNs;
    private final NanoClock clock;
    private final Mover mover;
    private final ReentrantLock lock = new ReentrantLock();

    /**
     * Creates a reader.
     *
     * @param shards the shards of the model, in their order
     * @param firstShard the shard that exceptions name if they concern all shards
     * @param waitNs the maximum time of a call, which is also limited by {@link #MAX_WAIT}
     * @param reconnectNs the maximum time to reach a lost shard again
     */
    VersionReader(List<Keeper> shards, ShardId firstShard, ModelFacts facts, long waitNs, long reconnectNs,
        NanoClock clock, Mover mover) {
        this.shards = shards;
        this.firstShard = firstShard;
        this.facts = facts;
        this.hasRounds = facts.consistencyMode().appliesWholeRounds();
        this.waitNs = Math.min(waitNs, MAX_WAIT.toNanos());
        this.reconnectNs = reconnectNs;
        this.clock = clock;
        this.mover = mover;
    }

    /** The blocks of a range on one shard. */
    private record Part(Keeper shard, int first, int blocks) {}

    /** The state of one call. */
    private static final class Call {
        private final List<Part> parts;
        private final Cancellation cancellation;
        private final long deadlineNs;
        private final List<Part> kept = new ArrayList<>();
        /** The number of rounds from the latest round that has closed in any block to the round that the next attempt reads. */
        private long ahead;
        private long round;
        private long pauseNs = FIRST_PAUSE_NS;
        /** The reason why the last attempt has failed. */
        private String obstacle = "no attempt has ended";

        Call(List<Part> parts, Cancellation cancellation, long deadlineNs) {
            this.parts = parts;
            this.cancellation = cancellation;
            this.deadlineNs = deadlineNs;
        }
    }

    /**
     * Reads a range.
     *
     * @param offset the start of a block
     * @param memoryOffset a multiple of the block size
     * @param lengthBytes whole blocks, or up to the end of the model, rounded up to a multiple of 4096
     * @param sinceNs the start of the wait timeout, in nanoseconds of the clock. If the timeout has already passed when the call
     *     begins, the call still makes one attempt
     * @throws ShardException ROUND_TIMEOUT if no round could be read within the wait timeout
     */
    ReadVersion read(long offset, DataMemory memory, long memoryOffset, long lengthBytes, long sinceNs,
        Cancellation cancellation) throws IOException {
        Call call = new Call(parts(offset, lengthBytes), cancellation, sinceNs + waitNs);
        Reconnection reconnection = new Reconnection(clock, reconnectNs);
        lock(call);
        try {
            while (true) {
                try {
                    ReadVersion version = attempt(call, offset, memory, memoryOffset, lengthBytes);
                    if (version != null) {
                        return version;
                    }
                } catch (ShardException e) {
                    if (e.kind() == ShardException.Kind.ROUND_TIMEOUT) {
                        throw e;
                    }
                    reconnection.failed(e, cancellation);
                } finally {
                    release(call);
                }
                pause(call);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns true if {@link #read} with this range would now return no weights newer than {@code version}. */
    boolean isNewest(ReadVersion version, long offset, long lengthBytes, Cancellation cancellation) throws IOException {
        Answer now = look(new Call(parts(offset, lengthBytes), cancellation, clock.nanoTime() + waitNs));
        if (now.rawWrites() != version.rawWrites() || now.history() != version.history()) {
            return false;
        }
        return hasRounds ? version.round() >= now.minRound() : version.steady() && version.updates() == now.updates();
    }

    private List<Part> parts(long offset, long lengthBytes) throws IOException {
        long first = offset / facts.blockSizeBytes();
        long end = (offset + lengthBytes + facts.blockSizeBytes() - 1) / facts.blockSizeBytes();
        int count = shards.size();
        List<Part> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            // The blocks i, i + count, ... of the model are the blocks 0, 1, ... of shard i.
            long own = Math.max(0, (first - i + count - 1) / count);
            long ownEnd = Math.max(0, (end - i + count - 1) / count);
            if (ownEnd > KeepRoundCommand.MAX_BLOCKS) {
                throw new IOException(
                    "the model has " + facts.blocks() + " blocks, too many to read one version of them;"
                        + " use a larger --block-size");
            }
            if (own < ownEnd) {
                parts.add(new Part(shards.get(i), (int) own, (int) (ownEnd - own)));
            }
        }
        return parts;
    }

    private void lock(Call call) throws IOException {
        call.obstacle = "another read in this mount did not end";
        while (!lock.tryLock()) {
            pause(call);
        }
        call.pauseNs = FIRST_PAUSE_NS;
    }

    /** Tries to read the range. Returns null if the attempt has failed, but another attempt can succeed. */
    private ReadVersion attempt(Call call, long offset, DataMemory memory, long memoryOffset, long lengthBytes)
        throws IOException {
        Answer before = look(call);
        if (!keep(call, before) || hasRounds && !awaitRound(call)) {
            return null;
        }
        mover.pull(offset, memory, memoryOffset, lengthBytes, call.cancellation);
        long read = call.round;
        Answer after = end(call);
        if (after.result() != Result.DONE) {
            call.obstacle = "the weights of a round changed before they were read, and the shards have no more memory to keep"
                + " them (see `modeldisk serve --reader-memory`)";
            return null;
        }
        boolean steady = before.updates() == after.updates() && before.rawWrites() == after.rawWrites();
        // Weights that were written to LUN 1 during the read might be in only some of the blocks. The -1 makes the next open read
        // again.
        long rawWrites = before.rawWrites() == after.rawWrites() ? after.rawWrites() : -1;
        return new ReadVersion(hasRounds ? read : ReadVersion.NO_ROUND, after.minVersion(), after.maxVersion(),
            after.updates(), rawWrites, after.history(), steady);
    }

    private Answer look(Call call) throws IOException {
        return all(call, call.parts, Service.LOOK);
    }

    private static Answer all(Call call, List<Part> parts, Service service) throws IOException {
        Answer sum = null;
        for (Part part : parts) {
            Answer answer = part.shard().keepRound(service, part.first(), part.blocks(), 0, call.cancellation);
            sum = sum == null ? answer : sum.and(answer);
        }
        return sum;
    }

    /**
     * Makes the shards keep a round, one shard after another in the order of their numbers. This order prevents a deadlock of
     * readers that need different rounds.
     *
     * @return whether all shards keep the round
     */
    private boolean keep(Call call, Answer before) throws IOException {
        call.round = hasRounds ? before.maxRound() + call.ahead : 0;
        for (int i = 0; i < call.parts.size();) {
            Part part = call.parts.get(i);
            Answer answer = part.shard().keepRound(Service.KEEP, part.first(), part.blocks(), call.round,
                call.cancellation);
            switch (answer.result()) {
                case DONE -> {
                    call.kept.add(part);
                    i++;
                }
                case OTHER_ROUND -> {
                    call.obstacle = answer.keptRound() == call.round
                        ? "the shards have too many readers"
                        : "other readers read other rounds";
                    if (i > 0) {
                        pause(call);
                    } else if (isUsable(call, answer.keptRound(), before)) {
                        call.round = answer.keptRound();
                        check(call);
                    } else {
                        return false;
                    }
                }
                default -> {
                    call.obstacle = "the learners close rounds faster than the shards can be asked to keep one";
                    call.ahead = call.ahead == 0 ? 1 : Math.min(MAX_AHEAD, 2 * call.ahead);
                    return false;
                }
            }
        }
        return true;
    }

    /**
     * Returns whether a call can read the round that the shards already keep for other readers, instead of its own round. The
     * kept round must be new enough. A round that has not closed in any block might never close, so only a call that needs a
     * later round anyway uses it; such a call stops waiting after a short time.
     */
    private boolean isUsable(Call call, long keptRound, Answer before) {
        return hasRounds && keptRound != call.round && keptRound >= before.minRound()
            && (keptRound <= before.maxRound() || call.ahead > 0);
    }

    /** Waits until the round has closed in all blocks. Returns false if the learners do not reach the round soon. */
    private boolean awaitRound(Call call) throws IOException {
        long sinceNs = clock.nanoTime();
        long seen = -1;
        for (Answer now = look(call); now.minRound() < call.round; now = look(call)) {
            long nowNs = clock.nanoTime();
            if (now.updates() != seen) {
                seen = now.updates();
                sinceNs = nowNs;
            }
            call.obstacle = "round " + call.round + " has not closed in all blocks, and "
                + (now.learners() == 1 ? "1 learner takes part" : now.learners() + " learners take part");
            if (call.ahead > 0 && nowNs - sinceNs > AHEAD_WAIT_NS) {
                call.ahead = 0;
                return false;
            }
            if (now.learners() == 0 && nowNs - sinceNs > ALONE_WAIT_NS) {
                throw timeout("the blocks are of the rounds " + now.minRound() + " to " + now.maxRound()
                    + ", because learners have left in the middle of a round; they reach one round when a learner joins");
            }
            pause(call);
        }
        call.pauseNs = FIRST_PAUSE_NS;
        return true;
    }

    private Answer end(Call call) throws IOException {
        List<Part> kept = List.copyOf(call.kept);
        call.kept.clear();
        return all(call, kept, Service.END);
    }

    /** Ends the reading on the shards that keep a round for this call. */
    private static void release(Call call) throws IOException {
        for (Part part : call.kept) {
            try {
                part.shard().keepRound(Service.END, part.first(), part.blocks(), 0, Cancellation.NONE);
            } catch (ShardException e) {
                // The shard ends the reading itself when the session is lost.
                call.obstacle = e.getMessage();
            }
        }
        call.kept.clear();
    }

    private void pause(Call call) throws IOException {
        check(call);
        try {
            // Readers that wait for each other must not try again at the same time.
            clock.sleep(call.pauseNs / 2 + ThreadLocalRandom.current().nextLong(call.pauseNs), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited to read one version of the model");
        }
        call.pauseNs = Math.min(LONGEST_PAUSE_NS, 2 * call.pauseNs);
    }

    private void check(Call call) throws IOException {
        if (call.cancellation.isCancelled()) {
            throw new CancelledException();
        }
        if (clock.nanoTime() - call.deadlineNs >= 0) {
            throw timeout("no version could be read within " + TimeUnit.NANOSECONDS.toSeconds(waitNs) + " s: "
                + call.obstacle);
        }
    }

    private ShardException timeout(String reason) {
        return new ShardException(ShardException.Kind.ROUND_TIMEOUT, firstShard, firstShard + ": " + reason);
    }
}
