package io.modeldisk.fault.membership;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * The partitions of the training data of a formed job. The partition of a round is the list of its learners, in the order of
 * their ranks. A fixed partition never changes, so all learners get the same partition of a round, even if they ask for it at
 * different times. Only the last {@value #MAX_ENTRIES} different partitions are kept.
 *
 * <p>Not thread-safe. Every method is called under the lock of {@link Membership}.
 */
final class Partitions {
    static final int MAX_ENTRIES = 64;

    /**
     * The partition of the rounds from {@code firstRound} to the round before the {@code firstRound} of the next entry. The
     * array {@code members} contains the membership number of the learner with each rank.
     */
    private record Entry(long epoch, long firstRound, long[] members) {
        Partition of(long number) {
            int rank = 0;
            while (rank < members.length && members[rank] != number) {
                rank++;
            }
            return new Partition(rank < members.length ? rank : Partition.NO_RANK, members.length, epoch);
        }
    }

    private final ArrayDeque<Entry> entries = new ArrayDeque<>();
    private long fixedRound;

    /** Returns the last round whose partition is fixed; 0 if no partition is fixed. */
    long fixedRound() {
        return fixedRound;
    }

    /**
     * Fixes the partitions of all rounds up to {@code lastRound}, which is the last round that a learner pushed or asked for
     * while the job formed. All learners take part in these rounds. If {@code lastRound} is 0, nothing is fixed.
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
            long[] members = numbers(learners, first);
            if (entries.isEmpty() || !Arrays.equals(entries.getLast().members(), members)) {
                add(first, members);
            }
            long nextChange = learners.stream().mapToLong(Member::joinRound).filter(joined -> joined > first).min()
                .orElse(Long.MAX_VALUE);
            fixedRound = Math.min(round, nextChange - 1);
        }
    }

    /** Returns the partitions that are kept, the oldest first. */
    List<MembershipImage.Division> image() {
        return entries.stream().map(entry -> new MembershipImage.Division(entry.epoch(), entry.firstRound(),
            Arrays.stream(entry.members()).boxed().toList())).toList();
    }

    /** Replaces all partitions. */
    void restore(long lastFixedRound, List<MembershipImage.Division> divisions) {
        entries.clear();
        divisions.forEach(division -> entries.add(new Entry(division.epoch(), division.firstRound(),
            division.numbers().stream().mapToLong(Long::longValue).toArray())));
        fixedRound = lastFixedRound;
    }

    private void add(long firstRound, long[] members) {
        entries.add(new Entry(entries.isEmpty() ? 1 : entries.getLast().epoch() + 1, firstRound, members));
        if (entries.size() > MAX_ENTRIES) {
            entries.removeFirst();
        }
    }

    private static long[] numbers(List<? extends Member<?>> learners, long round) {
        return learners.stream().filter(learner -> learner.joinRound() <= round).mapToLong(Member::number).toArray();
    }

    /** Returns the part of a learner in a round whose partition is fixed. Returns null if the partition was discarded. */
    Partition of(long round, Member<?> learner) {
        Iterator<Entry> newestFirst = entries.descendingIterator();
        while (newestFirst.hasNext()) {
            Entry entry = newestFirst.next();
            if (entry.firstRound() <= round) {
                return entry.of(learner.number());
            }
        }
        return null;
    }
}
