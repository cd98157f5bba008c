package io.modeldisk.fault.membership;

import java.util.List;

/**
 * The learners of a job at one moment. Immutable.
 *
 * @param formed whether the job has formed: it has, or had at an earlier time, the required number of learners
 * @param tooFew whether the job has formed, but now has fewer learners than its minimum
 * @param members the learners for which rounds wait, live or lost, in the order in which they joined; a learner that joins while
 *     the job forms gets the place of a learner that has left, if there is one
 * @param <M> the type of a learner
 */
public record Roster<M>(boolean formed, boolean tooFew, List<M> members) {
    /** Copies the list of members. */
    public Roster {
        members = List.copyOf(members);
    }
}
