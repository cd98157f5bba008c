package io.modeldisk.protocol.striping;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.JoinCommand;
import io.modeldisk.protocol.initiator.IscsiSession;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * A learner's membership of one shard, and the session that it uses. The session serves pushes and pulls only after JOIN, and
 * after its user has taken note of the answer ({@link #agreed}): the shard may have forgotten the learner meanwhile. Thread-safe.
 */
final class ShardMembership {
    private static final Logger LOG = LogManager.getLogger(ShardMembership.class);
    private static final long LEARNER_ISID = 0x800000010000L;
    private static final long SHORT_LIFE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final int SUSPICIOUS_LOSSES = 8;

    private final ShardClient shard;
    private final ControlCommands commands;
    private final DataMemory memory;
    private final int memoryOffset;
    private final String label;
    private final NanoClock clock;

    // Guarded by this.
    private IscsiSession session;
    /** The shard's last answer to JOIN; null before. */
    private JoinCommand.Answer answer;
    /** The membership that its user knows of; 0 for none. */
    private long membership;
    private long loggedInNs;
    private int shortLives;

    /** The session, when its user has agreed; for the data path, which takes no lock. */
    private volatile IscsiSession agreed;

    /** Uses {@link JoinCommand#DATA_BYTES} of the memory, for the answers. */
    ShardMembership(ShardClient shard, ControlCommands commands, DataMemory memory, int memoryOffset, String label,
        NanoClock clock) {
        this.shard = shard;
        this.commands = commands;
        this.memory = memory;
        this.memoryOffset = memoryOffset;
        this.label = label;
        this.clock = clock;
    }

    /** The learner's session; null if there is no session that is open and agreed on. */
    IscsiSession session() {
        IscsiSession current = agreed;
        return current != null && current.isOpen() ? current : null;
    }

    /** Becomes a learner, unless an earlier try has made it one. */
    synchronized void joinFirst() throws IOException {
        if (answer == null) {
            // A learner with the same label that died is another one: nothing of it may be taken for this one's.
            join(0, true);
        } else if (!session.isOpen()) {
            join(0, false);
        }
    }

    /** Becomes a learner at this round or later, or remains one, on a new connection if the old one is lost. */
    synchronized void join(long earliestRound) throws IOException {
        join(earliestRound, false);
    }

    private void join(long earliestRound, boolean anew) throws IOException {
        if (session == null || !session.isOpen()) {
            agreed = null;
            logIn();
        }
        if (!commands.run(session, JoinCommand.cdb(earliestRound, anew), memoryOffset, JoinCommand.DATA_BYTES,
            Cancellation.NONE)) {
            throw new ShardException(ShardException.Kind.BUSY, shard.id(), shard.id() + ": BUSY");
        }
        answer = JoinCommand.answer(
            memory.slab(0).asSlice(memoryOffset, JoinCommand.DATA_BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    private void logIn() throws IOException {
        long nowNs = clock.nanoTime();
        if (session != null) {
            shortLives = nowNs - loggedInNs < SHORT_LIFE_NS ? shortLives + 1 : 0;
            if (shortLives == SUSPICIOUS_LOSSES) {
                shortLives = 0;
                LOG.warn(
                    "{} has closed the session of learner '{}' {} times within a second of its login: another process may "
                        + "use this label; give each learner its own --learner",
                    shard.id(), label, SUSPICIOUS_LOSSES);
            }
            session.close();
        }
        session = shard.logIn(LEARNER_ISID, label);
        loggedInNs = clock.nanoTime();
    }

    /** The round of the shard's last answer. */
    synchronized long joinRound() {
        return answer.joinRound();
    }

    /** Whether the shard has answered with another membership than the one agreed on. */
    synchronized boolean isNewcomer() {
        return answer.membership() != membership;
    }

    /** Its user has taken note of the answer. */
    synchronized void agreed() {
        membership = answer.membership();
        agreed = session;
    }

    synchronized void leave() {
        agreed = null;
        answer = null;
        membership = 0;
        shortLives = 0;
        if (session != null) {
            session.close();
            session = null;
        }
    }
}
