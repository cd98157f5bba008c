package io.modeldisk.fault.membership;

import java.util.List;

/**
 * The learners at one moment. Immutable.
 *
 * @param formed whether as many learners as the job needs have been members at the same time, now or once
 * @param tooFew whether it has formed and fewer learners are left than it must have
 * @param members the learners that rounds wait for, live or lost, in the order they joined
 * @param <M> a member
 */
public record Roster<M>(boolean formed, boolean tooFew, List<M> members) {
    /** Copies the list. */
    public Roster {
        members = List.copyOf(members);
    }
}
