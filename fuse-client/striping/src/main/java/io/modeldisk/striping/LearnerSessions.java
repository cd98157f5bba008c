package io.modeldisk.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.dialect.ConsistencyMode;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;

/**
 * The sessions of a learner with all shards of a model. The learner joins and leaves all shards together. After a lost
 * connection, the learner continues on a new connection. If a shard has forgotten the learner, the learner joins this shard again
 * and continues at the same round on every shard. If a shard has gone back to earlier weights, or has forgotten the learner in
 * the middle of a gradient, all pushes and pulls fail until {@link #goOn} is called. Thread-safe.
 */
final class LearnerSessions implements StripedTransfer.Sessions {
    private final List<ShardClient> shards;
    private final Striping striping;
    private final long paddedBytes;
    private final ConsistencyMode.Kind consistency;
    private final boolean hasRounds;
    private final Supplier<Reconnection> reconnections;
    private volatile PushLedger ledger;
    private volatile boolean joined;
    /** True while the shards wait for rounds that the learner has skipped, because they do not know the learner's next round. */
    private volatile boolean skipsRounds;

    /**
     * Creates the sessions of a learner that has not joined.
     *
     * @param consistency the consistency mode of the shards
     */
    LearnerSessions(
        List<ShardClient> shards, Striping striping, long paddedBytes, ConsistencyMode.Kind consistency,
        Supplier<Reconnection> reconnections) {
        this.shards = shards;
        this.striping = striping;
        this.paddedBytes = paddedBytes;
        this.consistency = consistency;
        this.hasRounds = consistency != ConsistencyMode.Kind.ASP;
        this.reconnections = reconnections;
    }

    /** Returns the ledger of the learner's pushes; null if the learner has not joined. */
    PushLedger ledger() {
        return joined ? ledger : null;
    }

    @Override
    public ShardId id(int shard) {
        return shards.get(shard).id();
    }

    @Override
    public void flush() {
        for (ShardClient shard : shards) {
            shard.flush();
        }
    }

    @Override
    public IscsiSession session(int shard, Direction direction) throws IOException {
        ShardClient client = shards.get(shard);
        if (direction == Direction.KEPT) {
            return client.versionReader();
        }
        if (!direction.trains() || !joined) {
            return client.reader();
        }
        IscsiSession session = client.membership().session();
        if (session != null && !skipsRounds) {
            return session;
        }
        synchronized (this) {
            rejoin(shard);
            tellSkippedRounds();
            session = client.membership().session();
        }
        if (session == null) {
            throw joined
                ? new ShardException(ShardException.Kind.PATH_LOST, client.id(),
                    client.id() + ": the connection was lost again during the reconnect")
                : new ShardException(ShardException.Kind.CLOSED, client.id(),
                    client.id() + ": this learner has left the model");
        }
        return session;
    }

    /** Joins every shard. Connects again if a connection is lost. Has no effect if the learner is already a member. */
    void join(Cancellation cancellation) throws IOException {
        if (joined) {
            return;
        }
        try {
            reconnections.get().run(() -> {
                joinEverywhere();
                return null;
            }, cancellation);
        } catch (IOException e) {
            leaveUnlessJoined();
            throw e;
        }
    }

    private synchronized void leaveUnlessJoined() throws IOException {
        if (!joined) {
            leaveAll();
        }
    }

    private synchronized void joinEverywhere() throws IOException {
        if (joined) {
            return;
        }
        if (ledger == null) {
            ledger = newLedger();
        }
        // An earlier learner of this mount can have left doubtful pushes, which do not concern the new one.
        ledger.goOn();
        AllShards.run(shards, shard -> shard.membership().joinFirst());
        agree(0);
        skipsRounds = false;
        joined = true;
    }

    /** Joins a shard again after the learner's session with this shard was lost. */
    private void rejoin(int number) throws IOException {
        ShardMembership lost = shards.get(number).membership();
        if (!joined || lost.session() != null) {
            return;
        }
        lost.join(0);
        boolean back = lost.wentBack();
        if (back || lost.isNewcomer()) {
            for (ShardClient shard : shards) {
                // In bsp, all shards go back together. This loop finds all these shards, so the learner gets only one failure.
                if (shard.membership() != lost && (back || shard.membership().session() == null)) {
                    shard.membership().join(0);
                    back |= shard.membership().wentBack();
                }
            }
            if (back) {
                recordWentBack();
            }
            joinAgain(back);
        } else {
            // An earlier call of agree() might have failed after this shard had postponed the learner's next round. The ledger
            // then does not contain the postponed round yet.
            ledger.postpone(number, lost.joinRound());
            lost.agreed();
        }
    }

    /**
     * Joins all shards again after one of them has forgotten the learner. Abandons the gradient if its remaining part would
     * belong to another round than the part that was already pushed, because every later gradient would then be divided, too.
     *
     * @param back whether the gradient was already abandoned because a shard has gone back to earlier weights
     */
    private void joinAgain(boolean back) throws IOException {
        ShardId torn = null;
        long current = ledger.currentRound(0);
        boolean same = true;
        for (int i = 0; i < shards.size(); i++) {
            boolean newcomer = shards.get(i).membership().isNewcomer();
            boolean partial = newcomer ? ledger.isPartial(i) : ledger.isInProgress(i);
            torn = torn == null && newcomer && partial ? shards.get(i).id() : torn;
            same &= ledger.currentRound(i) == current && !partial;
        }
        if (joinsAtCurrentRounds()) {
            admitNewcomers();
        } else {
            torn = torn == null && !same ? shards.getFirst().id() : torn;
            agree(0);
        }
        if (torn != null && hasRounds && !back) {
            ledger.abandon(PartRounds.forgotten(torn, "a part of the gradient has counted"), 0);
        }
    }

