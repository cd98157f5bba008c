package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Membership;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockLayout;
import java.time.Duration;

/** The learners of a shard. Each learner is an I_T nexus. Thread-safe. */
public final class Learners extends Membership<Nexus, Learner> {
    private final RoundTimes roundTimes;
    private final int maxLearners;

    /**
     * Creates an empty set of learners.
     *
     * @param learners the number of learners that must join before the first round may close
     * @param minLearners the minimum number of learners after the job has formed
     * @param lease the time after which a learner without a connection is removed
     * @param maxLearners the maximum number of learners at the same time, which depends on the Java heap
     * @param layout the blocks whose rounds are recorded for each learner
     * @param clock the clock of leases and rounds
     */
    public Learners(
        int learners, int minLearners, Duration lease, int maxLearners, BlockLayout layout, NanoClock clock) {
        this(learners, minLearners, lease, maxLearners, layout, clock, new RoundTimes(clock));
    }

    private Learners(
        int learners, int minLearners, Duration lease, int maxLearners, BlockLayout layout, NanoClock clock,
        RoundTimes roundTimes) {
        super(learners, minLearners, lease, clock, nexus -> new Learner(nexus, new RoundMarks(layout), roundTimes));
        this.roundTimes = roundTimes;
        this.maxLearners = maxLearners;
    }

    /**
     * Returns the learner of this nexus. If the nexus has no learner, creates one. If {@code anew} is set, always creates a new
     * learner, which replaces the old one.
     *
     * @throws ScsiException if the heap has no space for another learner
     */
    public Learner admit(Nexus nexus, boolean anew) throws ScsiException {
        if (member(nexus) == null && roster().members().size() >= maxLearners) {
            throw new ScsiException(RoundSense.TOO_MANY_LEARNERS.sense(),
                "learner '" + nexus.learner() + "' cannot join: the Java heap of the shard has space for only "
                    + maxLearners + " learners; increase the heap (-Xmx)");
        }
        return anew ? joinAnew(nexus) : join(nexus);
    }

    /** For each of the last rounds, the time at which the first learner completed the round. */
    public RoundTimes roundTimes() {
        return roundTimes;
    }
}
