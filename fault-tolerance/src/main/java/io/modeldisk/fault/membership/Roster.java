package io.modeldisk.fault.membership;

import java.util.List;

/**
 * Who is a learner at one moment. Immutable.
 *
 * @param formed whether as many learners as the job needs have joined at the same time, now or once
 * @param tooFew whether it has formed and fewer learners are left than it must have
 * @param members the learners that rounds wait for, live or lost, in the order they joined
 */
public record Roster<K, P>(boolean formed, boolean tooFew, List<Member<K, P>> members) {
    /** Copies the list. */
    public Roster {
        members = List.copyOf(members);
    }
}
