package io.modeldisk.fault.membership;

import io.modeldisk.platform.time.NanoClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The learners of a job, and the first round of each learner.
 *
 * <p>A client, which is identified by a key, joins as a learner at its first push ({@link #join}). A job is <em>forming</em>
 * until the required number of learners have joined. While the job is forming, all learners join at the same round: at round 1,
 * or at the round after {@link #resumeAfter}. A learner that leaves during this time no longer counts. A job that has formed
 * stays formed. After that, a new learner joins at the first round that has not been {@linkplain #opened opened} and whose
 * partition is not fixed, so no open round waits for the new learner.
 *
 * <p>The learners of a round divide the training data among them ({@link #partition}). The partition of a round is fixed when a
 * learner requests its part of this round or of a later round, and when the learners change after the round was opened. A change
 * of the learners therefore takes effect at the first round whose partition is not fixed: the same round for all learners.
 *
 * <p>A learner is removed when it {@linkplain #left leaves}, or when its connection has been {@linkplain #lost lost} for the time
 * of the lease. After that, a client with the same key joins as a new learner.
 *
 * <p>Two different keys can belong to the same learner ({@link #isSameLearner}), and two equal keys can belong to different
 * owners ({@link #mayHold}). Subclasses decide these two questions. A connection of another owner does not keep a learner live.
 *
 * <p>Thread-safe. {@link #roster} and {@link #member} acquire no lock. {@link #join} acquires no lock if a learner already has
 * the key. {@link #opened} acquires no lock if the round is already open.
 *
 * @param <K> the type of the key that identifies a learner, with {@code equals} and {@code hashCode}
 * @param <M> the type of a learner
 */
public class Membership<K, M extends Member<K>> {
    /**
     * The maximum distance of a requested round from the last opened round. Without this limit, a learner could fix the
     * partitions of rounds that no learner will reach.
     */
    static final int MAX_ROUNDS_AHEAD = 1024;

    private final int learners;
    private final int minLearners;
    private final long leaseNs;
    private final NanoClock clock;
    private final Function<K, M> newMember;

    // The numbers come from a SecureRandom, because a restarted shard must not repeat a number of an earlier process.
    private final SecureRandom numbers = new SecureRandom();
    private final Object lock = new Object();
    private final Map<K, Connections<K>> connections = new HashMap<>();
    private final ConcurrentHashMap<K, M> members = new ConcurrentHashMap<>();
    private final List<M> inOrder = new ArrayList<>();
    private volatile Roster<M> roster = new Roster<>(false, false, List.of());
    private volatile long lastOpenedRound;
    // Guarded by lock.
    private final Partitions partitions = new Partitions();
    // The highest round that a learner passed to partition() while the job was forming. Guarded by lock.
    private long lastAskedRoundOfForming;
    private long firstRound = 1;
    // The learners of the previous process that have not joined again. Those that join in time continue. Guarded by lock.
    private final Map<K, MembershipImage.Learner<K>> former = new HashMap<>();
    private Consumer<MembershipChange<K>> recorder = change -> {};

    /** The connections of a key: the key of the newest connection, and the number of connections. */
    private record Connections<K>(K newest, int count) {}

    /**
     * Creates a membership without learners. The caller has checked the values.
     *
     * @param learners the number of learners that must have joined before the first round can close, at least 1
     * @param minLearners the minimum number of learners of a formed job, from 0 to {@code learners}; see {@link Roster#tooFew}
     * @param lease the time for which a lost learner stays a learner, at least 0
     * @param clock the clock that measures the leases
     * @param newMember creates a learner for a key that joins
     */
    public Membership(int learners, int minLearners, Duration lease, NanoClock clock, Function<K, M> newMember) {
        this.learners = learners;
        this.minLearners = minLearners;
        this.leaseNs = lease.toNanos();
        this.clock = clock;
        this.newMember = newMember;
    }

    /** Returns the current learners. */
    public Roster<M> roster() {
        return roster;
    }

    /** Returns the learner with this key, or null if no learner has the key. The learner might be lost. */
    public M member(K key) {
        return members.get(key);
    }

    /** Returns the highest round that has been {@linkplain #opened opened}, or 0 before the first round. */
    public long lastOpenedRound() {
        return lastOpenedRound;
    }

    /**
     * Returns the learner with this key. If no learner has the key, a new learner joins. If the key has no connection, the lease
     * of the new learner starts immediately.
     */
    public M join(K key) {
        M member = members.get(key);
        if (member != null) {
            return member;
        }
        M newcomer = newMember.apply(key);
        synchronized (lock) {
            M other = members.get(key);
            return other != null ? other : add(newcomer, former.remove(key));
        }
    }

    /** Returns whether two keys belong to the same learner, so only one of them may be a learner at a time. */
    protected boolean isSameLearner(K one, K other) {
        return one.equals(other);
    }

    /** Returns whether a client with {@code key} may continue as the learner that joined with {@code holder}. */
    protected boolean mayHold(K holder, K key) {
        return true;
    }

    /** Returns the learners that a client with this key would replace, or that prevent it from joining. */
    protected final List<M> sameLearners(K key) {
        synchronized (lock) {
            return inOrder.stream().filter(member -> isSameLearner(member.key(), key)).toList();
        }
    }

    /**
     * Adds a new learner with this key. First, each member that is the {@linkplain #isSameLearner same learner} leaves, so its
     * data does not count as data of the new learner.
     *
     * @param continues whether the learner may continue its membership in the previous process of the shard
     * @return the new learner; rounds that waited for a member that has left might close now
     */
    public M joinAnew(K key, boolean continues) {
        M newcomer = newMember.apply(key);
        synchronized (lock) {
            sameLearners(key).forEach(this::remove);
            MembershipImage.Learner<K> own = former.remove(key);
            return add(newcomer, continues ? own : null);
        }
    }

    /** Adds a learner. {@code own} is its membership in the previous process; null if there is none, or if it has ended. */
    private M add(M member, MembershipImage.Learner<K> own) {
        fixPartitions(lastOpenedRound);
        int place = roster.formed() ? inOrder.size() : firstFreePlace();
        long round = roster.formed() ? partitions.fixedRound() + 1 : firstRound;
        // A learner continues only if no later round might have closed without it.
        if (own != null && round == firstRound && mayHold(own.key(), member.key())) {
            member.admit(own.number(), own.joinRound(), place);
            member.continueAfter(firstRound - 1);
        } else {
            // The number must not be 0, so its lowest bit is set.
            member.admit(numbers.nextLong() | 1, round, place);
        }
        note(MembershipChange.Kind.JOINED, member.key(), member.number(), member.joinRound(), place);
        insert(member, lastOpenedRound);
        return member;
    }

    private void insert(M member, long openedRound) {
        loseUnlessConnected(member);
        inOrder.add(member.place(), member);
        members.put(member.key(), member);
        publish(openedRound);
    }

    /** Starts the lease if the connection was lost during the first push. Otherwise, the learner would never be removed. */
    private void loseUnlessConnected(M member) {
        if (!isConnected(member.key())) {
            member.lose(clock.nanoTime());
        }
    }

    /** Passes a change to the recorder. The last opened round does not change while this thread holds the lock. */
    private void note(MembershipChange.Kind kind, K key, long number, long round, int place) {
        recorder.accept(new MembershipChange<>(kind, key, number, round, place, lastOpenedRound));
    }

    /** Returns the lowest place that no learner occupies. May be called only while the job forms, when each place is a rank. */
    private int firstFreePlace() {
        int place = 0;
        while (place < inOrder.size() && inOrder.get(place).place() == place) {
            place++;
        }
        return place;
    }

    /** Fixes the partitions of all opened rounds, so a change of the learners affects only later rounds. */
    private void fixPartitions(long openedRound) {
        if (roster.formed()) {
            partitions.fix(openedRound, inOrder);
        }
    }

    /**
     * Raises the first round of a learner to {@code round}, because another shard gave the learner this later first round.
     *
     * @return whether the first round was raised; if so, earlier rounds no longer wait for the learner
     */
    public boolean postpone(M member, long round) {
        synchronized (lock) {
            if (round <= member.joinRound()) {
                return false;
            }
            note(MembershipChange.Kind.POSTPONED, null, member.number(), round, 0);
            member.postpone(round);
            return true;
        }
    }

    /**
     * Returns the part of the training data that belongs to a learner in a round, and fixes the partitions of all rounds up to
     * this round. All learners of a round have the same number of parts and the same epoch, and different ranks. While the job
     * forms, the data already has a part for each learner that has not joined yet.
     *
     * @param key the key of the learner; if no learner has the key, no partition is fixed
     * @param round a round of the learner, at least 1
     * @return the part; null if the partition of this round was discarded, because only the newest partitions are kept, or if the
     *     round is more than {@value #MAX_ROUNDS_AHEAD} rounds after the last opened round
     */
    public Partition partition(K key, long round) {
        synchronized (lock) {
            M member = held(key);
            if (member == null) {
                return Partition.NOT_A_LEARNER;
            }
            if (round - MAX_ROUNDS_AHEAD > Math.max(lastOpenedRound, member.joinRound())) {
                return null;
            }
            if (!roster.formed()) {
                if (round > lastAskedRoundOfForming) {
                    note(MembershipChange.Kind.ASKED, null, 0, round, 0);
                    lastAskedRoundOfForming = round;
                }
                return new Partition(member.place(), learners, 1);
            }
            if (round > partitions.fixedRound()) {
                note(MembershipChange.Kind.FIXED, null, 0, round, 0);
                partitions.fix(round, inOrder);
            }
            return partitions.of(round, member);
        }
    }

    /**
     * Records that a learner contributes to a round. Must be called before the contribution can close the round.
     *
     * <p>After this method has returned, no learner joins a formed job at {@code round} or at an earlier round.
     */
    public void opened(long round) {
        if (round > lastOpenedRound) {
            synchronized (lock) {
                lastOpenedRound = Math.max(lastOpenedRound, round);
            }
        }
    }

    /**
     * Continues the job after a round that an earlier process has completed. While the job forms, learners join at the next
     * round. Must be called before the first learner joins.
     */
    public void resumeAfter(long round) {
        synchronized (lock) {
            firstRound = round + 1;
            lastOpenedRound = round;
        }
    }

    /**
     * Sets the learners of the previous process that had pushed all rounds up to the one given to {@link #resumeAfter}. The
     * membership of such a learner continues if it joins before the next round is fixed. Must be called before the first
     * learner joins.
     */
    public void remember(List<MembershipImage.Learner<K>> learnersOfProcess) {
        synchronized (lock) {
            learnersOfProcess.forEach(learner -> former.put(learner.key(), learner));
        }
    }

    /** Returns the learners of {@link #remember} that have not joined yet, and can continue because no round was opened since. */
    public List<MembershipImage.Learner<K>> former() {
        synchronized (lock) {
            return lastOpenedRound < firstRound ? List.copyOf(former.values()) : List.of();
        }
    }

    /** Returns the round at which learners join while the job forms. */
    public long firstRound() {
        synchronized (lock) {
            return firstRound;
        }
    }

    /** Returns the minimum number of learners of a formed job. With 0, the job continues with any number of learners. */
    public int minLearners() {
        return minLearners;
    }

    /**
     * Records a new connection of this key. A lost learner with the key becomes live again, if the client
     * {@linkplain #mayHold may continue} as this learner.
     */
    public void connected(K key) {
        synchronized (lock) {
            connections.merge(key, new Connections<>(key, 1), (old, one) -> new Connections<>(key, old.count() + 1));
            M member = held(key);
            if (member != null) {
                member.describe(key);
                member.find();
            }
        }
    }

    /** Returns the learner with this key if the client may continue as this learner; null otherwise. */
    private M held(K key) {
        M member = members.get(key);
        return member != null && mayHold(member.key(), key) ? member : null;
    }

    /** Returns whether a learner with this key has a connection. */
    private boolean isConnected(K key) {
        Connections<K> ofKey = connections.get(key);
        return ofKey != null && mayHold(key, ofKey.newest());
    }

    /** Records that a connection of this key was lost without a logout. If it was the only one, the learner's lease starts. */
    public void lost(K key) {
        synchronized (lock) {
            M member = held(key);
            if (disconnected(key) && member != null) {
                member.lose(clock.nanoTime());
            }
        }
    }

    /**
     * Starts the lease of a learner that has been silent for {@code silentNs}. The time of silence counts as part of the lease.
     * The caller then closes the connection of the key.
     */
    public void silent(K key, long silentNs) {
        synchronized (lock) {
            M member = members.get(key);
            if (member != null) {
                member.lose(clock.nanoTime() - silentNs);
            }
        }
    }

    /**
     * Records that a connection of this key was closed by a logout. If the key has no other connection, the learner leaves.
     *
     * @return whether a learner has left; if so, rounds that waited for the learner might close now
     */
    public boolean left(K key) {
        synchronized (lock) {
            M member = held(key);
            if (!disconnected(key) || member == null) {
                return false;
            }
            remove(member);
            publish(lastOpenedRound);
            return true;
        }
    }

    /**
     * Extends the leases of all lost learners by a duration. The caller uses this method after a pause of this process, because
     * learners could not reconnect during the pause.
     */
    public void extendLeases(long durationNs) {
        synchronized (lock) {
            inOrder.stream().filter(Member::isLost).forEach(member -> member.extendLease(durationNs));
        }
    }

    /** Starts the leases of all lost learners again, because they could not connect to this process until now. */
    public void restartLeases() {
        long nowNs = clock.nanoTime();
        synchronized (lock) {
            inOrder.stream().filter(Member::isLost).forEach(member -> {
                member.find();
                member.lose(nowNs);
            });
        }
    }

    /**
     * Removes the learners whose lease has expired.
     *
     * @return the removed learners; rounds that waited for these learners might close now
     */
    public List<M> expire() {
        long nowNs = clock.nanoTime();
        synchronized (lock) {
            List<M> expired = inOrder.stream().filter(member -> member.hasExpired(nowNs, leaseNs)).toList();
            expired.forEach(this::remove);
            if (!expired.isEmpty()) {
                publish(lastOpenedRound);
            }
            return expired;
        }
    }

    /** Removes one connection of a key. Returns whether the key has no connection left. */
    private boolean disconnected(K key) {
        return connections.computeIfPresent(key,
            (k, old) -> old.count() == 1 ? null : new Connections<>(old.newest(), old.count() - 1)) == null;
    }

    private void remove(M member) {
        note(MembershipChange.Kind.LEFT, null, member.number(), 0, 0);
        delete(member, lastOpenedRound);
    }

    private void delete(M member, long openedRound) {
        fixPartitions(openedRound);
        inOrder.remove(member);
        members.remove(member.key());
    }

    private void publish(long openedRound) {
        boolean formed = roster.formed() || inOrder.size() >= learners;
        if (formed && !roster.formed()) {
            partitions.jobHasFormed(Math.max(lastAskedRoundOfForming, openedRound), inOrder);
        }
        roster = new Roster<>(formed, formed && inOrder.size() < minLearners, inOrder);
    }

    /**
     * Sets a function that gets each change before any method returns a result that depends on the change. The function must not
     * call this object. Must be called before other threads use this object.
     */
    public void record(Consumer<MembershipChange<K>> changes) {
        synchronized (lock) {
            recorder = changes;
        }
    }

    /** Passes the whole state to a function. While the function runs, nothing changes. The function must not call this object. */
    public void image(Consumer<MembershipImage<K>> function) {
        synchronized (lock) {
            function.accept(new MembershipImage<>(roster.formed(), lastOpenedRound, firstRound, lastAskedRoundOfForming,
                partitions.fixedRound(), partitions.image(),
                inOrder.stream().map(member -> new MembershipImage.Learner<>(
                    member.key(), member.number(), member.joinRound(), member.place())).toList()));
        }
    }

    /**
     * Replaces the whole state. A learner with the same number stays the same object. All other learners are lost, and their
     * leases start now.
     */
    public void restore(MembershipImage<K> image) {
        synchronized (lock) {
            lastOpenedRound = image.openedRound();
            firstRound = image.firstRound();
            lastAskedRoundOfForming = image.askedRound();
            partitions.restore(image.fixedRound(), image.divisions());
            Map<K, M> previous = Map.copyOf(members);
            members.clear();
            inOrder.clear();
            for (MembershipImage.Learner<K> learner : image.learners()) {
                M member = previous.get(learner.key());
                if (member == null || member.number() != learner.number()) {
                    member = newMember.apply(learner.key());
                }
                member.describe(learner.key());
                member.admit(learner.number(), learner.joinRound(), learner.place());
                loseUnlessConnected(member);
                inOrder.add(member);
                members.put(learner.key(), member);
            }
            roster = new Roster<>(image.formed(), image.formed() && inOrder.size() < minLearners, inOrder);
        }
    }

    /**
     * Repeats a change of another membership. A learner that joins is lost, and its lease starts now. The last opened
     * round of this membership can be later than that of the change, because the record of a push can precede the record of the
     * change. The change fixes the partitions only up to its own round, as it did in the other membership.
     *
     * @throws IllegalArgumentException if the change does not fit this state; the message has the reason
     */
    public void repeat(MembershipChange<K> change) {
        synchronized (lock) {
            lastOpenedRound = Math.max(lastOpenedRound, change.openedRound());
            switch (change.kind()) {
                case JOINED -> {
                    if (members.containsKey(change.key()) || change.place() > inOrder.size()) {
                        throw new IllegalArgumentException(
                            "learner " + change.key() + " has already joined, or its place "
                                + change.place() + " is too high for a job with " + inOrder.size() + " learners");
                    }
                    fixPartitions(change.openedRound());
                    M member = newMember.apply(change.key());
                    member.admit(change.number(), change.round(), change.place());
                    insert(member, change.openedRound());
                }
                case LEFT -> {
                    delete(withNumber(change), change.openedRound());
                    publish(change.openedRound());
                }
                case POSTPONED -> withNumber(change).postpone(change.round());
                case ASKED -> lastAskedRoundOfForming = change.round();
                case FIXED -> partitions.fix(change.round(), inOrder);
            }
        }
    }

    private M withNumber(MembershipChange<K> change) {
        return inOrder.stream().filter(member -> member.number() == change.number()).findFirst()
            .orElseThrow(() -> new IllegalArgumentException(
                "there is no learner with number " + change.number() + " for the change " + change.kind()));
    }
}
