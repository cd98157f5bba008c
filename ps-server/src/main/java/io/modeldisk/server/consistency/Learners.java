package io.modeldisk.server.consistency;

import io.modeldisk.fault.membership.Membership;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.RoundSense;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.BlockLayout;
import java.time.Duration;

/** The learners of a shard, each an I_T nexus. Thread-safe. */
public final class Learners extends Membership<Nexus, Learner> {
    private final RoundTimes roundTimes;
    private final int maxLearners;

    /**
     * No learners yet.
     *
     * @param learners how many must have joined before the first round may close
     * @param minLearners fewer than this are too few once the job has formed
     * @param lease how long a learner without a connection stays one
     * @param maxLearners how many there may be at the same time, for want of memory
     * @param layout the blocks whose rounds are kept for each
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
     * The learner of this nexus, which becomes one if it is not; with {@code anew} it becomes a new one in any case.
     *
     * @throws ScsiException if the heap has no room for another learner
     */
    public Learner admit(Nexus nexus, boolean anew) throws ScsiException {
        if (member(nexus) == null && roster().members().size() >= maxLearners) {
            throw new ScsiException(RoundSense.TOO_MANY_LEARNERS.sense(),
                nexus.learner() + " would be learner " + (maxLearners + 1) + ", and the heap has room for "
                    + maxLearners);
        }
        return anew ? joinAnew(nexus) : join(nexus);
    }

    /** When the last rounds were first pushed in full. */
    public RoundTimes roundTimes() {
        return roundTimes;
    }
}
