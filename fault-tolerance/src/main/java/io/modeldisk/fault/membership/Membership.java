package io.modeldisk.fault.membership;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Who is a learner, and from which round on.
 *
 * <p>A key becomes a learner at its first push ({@link #join}). Until as many learners as the job needs have joined, it is
 * <em>forming</em>: all join at round 1, and one that leaves no longer counts. Once formed it stays so, and a newcomer joins at
 * the first round that nobody has {@linkplain #opened opened}: no round that others are in waits for it.
 *
 * <p>A learner stops being one when it {@linkplain #left leaves}, or when its connection has been {@linkplain #lost lost} for as
 * long as its lease. Coming back after that makes it a newcomer.
 *
 * <p>Thread-safe. {@link #roster}, {@link #member}, {@link #opened} of a round that is open and {@link #join} of a member take no
 * lock.
 *
 * @param <K> what identifies a learner, with {@code equals} and {@code hashCode}
 * @param <P> what the caller keeps for each learner
 */
public final class Membership<K, P> {
    private final int learners;
    private final int minLearners;
    private final long leaseNanos;
    private final LongSupplier nanoClock;
    private final Supplier<P> newProgress;

    // Of the system's entropy: a restarted shard must not give a number that another process gave.
    private final SecureRandom numbers = new SecureRandom();
    private final Object lock = new Object();
    private final Map<K, Integer> connections = new HashMap<>();
    private final ConcurrentHashMap<K, Member<K, P>> members = new ConcurrentHashMap<>();
    private final List<Member<K, P>> inOrder = new ArrayList<>();
    private volatile Roster<K, P> roster = new Roster<>(false, false, List.of());
    private volatile long lastOpenedRound;

    /**
     * Nobody yet.
     *
     * @param learners how many learners must have joined before the first round may close, from 1
     * @param minLearners fewer than this, from 0 to {@code learners}, are {@linkplain Roster#tooFew too few} once it has formed
     * @param leaseNanos how long a lost learner stays one
     * @param nanoClock as {@link System#nanoTime}
     * @param newProgress makes what is kept for a learner, when it joins
     */
    public Membership(
        int learners, int minLearners, long leaseNanos, LongSupplier nanoClock, Supplier<P> newProgress) {
        if (learners < 1) {
            throw new IllegalArgumentException("learners=" + learners + " must be at least 1");
        }
        if (minLearners < 0 || minLearners > learners) {
            throw new IllegalArgumentException(
                "minLearners=" + minLearners + " must be from 0 to learners=" + learners);
        }
        if (leaseNanos < 0) {
            throw new IllegalArgumentException("leaseNanos=" + leaseNanos + " must not be negative");
        }
        this.learners = learners;
        this.minLearners = minLearners;
        this.leaseNanos = leaseNanos;
        this.nanoClock = nanoClock;
        this.newProgress = newProgress;
    }

    /** Who is a learner now. */
    public Roster<K, P> roster() {
        return roster;
    }

    /** The learner of this key, live or lost; null if it is none. */
    public Member<K, P> member(K key) {
        return members.get(key);
    }

    /** The highest round that was {@linkplain #opened opened}; 0 before the first. */
    public long lastOpenedRound() {
        return lastOpenedRound;
    }

    /** The learner of this key; makes it one if it is none. A key without a connection is lost from the start. */
    public Member<K, P> join(K key) {
        Member<K, P> member = members.get(key);
        return member != null ? member : joinAsNewcomer(key, newProgress.get());
    }

    private Member<K, P> joinAsNewcomer(K key, P progress) {
        synchronized (lock) {
            Member<K, P> other = members.get(key);
            return other != null ? other : add(key, progress);
        }
    }

    /**
     * Makes the key a learner; one that it still is leaves, so that nothing of it is taken for the new one's.
     *
     * @return the newcomer; rounds that waited for the one that left may close
     */
    public Member<K, P> joinAnew(K key) {
        P progress = newProgress.get();
        synchronized (lock) {
            Member<K, P> previous = members.get(key);
            if (previous != null) {
                remove(previous);
            }
            return add(key, progress);
        }
    }

    private Member<K, P> add(K key, P progress) {
        Member<K, P> member = new Member<>(key, newNumber(), roster.formed() ? lastOpenedRound + 1 : 1, progress);
        // A push that was under way when its connection went must not make a learner that nobody will ever end.
        if (!connections.containsKey(key)) {
            member.lose(nanoClock.getAsLong());
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
     * Says that somebody contributes to a round, before that can close it.
     *
     * <p>A newcomer's join round is above every round opened before, both under one lock: whoever has called this for a round
     * sees in {@link #roster} everybody who joins at that round or before, for good.
     */
    public void opened(long round) {
        if (round > lastOpenedRound) {
            synchronized (lock) {
                lastOpenedRound = Math.max(lastOpenedRound, round);
            }
        }
    }

    /** Fewer learners than this are too few once the job has formed; 0 if none are. */
    public int minLearners() {
        return minLearners;
    }

    /** A connection of this key was made. A learner that was lost is live again. */
    public void connected(K key) {
        synchronized (lock) {
            connections.merge(key, 1, Integer::sum);
            Member<K, P> member = members.get(key);
            if (member != null) {
                member.find();
            }
        }
    }

    /** A connection of this key is gone without a farewell: if it was the last one, the lease of the learner starts. */
    public void lost(K key) {
        synchronized (lock) {
            Member<K, P> member = members.get(key);
            if (disconnected(key) && member != null) {
                member.lose(nanoClock.getAsLong());
            }
        }
    }

    /** Nothing has been heard from this key for so long, and its connection is about to be ended: its lease runs since then. */
    public void silent(K key, long silentNanos) {
        synchronized (lock) {
            Member<K, P> member = members.get(key);
            if (member != null) {
                member.lose(nanoClock.getAsLong() - silentNanos);
            }
        }
    }

    /**
     * A connection of this key was ended by its own will.
     *
     * @return true if that ended a learner: rounds that waited for it may close
     */
    public boolean left(K key) {
        synchronized (lock) {
            Member<K, P> member = members.get(key);
            if (!disconnected(key) || member == null) {
                return false;
            }
            remove(member);
            publish();
            return true;
        }
    }

    /**
     * Ends the learners that have been lost for their lease.
     *
     * @param nowNanos the time, of the same clock
     * @return those that ended; if there are any, rounds that waited for them may close
     */
    public List<Member<K, P>> expire(long nowNanos) {
        synchronized (lock) {
            List<Member<K, P>> expired = inOrder.stream().filter(m -> m.hasExpired(nowNanos, leaseNanos)).toList();
            expired.forEach(this::remove);
            if (!expired.isEmpty()) {
                publish();
            }
            return expired;
        }
    }

    /** Whether that was the last connection: a reconnect may be heard of before the end of the connection it replaces. */
    private boolean disconnected(K key) {
        return connections.computeIfPresent(key, (k, count) -> count == 1 ? null : count - 1) == null;
    }

    private void remove(Member<K, P> member) {
        inOrder.remove(member);
        members.remove(member.key());
    }

    private void publish() {
        boolean formed = roster.formed() || inOrder.size() >= learners;
        roster = new Roster<>(formed, formed && inOrder.size() < minLearners, inOrder);
    }
}
