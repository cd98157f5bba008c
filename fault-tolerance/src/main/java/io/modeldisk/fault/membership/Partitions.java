package io.modeldisk.fault.membership;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * The partitions of the training data of a formed job. The partition of a round is the list of its learners, in the order of
 * their ranks. A partition that was fixed never changes. So all learners have the same partition in a round, whenever they ask
 * for it. Only the last {@value #MAX_ENTRIES} different partitions are kept.
 *
 * <p>Not thread-safe. Every method is called under the lock of {@link Membership}.
 */
final class Partitions {
    static final int MAX_ENTRIES = 64;

    /** The partition from round {@code firstRound} to the round before the next entry. Members are membership numbers. */
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

    /** The last round whose partition is fixed; 0 if there is none. */
    long fixedRound() {
        return fixedRound;
    }

    /** Fixes the partitions of the rounds that learners may have used while the job formed: all of these learners take part. */
    void jobHasFormed(long lastRound, List<? extends Member<?>> learners) {
        if (lastRound > 0) {
            add(1, numbers(learners, Long.MAX_VALUE));
            fixedRound = lastRound;
        }
    }

    /** Fixes the partitions of all rounds up to this round. The learners of a round are those that have joined by that round. */
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

    private void add(long firstRound, long[] members) {
        entries.add(new Entry(entries.isEmpty() ? 1 : entries.getLast().epoch() + 1, firstRound, members));
        if (entries.size() > MAX_ENTRIES) {
            entries.removeFirst();
        }
    }

    private static long[] numbers(List<? extends Member<?>> learners, long round) {
        return learners.stream().filter(learner -> learner.joinRound() <= round).mapToLong(Member::number).toArray();
    }

    /** Returns the part of a learner in a round, which must be fixed. Returns null if the partition is no longer kept. */
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
