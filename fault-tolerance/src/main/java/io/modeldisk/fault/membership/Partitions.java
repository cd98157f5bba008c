package io.modeldisk.fault.membership;

import io.modeldisk.fault.membership.MembershipImage.Division;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;

/**
 * The partitions of the training data of a formed job. The partition of a round is the list of its learners, in the order of
 * their ranks. A fixed partition never changes, so all learners get the same partition of a round, even if they request it at
 * different times. Only the last {@value #MAX_ENTRIES} different partitions are kept.
 *
 * <p>Not thread-safe. Every method is called under the lock of {@link Membership}.
 */
final class Partitions {
    static final int MAX_ENTRIES = 64;

    private final ArrayDeque<Division> entries = new ArrayDeque<>();
    private long fixedRound;

    /** Returns the last round whose partition is fixed; 0 if no partition is fixed. */
    long fixedRound() {
        return fixedRound;
    }

    /**
     * Fixes the partitions of all rounds up to {@code lastRound}, which is the last round for which a learner pushed, or
     * requested its part, while the job formed. All learners take part in these rounds. If {@code lastRound} is 0, does nothing.
     */
    void jobHasFormed(long lastRound, List<? extends Member<?>> learners) {
        if (lastRound > 0) {
            add(1, numbers(learners, Long.MAX_VALUE));
            fixedRound = lastRound;
        }
    }

    /** Fixes the partitions of all rounds up to this round. A learner takes part in a round unless its first round is later. */
    void fix(long round, List<? extends Member<?>> learners) {
        while (fixedRound < round) {
            long first = fixedRound + 1;
            List<Long> members = numbers(learners, first);
            if (entries.isEmpty() || !entries.getLast().numbers().equals(members)) {
                add(first, members);
            }
            long nextChange = learners.stream().mapToLong(Member::joinRound).filter(joined -> joined > first).min()
                .orElse(Long.MAX_VALUE);
            fixedRound = Math.min(round, nextChange - 1);
        }
    }

    /** Returns the partitions that are kept, the oldest first. */
    List<Division> image() {
        return List.copyOf(entries);
    }

    /** Replaces all partitions. */
    void restore(long lastFixedRound, List<Division> divisions) {
        entries.clear();
        entries.addAll(divisions);
        fixedRound = lastFixedRound;
    }

    private void add(long firstRound, List<Long> members) {
        entries.add(new Division(entries.isEmpty() ? 1 : entries.getLast().epoch() + 1, firstRound, members));
        if (entries.size() > MAX_ENTRIES) {
            entries.removeFirst();
        }
    }

    private static List<Long> numbers(List<? extends Member<?>> learners, long round) {
        return learners.stream().filter(learner -> learner.joinRound() <= round).map(Member::number).toList();
    }

    /** Returns the part of a learner in a round whose partition is fixed. Returns null if the partition was discarded. */
    Partition of(long round, Member<?> learner) {
        Iterator<Division> newestFirst = entries.descendingIterator();
        while (newestFirst.hasNext()) {
            Division entry = newestFirst.next();
            if (entry.firstRound() <= round) {
                // If the learner has no part, indexOf() returns -1, which is NO_RANK.
                int rank = entry.numbers().indexOf(learner.number());
                return new Partition(rank, entry.numbers().size(), entry.epoch());
            }
        }
        return null;
    }
}