    /**
     * Starts the new memberships at the round that the learner has reached, so a gradient keeps the same round on all shards.
     * Otherwise, a restarted shard would begin at round 1, far behind the other shards. A learner that joins later could then
     * wait for the existing learners on one shard, while they wait for it on another shard.
     *
     * @return false if every shard has forgotten the learner, or if a shard accepts only a later round
     */
    private boolean joinsAtCurrentRounds() throws IOException {
        if (shards.stream().allMatch(shard -> shard.membership().isNewcomer())) {
            return false;
        }
        boolean current = true;
        for (int i = 0; i < shards.size(); i++) {
            ShardMembership shard = shards.get(i).membership();
            long reached = ledger.currentRound(i);
            if (shard.isNewcomer() && shard.joinRound() < reached) {
                shard.join(reached);
            }
            current &= !shard.isNewcomer() || shard.joinRound() == reached;
        }
        return current;
    }

    /** Makes all pushes and pulls in progress fail, because some shards have gone back to earlier weights. */
    private void recordWentBack() {
        long rounds = 0;
        ShardId first = null;
        for (int i = shards.size() - 1; i >= 0; i--) {
            ShardMembership shard = shards.get(i).membership();
            if (shard.wentBack()) {
                first = shards.get(i).id();
                rounds = Math.max(rounds, ledger.lastRound(i) - shard.joinRound() + 1);
            }
        }
        ledger.abandon(new ShardException(ShardException.Kind.WENT_BACK, first, first
            + " has gone back to earlier weights, which takes back " + rounds + (rounds == 1 ? " round" : " rounds")
            + " of this learner, because this shard or another one was restarted"), rounds);
    }

    /** Resumes pushes and pulls after a gradient was abandoned. Returns the number of rounds that were taken back. */
    long goOn() {
        PushLedger account = ledger;
        if (account == null) {
            return 0;
        }
        long back = account.goOn();
        skipsRounds = hasRounds;
        return back;
    }

    /** Informs the shards of the learner's next round, so they do not wait for the rounds skipped after an abandoned gradient. */
    private void tellSkippedRounds() throws IOException {
        if (!skipsRounds || !joined) {
            return;
        }
        for (int i = 0; i < shards.size(); i++) {
            rejoin(i);
        }
        // Cleared before the shards agree, so a call of goOn() in the meantime can set the flag again.
        skipsRounds = false;
        try {
            // A killed process might have pushed a part of this round already.
            agree(ledger.currentRound(0));
        } catch (IOException | RuntimeException e) {
            skipsRounds = true;
            throw e;
        }
    }

    /** Joins every shard at the same round, which is the earliest round, {@code atLeast} or later, that all shards accept. */
    private void agree(long atLeast) throws IOException {
        long round = atLeast;
        boolean same = false;
        while (!same) {
            same = true;
            for (ShardClient shard : shards) {
                round = Math.max(round, shard.membership().joinRound());
            }
            for (ShardClient shard : shards) {
                if (shard.membership().joinRound() < round) {
                    shard.membership().join(round);
                    same = false;
                }
            }
        }
        admitNewcomers();
        for (int i = 0; i < shards.size(); i++) {
            ledger.postpone(i, round);
            shards.get(i).membership().agreed();
        }
    }

    private void admitNewcomers() {
        for (int i = 0; i < shards.size(); i++) {
            ShardMembership shard = shards.get(i).membership();
            if (shard.isNewcomer()) {
                ledger.reset(i, shard.joinRound(), shard.lastKnownRound());
                shard.agreed();
            }
        }
    }

    private PushLedger newLedger() {
        return new PushLedger(striping, paddedBytes, consistency);
    }

    /** Returns the state with which another process continues as the same learner. */
    synchronized SessionsImage image() {
        return new SessionsImage(joined, skipsRounds, (joined ? ledger : newLedger()).image(),
            shards.stream().map(shard -> shard.membership().image()).toList());
    }

    /**
     * Continues as the learner of another process, whose {@link #image} is the argument. The next push or pull joins again.
     *
     * @param killed whether a process might have pushed a part of the current or next gradient after the image was saved
     */
    synchronized void resume(SessionsImage image, boolean killed) {
        if (!image.joined()) {
            return;
        }
        skipsRounds = image.skipsRounds();
        PushLedger resumed = newLedger();
        resumed.resume(image.ledger(), shards.getFirst().id());
        if (killed) {
            resumed.repeatCurrentRound();
        }
        for (int i = 0; i < shards.size(); i++) {
            shards.get(i).membership().resume(image.memberships().get(i));
        }
        ledger = resumed;
        joined = true;
    }

    /** Leaves every shard. */
    synchronized void leave() throws IOException {
        joined = false;
        leaveAll();
    }

    private void leaveAll() throws IOException {
        AllShards.run(shards, shard -> shard.membership().leave());
    }
}
