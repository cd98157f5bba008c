package io.modeldisk.striping;

import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import io.modeldisk.protocol.scsi.LogicalBlock;

/**
 * A learner's record of its pushes. For each block of the model, the ledger stores the current round. For each logical block
 * (4096 bytes), the ledger stores whether the push of the current round has begun, whether the shard has the data, and whether a
 * repeated call is allowed to push the logical block again. Every push thus has a round before it is sent, and keeps this round
 * when it is sent again.
 *
 * <p>The next round of a block begins with the push of a logical block that the shard already has in the current round. The next
 * round begins only when no push of the block is outstanding, because a shard that receives a round of a block regards earlier
 * rounds as complete.
 *
 * <p>Ranges are in logical blocks of the model. Thread-safe; a push allocates nothing.
 */
final class PushLedger {
    /** The round of a part of a push or pull, and the number of logical blocks that have this round. The object is reused. */
    static final class Grant {
        /**
         * The number of logical blocks that have the granted round, from the start of the range; 0 if the part must wait for
         * pushes of the same block.
         */
        long logicalBlocks;
        long round;
        /** The epoch of the membership in which the round was granted; see {@link PushLedger#epoch}. */
        int epoch;
    }

    private final Striping striping;
    private final ConsistencyMode.Kind consistency;
    private final int perBlock;
    private final long total;
    private final long[] round;
    private final long[] clock;
    private final int[] outstanding;
    private final BitRanges begun;
    private final BitRanges taken;
    private final BitRanges repeatable;
    private final long[] firstRound;
    private final int[] epoch;
    /** For each shard, the last round for which the shard might have pushes of an earlier membership. */
    private final long[] lastKnownRound;
    /**
     * The shards that have forgotten the learner and might have applied a part of a failed call. A shard stays doubtful until
     * {@link #goOn}, because several calls can repeat the parts of a gradient at the same time, and all of them must fail.
     */
    private final BitRanges doubtful;
    /** The reason why a gradient of the learner was last abandoned; null if no gradient was abandoned. */
    private ShardException reason;
    private int timesAbandoned;
    private long roundsBack;
    /** True after the learner's gradient was abandoned, until the learner calls {@link #goOn}. */
    private boolean untold;

    /**
     * Creates a ledger without pushes and without memberships.
     *
     * @param consistency the consistency mode of the shards; under bsp, pulls include all rounds before the learner's first
     *     round, even before its first push
     */
    PushLedger(Striping striping, long paddedBytes, ConsistencyMode.Kind consistency) {
        this.striping = striping;
        this.consistency = consistency;
        this.perBlock = striping.blockBytes() / LogicalBlock.BYTES;
        this.total = paddedBytes / LogicalBlock.BYTES;
        int blocks = Math.toIntExact((total + perBlock - 1) / perBlock);
        this.round = new long[blocks];
        this.clock = new long[blocks];
        this.outstanding = new int[blocks];
        this.begun = new BitRanges(total);
        this.taken = new BitRanges(total);
        this.repeatable = new BitRanges(total);
        this.firstRound = new long[striping.shards()];
        this.epoch = new int[striping.shards()];
        this.lastKnownRound = new long[striping.shards()];
        this.doubtful = new BitRanges(striping.shards());
    }

    /**
     * Begins a new membership of the learner in a shard. The first round of the membership is {@code joinRound}. Discards the
     * pushes of the previous membership. The shard has no push of that membership for a round after {@code lastKnown}.
     */
    synchronized void reset(int shard, long joinRound, long lastKnown) {
        epoch[shard]++;
        firstRound[shard] = joinRound;
        lastKnownRound[shard] = lastKnown;
        for (int block = shard; block < round.length; block += striping.shards()) {
            if (round[block] <= lastKnown && repeatable.any((long) block * perBlock, endOf(block, total))) {
                doubtful.set(shard, shard + 1L);
            }
            outstanding[block] = 0;
            clock[block] = 0;
            begin(block, 0);
        }
    }

    /**
     * Returns whether the shard is doubtful: it has forgotten the learner after a failed call whose parts must be repeated, and
     * might have applied these parts in the earlier membership. No push to this shard is allowed until {@link #goOn} is called.
     */
    synchronized boolean isDoubtful(int shard) {
        return doubtful.any(shard, shard + 1L);
    }

