package io.modeldisk.fault.membership;

import io.modeldisk.platform.time.NanoClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * The learners of a job, and the round from which each takes part.
 *
 * <p>A key becomes a learner at its first push ({@link #join}). Until as many learners as the job needs have joined, it is
 * <em>forming</em>: all join at round 1, and one that leaves no longer counts. Once formed it stays so, and a newcomer joins at
 * the first round that has not been {@linkplain #opened opened}, so that no round under way waits for it.
 *
 * <p>A learner stops being one when it {@linkplain #left leaves}, or when its connection has been {@linkplain #lost lost} for
 * the lease. A learner that comes back after that is a newcomer.
 *
 * <p>Thread-safe. {@link #roster}, {@link #member}, {@link #opened} of a round that is open and {@link #join} of a member take no
 * lock.
 *
 * @param <K> what identifies a learner, with {@code equals} and {@code hashCode}
 * @param <M> a learner
 */
public class Membership<K, M extends Member<K>> {
    private final int learners;
    private final int minLearners;
    private final long leaseNs;
    private final NanoClock clock;
    private final Function<K, M> newMember;

    // From the system's entropy: a restarted shard must not repeat a number of an earlier process.
    private final SecureRandom numbers = new SecureRandom();
    private final Object lock = new Object();
    private final Map<K, Integer> connections = new HashMap<>();
    private final ConcurrentHashMap<K, M> members = new ConcurrentHashMap<>();
    private final List<M> inOrder = new ArrayList<>();
    private volatile Roster<M> roster = new Roster<>(false, false, List.of());
    private volatile long lastOpenedRound;

    /**
     * A membership without learners.
     *
     * @param learners how many learners must have joined before the first round may close, from 1
     * @param minLearners fewer than this, from 0 to {@code learners}, are {@linkplain Roster#tooFew too few} once it has formed
     * @param lease how long a lost learner stays one, from 0
     * @param clock the clock of the leases
     * @param newMember makes a learner of a key that joins
     */
    public Membership(int learners, int minLearners, Duration lease, NanoClock clock, Function<K, M> newMember) {
        if (learners < 1) {
            throw new IllegalArgumentException("learners=" + learners + " must be at least 1");
        }
        if (minLearners < 0 || minLearners > learners) {
            throw new IllegalArgumentException(
                "minLearners=" + minLearners + " must be from 0 to learners=" + learners);
        }
        if (lease.isNegative()) {
            throw new IllegalArgumentException("lease=" + lease + " must not be negative");
        }
        this.learners = learners;
        this.minLearners = minLearners;
        this.leaseNs = lease.toNanos();
        this.clock = clock;
        this.newMember = newMember;
    }

    /** The learners now. */
    public Roster<M> roster() {
        return roster;
    }

    /** The learner of this key, live or lost; null if the key is not a learner. */
    public M member(K key) {
        return members.get(key);
    }

    /** The highest round that was {@linkplain #opened opened}; 0 before the first. */
    public long lastOpenedRound() {
        return lastOpenedRound;
    }

    /** The learner of this key, which becomes one if it is not. A key without a connection is lost from the start. */
    public M join(K key) {
        M member = members.get(key);
        return member != null ? member : joinAsNewcomer(newMember.apply(key));
    }

    private M joinAsNewcomer(M newcomer) {
        synchronized (lock) {
            M other = members.get(newcomer.key());
            return other != null ? other : add(newcomer);
        }
    }

    /**
     * Makes the key a learner; one that it still is leaves, so that nothing of it is taken for the new one's.
     *
     * @return the newcomer; rounds that waited for the one that left may close
     */
    public M joinAnew(K key) {
        M newcomer = newMember.apply(key);
        synchronized (lock) {
            M previous = members.get(key);
            if (previous != null) {
                remove(previous);
            }
            return add(newcomer);
        }
    }

    private M add(M member) {
        K key = member.key();
        member.admit(newNumber(), roster.formed() ? lastOpenedRound + 1 : 1);
        // A push under way when its connection was lost must not make a learner that never ends.
        if (!connections.containsKey(key)) {
            member.lose(clock.nanoTime());
        }
        inOrder.add(member);
        members.put(key, member);
        publish();
        return member;
    }

    private long newNumber() {
        long number = 0;
        while (number == 0) {
            number = numbers.nextLong();
        }
        return number;
    }

    /**
     * Notes that a learner contributes to a round, before that can close the round.
     *
     * <p>A newcomer's join round is above every round opened before, both under one lock: a caller that has opened a round sees
     * in {@link #roster} all learners that will ever have joined at that round or before.
     */
    public void opened(long round) {
        if (round > lastOpenedRound) {
            synchronized (lock) {
                lastOpenedRound = Math.max(lastOpenedRound, round);
            }
        }
    }

    /** Fewer learners than this are too few once the job has formed; 0 if the job never stops. */
    public int minLearners() {
        return minLearners;
    }

    /** A connection of this key was made. A learner that was lost is live again. */
    public void connected(K key) {
        synchronized (lock) {
            connections.merge(key, 1, Integer::sum);
            M member = members.get(key);
            if (member != null) {
                member.find();
            }
        }
    }

    /** A connection of this key was lost without a logout: if it was the last one, the lease of the learner starts. */
    public void lost(K key) {
        synchronized (lock) {
            M member = members.get(key);
            if (disconnected(key) && member != null) {
                member.lose(clock.nanoTime());
            }
        }
    }

    /** This key was last heard {@code silentNs} ago and its connection is about to be ended: its lease runs since then. */
    public void silent(K key, long silentNs) {
        synchronized (lock) {
            M member = members.get(key);
            if (member != null) {
                member.lose(clock.nanoTime() - silentNs);
            }
        }
    }

    /**
     * A connection of this key was ended by a logout.
     *
     * @return true if that ended a learner: rounds that waited for it may close
     */
    public boolean left(K key) {
        synchronized (lock) {
            M member = members.get(key);
            if (!disconnected(key) || member == null) {
                return false;
            }
            remove(member);
            publish();
            return true;
        }
    }

    /**
     * Extends the leases that run now, by a time in which this process did not run and learners could not reconnect.
     *
     * @param durationNs that time
     */
    public void extendLeases(long durationNs) {
        synchronized (lock) {
            inOrder.stream().filter(Member::isLost).forEach(member -> member.extendLease(durationNs));
        }
    }

    /**
     * Ends the learners that have been lost for the lease.
     *
     * @return those that ended; if there are any, rounds that waited for them may close
     */
    public List<M> expire() {
        long nowNs = clock.nanoTime();
        synchronized (lock) {
            List<M> expired = inOrder.stream().filter(member -> member.hasExpired(nowNs, leaseNs)).toList();
            expired.forEach(this::remove);
            if (!expired.isEmpty()) {
                publish();
            }
            return expired;
        }
    }

    /** Whether that was the last connection: a reconnect may be reported before the end of the connection it replaces. */
    private boolean disconnected(K key) {
        return connections.computeIfPresent(key, (k, count) -> count == 1 ? null : count - 1) == null;
    }

    private void remove(M member) {
        inOrder.remove(member);
        members.remove(member.key());
    }

    private void publish() {
        boolean formed = roster.formed() || inOrder.size() >= learners;
        roster = new Roster<>(formed, formed && inOrder.size() < minLearners, inOrder);
    }
}
