package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.protocol.initiator.IscsiSession;
import java.io.IOException;
import java.util.List;

/**
 * A learner on all shards of a model: joins and leaves them together, and goes on as the same learner on a new connection when
 * one is lost. Where a shard has forgotten it, it is a newcomer, and takes part from the same round on every shard. Thread-safe.
 */
final class LearnerSessions {
    private final List<ShardClient> shards;
    private final Striping striping;
    private final long paddedBytes;
    private final Transfer.Limits limits;
    private volatile PushLedger ledger;
    private volatile boolean joined;

    LearnerSessions(List<ShardClient> shards, Striping striping, long paddedBytes, Transfer.Limits limits) {
        this.shards = shards;
        this.striping = striping;
        this.paddedBytes = paddedBytes;
        this.limits = limits;
    }

    /** The account of its rounds; null if it is no learner. */
    PushLedger ledger() {
        return joined ? ledger : null;
    }

    /** A session of a shard for this direction, connected anew if it was lost. */
    IscsiSession session(int shard, Transfer.Direction direction) throws IOException {
        ShardClient client = shards.get(shard);
        if (direction.lun() != 0 || !joined) {
            return client.observer();
        }
        IscsiSession session = client.learner();
        if (session != null) {
            return session;
        }
        synchronized (this) {
            rejoin(shard);
            session = client.learner();
        }
        if (session == null) {
            throw new IOException("shard " + client.address() + ": the connection was lost again");
        }
        return session;
    }

    /** Becomes a learner on every shard, if it is none; bears with lost connections. */
    void join(Cancellation cancellation) throws IOException {
        if (joined) {
            return;
        }
        try {
            new Reconnection().begin(limits.reconnectNanos()).run(() -> {
                joinEverywhere();
                return null;
            }, cancellation);
        } catch (IOException e) {
            leaveUnlessJoined();
            throw e;
        }
    }

    private synchronized void leaveUnlessJoined() {
        if (!joined) {
            shards.forEach(ShardClient::leave);
        }
    }

    private synchronized void joinEverywhere() throws IOException {
        if (joined) {
            return;
        }
        if (ledger == null) {
            ledger = new PushLedger(striping, paddedBytes);
        }
        for (ShardClient shard : shards) {
            shard.joinFirst();
        }
        agree();
        joined = true;
    }

    /** Goes on as a learner of a shard whose session was lost. */
    private void rejoin(int number) throws IOException {
        ShardClient client = shards.get(number);
        if (!joined || client.learner() != null) {
            return;
        }
        client.join(0);
        if (client.isNewcomer()) {
            for (ShardClient shard : shards) {
                if (shard.learner() == null && shard != client) {
                    shard.join(0);
                }
            }
            agree();
        } else {
            // An agreement that failed half-way may have postponed it.
            ledger.postpone(number, client.joinRound());
            client.agreed();
        }
    }

    /** Takes part from the same round on every shard: the earliest at which all of them take a newcomer. */
    private void agree() throws IOException {
        long round = 0;
        boolean same = false;
        while (!same) {
            same = true;
            for (ShardClient shard : shards) {
                round = Math.max(round, shard.joinRound());
            }
            for (ShardClient shard : shards) {
                if (shard.joinRound() < round) {
                    shard.join(round);
                    same = false;
                }
            }
        }
        for (int i = 0; i < shards.size(); i++) {
            if (shards.get(i).isNewcomer()) {
                ledger.reset(i, round);
            } else {
                ledger.postpone(i, round);
            }
            shards.get(i).agreed();
        }
    }

    /** Stops being a learner. */
    synchronized void leave() {
        joined = false;
        shards.forEach(ShardClient::leave);
    }
}