    /**
     * Returns whether a shard might have a push of this round from an earlier membership. The result of such a push is not known.
     */
    synchronized boolean mayHave(int shard, long ofRound) {
        return ofRound <= lastKnownRound[shard];
    }

    /** Postpones the learner's next rounds on a shard to {@code joinRound} or later. The membership continues. */
    synchronized void postpone(int shard, long joinRound) {
        firstRound[shard] = Math.max(firstRound[shard], joinRound);
    }

    /**
     * Abandons the gradient that the learner pushes now, because a shard went back to earlier weights or has forgotten the
     * learner. All pushes and pulls that have begun fail, and no push or pull begins until {@link #goOn} is called.
     *
     * @param rounds the number of rounds of this learner that are taken back
     */
    synchronized void abandon(ShardException why, long rounds) {
        reason = why;
        roundsBack = Math.max(untold ? roundsBack : 0, rounds);
        timesAbandoned++;
        untold = true;
    }

    /**
     * Permits pushes and pulls again, from the next gradient on. The next gradient belongs to the same round in all blocks, even
     * if a part of the abandoned gradient was pushed.
     *
     * @return the number of rounds that were taken back since the last call
     */
    synchronized long goOn() {
        long rounds = untold ? roundsBack : 0;
        untold = false;
        repeatable.clear(0, total);
        doubtful.clear();
        long next = 0;
        for (int shard = 0; shard < firstRound.length; shard++) {
            next = Math.max(next, nextRound(shard));
        }
        for (int shard = 0; shard < firstRound.length; shard++) {
            firstRound[shard] = next;
        }
        return rounds;
    }

    /**
     * Checks that a push or pull is allowed to begin.
     *
     * @return the argument for later calls of {@link #checkNotAbandoned}
     * @throws ShardException if the gradient was abandoned
     */
    synchronized int beginCall() throws ShardException {
        if (untold) {
            throw reason.again();
        }
        return timesAbandoned;
    }

    /** Checks that no gradient was abandoned since {@link #beginCall} returned {@code begun}. */
    synchronized void checkNotAbandoned(int begun) throws ShardException {
        if (begun != timesAbandoned) {
            throw reason.again();
        }
    }

    /** Returns whether the push of the learner's current gradient to a shard has begun and has not ended. */
    synchronized boolean isInProgress(int shard) {
        return currentRound(shard) < nextRound(shard);
    }

    /**
     * Returns whether a shard has a part of the learner's current gradient, but not all of it. A part that waits because the
     * shard is BUSY does not count.
     */
    synchronized boolean isPartial(int shard) {
        long current = currentRound(shard);
        for (int block = shard; block < round.length && current < nextRound(shard); block += striping.shards()) {
            if (round[block] == current && taken.any((long) block * perBlock, endOf(block, total))) {
                return true;
            }
        }
        return false;
    }

    /** Returns the highest round in which the learner has pushed a whole block to a shard; 0 if there is none. */
    synchronized long lastRound(int shard) {
        long last = 0;
        for (int block = shard; block < clock.length; block += striping.shards()) {
            last = Math.max(last, clock[block]);
        }
        return last;
    }

    /** The number of memberships that the learner has begun in a shard. The shard knows only rounds of the last membership. */
    synchronized int epoch(int shard) {
        return epoch[shard];
    }

    /** Returns the round after the highest round that the learner has pushed to a shard; at least the learner's first round. */
    synchronized long nextRound(int shard) {
        long last = firstRound[shard] - 1;
        for (int block = shard; block < round.length; block += striping.shards()) {
            last = Math.max(last, round[block]);
        }
        return last + 1;
    }

    /**
     * Returns the round of the learner's next push of the whole model to a shard. This is {@link #nextRound}, or the round before
     * it if every push of that round is to be repeated.
     */
    synchronized long nextPushRound(int shard) {
        long next = nextRound(shard);
        for (int block = shard; block < round.length; block += striping.shards()) {
            boolean repeats = round[block] == next - 1 && repeatable.all((long) block * perBlock, endOf(block, total));
            if (!repeats || round[block] < firstRound[shard]) {
                return next;
            }
        }
        return next - 1;
    }

