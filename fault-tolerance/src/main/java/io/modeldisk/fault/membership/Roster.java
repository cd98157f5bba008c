package io.modeldisk.fault.membership;

import java.util.List;

/**
 * The learners of a job at one moment. Immutable.
 *
 * @param formed whether the job has formed: the number of learners has reached the required number, now or earlier
 * @param tooFew whether the job has formed and fewer learners are left than its minimum
 * @param members the learners that rounds wait for, live or lost, in the order in which they joined
 * @param <M> the type of a learner
 */
public record Roster<M>(boolean formed, boolean tooFew, List<M> members) {
    /** Copies the list of members. */
    public Roster {
        members = List.copyOf(members);
    }
}