    /**
     * Returns the round of the gradient that the learner pushes to a shard now. If the shard has the whole gradient, returns the
     * round of the next gradient.
     */
    synchronized long currentRound(int shard) {
        long last = nextRound(shard) - 1;
        for (int block = shard; block < round.length && last >= firstRound[shard]; block += striping.shards()) {
            if (round[block] < last || !taken.all((long) block * perBlock, endOf(block, total))) {
                return last;
            }
        }
        return last + 1;
    }

    /** Returns {@code wanted}, limited to the range from the learner's first round on a shard to {@link #nextRound} + 1. */
    synchronized long nearestRound(int shard, long wanted) {
        return Math.clamp(wanted, firstRound[shard], nextRound(shard) + 1);
    }

    /**
     * Grants a round to the push of a range, which must be on one shard. The grant starts with the first block of the range. The
     * grant ends before the first block that needs a different round, or whose push must wait.
     */
    synchronized void push(long from, long end, Grant grant) {
        grant.logicalBlocks = 0;
        grant.epoch = epoch[shardOf(blockOf(from))];
        for (long at = from; at < end; at = endOf(blockOf(at), end)) {
            int block = blockOf(at);
            long next = nextRound(block, at, endOf(block, end));
            if (next == 0 || at > from && next != grant.round) {
                return;
            }
            if (next != round[block]) {
                begin(block, next);
            }
            long blockEnd = endOf(block, end);
            begun.set(at, blockEnd);
            taken.clear(at, blockEnd);
            repeatable.clear(at, blockEnd);
            outstanding[block]++;
            grant.round = next;
            grant.logicalBlocks = blockEnd - from;
        }
    }

    /** Returns the round for pushing a part of a block; 0 if the push must wait. */
    private long nextRound(int block, long from, long end) {
        long first = firstRound[shardOf(block)];
        if (round[block] >= first && isFree(from, end)) {
            return round[block];
        }
        return outstanding[block] > 0 ? 0 : Math.max(first, round[block] + 1);
    }

    /**
     * Returns whether these logical blocks can be pushed in the current round: their pushes have not begun or must be repeated.
     */
    private boolean isFree(long from, long end) {
        long start = begun.nextSet(from, end);
        while (start < end) {
            long stop = begun.nextClear(start, end);
            if (!repeatable.all(start, stop)) {
                return false;
            }
            start = begun.nextSet(stop, end);
        }
        return true;
    }

    private void begin(int block, long next) {
        round[block] = next;
        long start = (long) block * perBlock;
        long end = endOf(block, total);
        begun.clear(start, end);
        taken.clear(start, end);
        repeatable.clear(start, end);
    }

    /**
     * Records that a push has failed without a response. If the membership has changed since the push was granted, the shard
     * cannot recognize a repeated push. The shard then becomes doubtful, if it might have applied the first one.
     */
    synchronized void endedInDoubt(long from, int grantedEpoch, long ofRound) {
        int shard = shardOf(blockOf(from));
        if (grantedEpoch != epoch[shard] && mayHave(shard, ofRound)) {
            doubtful.set(shard, shard + 1L);
        }
    }

    /**
     * Records the result of a granted push: the shard has the data, or the push is to be repeated. If the membership has ended
     * since the grant, the data counts in a round of that membership, and the rest of the gradient in another round. The shard
     * then becomes doubtful, unless rounds have no meaning.
     */
    synchronized void ended(long from, long end, int grantedEpoch, boolean shardHasIt) {
        int shard = shardOf(blockOf(from));
        if (grantedEpoch != epoch[shard]) {
            if (shardHasIt && consistency != ConsistencyMode.Kind.ASP) {
                doubtful.set(shard, shard + 1L);
            }
            return;
        }
        (shardHasIt ? taken : repeatable).set(from, end);
        for (long at = from; at < end; at = endOf(blockOf(at), end)) {
            int block = blockOf(at);
            outstanding[block]--;
            if (taken.all((long) block * perBlock, endOf(block, total))) {
                clock[block] = round[block];
            }
        }
    }

    /**
     * Records that a call has failed although the shards have this range. If the call is repeated, the range keeps its round. A
     * shard that has forgotten the learner since then would count the repeated push again, so the shard becomes doubtful.
     */
    synchronized void repeat(long from, long end) {
        for (long at = from; at < end; at = endOf(blockOf(at), end)) {
            if (!taken.all(at, endOf(blockOf(at), end))) {
                int shard = shardOf(blockOf(at));
                doubtful.set(shard, shard + 1L);
            }
        }
        long start = taken.nextSet(from, end);
        while (start < end) {
            long stop = taken.nextClear(start, end);
            taken.clear(start, stop);
            repeatable.set(start, stop);
            start = taken.nextSet(stop, end);
        }
    }

    /** Returns whether any logical block of the range is to be repeated. */
    synchronized boolean hasRepeatable(long from, long end) {
        return repeatable.any(from, end);
    }

    /** Returns the logical blocks of the range that are to be repeated. Bit 0 is the first logical block of the range. */
    synchronized BitRanges repeatable(long from, long end) {
        BitRanges found = new BitRanges(end - from);
        long start = repeatable.nextSet(from, end);
        while (start < end) {
            long stop = repeatable.nextClear(start, end);
            found.set(start - from, stop - from);
            start = repeatable.nextSet(stop, end);
        }
        return found;
    }

    /**
     * Grants a round to the pull of a range. The pulled weights must include this round. This round is the last round in which
     * the learner pushed the whole first block of the range; under bsp, it is at least the round before the learner's first
     * round. The grant ends before the first block for which this round is different.
     */
    synchronized void pull(long from, long end, Grant grant) {
        grant.epoch = epoch[shardOf(blockOf(from))];
        grant.round = pullRound(blockOf(from));
        long at = endOf(blockOf(from), end);
        while (at < end && pullRound(blockOf(at)) == grant.round) {
            at = endOf(blockOf(at), end);
        }
        grant.logicalBlocks = at - from;
    }

    private long pullRound(int block) {
        return Math.max(clock[block], leastPullRound(shardOf(block)));
    }

    /** Returns the round that pulled weights of a shard must include even if the learner has pushed nothing. */
    synchronized long leastPullRound(int shard) {
        return consistency == ConsistencyMode.Kind.BSP ? firstRound[shard] - 1 : 0;
    }

    private int blockOf(long logicalBlock) {
        return (int) (logicalBlock / perBlock);
    }

    private int shardOf(int block) {
        return block % striping.shards();
    }

    /** Returns the end of a block or of the range, whichever comes first. */
    private long endOf(int block, long end) {
        return Math.min(end, (block + 1L) * perBlock);
    }

    /**
     * Returns the state with which another process continues. That process repeats the outstanding pushes. The shards might
     * already have received them, but count each push only once.
     */
    synchronized SessionsImage.Ledger image() {
        return new SessionsImage.Ledger(round.clone(), clock.clone(), begun.words(), taken.words(), repeatable.words(),
            firstRound.clone(), doubtful.words(), untold, roundsBack);
    }

    /**
     * Replaces the state by that of another process. Afterwards, no push is outstanding.
     *
     * @param first the shard that the exception names if the gradient was abandoned and the learner was not informed of it yet
     */
    synchronized void resume(SessionsImage.Ledger image, ShardId first) {
        System.arraycopy(image.round(), 0, round, 0, round.length);
        System.arraycopy(image.clock(), 0, clock, 0, clock.length);
        begun.copy(image.begun());
        taken.copy(image.taken());
        repeatable.copy(image.repeatable());
        System.arraycopy(image.firstRound(), 0, firstRound, 0, firstRound.length);
        doubtful.copy(image.doubtful());
        untold = image.untold();
        roundsBack = image.roundsBack();
        if (untold) {
            reason = new ShardException(ShardException.Kind.WENT_BACK, first,
                "the gradient was discarded before the mount was restarted; the log of the mount has the reason");
            timesAbandoned = 1;
        }
        // Outstanding pushes, which have begun but are not known to have arrived, must be repeated.
        repeatable.add(begun, taken);
    }

    /**
     * Records that a process has continued from the image and was then killed. It might have pushed any part of the gradient in
     * progress, so this process pushes that gradient again. If the image has no gradient in progress, this is the next gradient.
     * A block keeps its round if the image has pushes of this gradient for it. Must be called after {@link #resume}.
     */
    synchronized void repeatCurrentRound() {
        long current = Long.MAX_VALUE;
        for (int shard = 0; shard < firstRound.length; shard++) {
            current = Math.min(current, currentRound(shard));
        }
        for (int block = 0; block < round.length; block++) {
            long next = Math.max(current, firstRound[shardOf(block)]);
            if (round[block] < next) {
                begin(block, next);
            }
        }
        begun.set(0, total);
        repeatable.add(begun, taken);
    }
}
