package io.modeldisk.fault.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PartitionTest {
    private static final Duration LEASE = Duration.ofSeconds(5);

    private static final class Learner extends Member<String> {
        Learner(String key) {
            super(key);
        }
    }

    private final ManualClock clock = new ManualClock();
    private Membership<String, Learner> membership = forming(2);

    private Membership<String, Learner> forming(int learners) {
        return new Membership<>(learners, 0, LEASE, clock, Learner::new);
    }

    private Learner join(String key) {
        membership.connected(key);
        return membership.join(key);
    }

    private void assertPartition(String key, long round, int rank, int of, long epoch) {
        assertThat(membership.partition(key, round)).isEqualTo(new Partition(rank, of, epoch));
    }

    @Test
    void ranksFollowTheOrderOfJoining() {
        join("b");
        join("a");
        assertPartition("a", 1, 1, 2, 1);
        assertPartition("b", 1, 0, 2, 1);
    }

    @Test
    void leavingChangesThePartitionOnlyAfterTheLastRequestedRound() {
        join("a");
        join("b");
        membership.opened(3);
        assertPartition("b", 5, 1, 2, 1);
        membership.left("a");
        assertPartition("b", 4, 1, 2, 1);
        assertPartition("b", 5, 1, 2, 1);
        assertPartition("b", 6, 0, 1, 2);
    }

    @Test
    void expiredLeaseChangesThePartitionAfterTheLastOpenedRound() {
        join("a");
        join("b");
        membership.opened(3);
        membership.lost("a");
        clock.advance(LEASE);
        membership.expire();
        assertPartition("b", 3, 1, 2, 1);
        assertPartition("b", 4, 0, 1, 2);
    }

    @Test
    void newLearnerJoinsAfterTheLastRequestedRound() {
        join("a");
        join("b");
        membership.opened(3);
        membership.partition("a", 5);
        assertThat(join("c").joinRound()).isEqualTo(6);
        assertPartition("c", 5, Partition.NO_RANK, 2, 1);
        assertPartition("c", 6, 2, 3, 2);
        assertPartition("a", 6, 0, 3, 2);
    }

    @Test
    void postponedLearnerHasNoPartBeforeItsFirstRound() {
        join("a");
        join("b");
        membership.opened(3);
        membership.postpone(join("c"), 6);
        assertPartition("c", 7, 2, 3, 2);
        assertPartition("c", 5, Partition.NO_RANK, 2, 1);
        assertPartition("a", 5, 0, 2, 1);
    }

    @Test
    void learnerThatJoinsAgainHasNoPartInRoundsWithAFixedPartition() {
        join("a");
        join("b");
        assertPartition("a", 1, 0, 2, 1);
        membership.joinAnew("a", false);
        assertPartition("a", 1, Partition.NO_RANK, 2, 1);
        assertPartition("a", 2, 1, 2, 2);
        assertPartition("b", 2, 0, 2, 2);
    }

    @Test
    void repeatedChangesFixPartitionsOnlyUpToTheirOwnRound() {
        List<MembershipChange<String>> changes = new ArrayList<>();
        membership.record(changes::add);
        join("a");
        join("b");
        membership.opened(3);
        join("c");
        membership.left("a");
        Membership<String, Learner> replica = forming(2);
        changes.subList(0, 2).forEach(replica::repeat);
        // The record of a push of round 4 precedes the records of changes that the shard made before it opened this round.
        replica.opened(4);
        changes.subList(2, 4).forEach(replica::repeat);
        membership.opened(4);
        for (int round = 3; round <= 5; round++) {
            for (String key : List.of("b", "c")) {
                assertThat(replica.partition(key, round)).as("part of %s in round %d", key, round)
                    .isEqualTo(membership.partition(key, round));
            }
        }
    }

    @Test
    void partitionOfAFormingJobHasAPartForEachMissingLearner() {
        membership = forming(3);
        join("a");
        assertPartition("a", 9, 0, 3, 1);
        join("b");
        membership.left("a");
        assertPartition("b", 1, 1, 3, 1);
        join("c");
        join("d");
        assertThat(membership.roster().formed()).isTrue();
        for (long round : new long[]{1, 9, 10}) {
            assertPartition("c", round, 0, 3, 1);
            assertPartition("b", round, 1, 3, 1);
            assertPartition("d", round, 2, 3, 1);
        }
    }

    @Test
    void requestOfAKeyWithoutALearnerReturnsNoPartAndFixesNoPartition() {
        join("a");
        join("b");
        assertPartition("x", 1L << 40, Partition.NO_RANK, 0, 0);
        membership.left("a");
        assertPartition("b", 1, 0, 1, 1);
    }

    @Test
    void partitionOfADistantRoundIsFixedWithoutALoopOverAllRounds() {
        join("a");
        membership.postpone(join("b"), 1L << 40);
        membership.opened(1L << 41);
        assertPartition("a", 1L << 41, 0, 2, 2);
        assertPartition("a", 1L << 39, 0, 1, 1);
    }

    @Test
    void partitionIsNullAfterTooManyLaterPartitions() {
        join("a");
        join("b");
        for (long round = 1; round <= 2L * Partitions.MAX_ENTRIES; round++) {
            assertThat(membership.partition("a", round)).isNotNull();
            membership.joinAnew("b", false);
        }
        assertThat(membership.partition("a", Partitions.MAX_ENTRIES)).isNull();
        assertThat(membership.partition("a", Partitions.MAX_ENTRIES + 1)).isNotNull();
    }

    @Test
    void eachRoundOfARandomJobHasOnePartitionAndTheChangesReproduceTheJob() {
        for (int seed = 0; seed < 2000; seed++) {
            new RandomJob(seed).run();
        }
    }

    /** A job whose learners join, leave, die, push and request their parts at random. Compares all returned parts of a round. */
    private final class RandomJob {
        private static final int STEPS = 100;
        private static final List<String> KEYS = List.of("a", "b", "c", "d", "e");

        private final String name;
        private final Random random;
        private final Map<String, Long> nextRound = new HashMap<>();
        /** For each round and rank, the number of the membership that got this rank. */
        private final TreeMap<Long, Map<Integer, Long>> holders = new TreeMap<>();
        /** For each round, the returned partition with rank 0 instead of the learner's rank, so tests can compare it. */
        private final TreeMap<Long, Partition> partitions = new TreeMap<>();
        private long lastRound;
        /** Repeats all changes of the membership. */
        private final Membership<String, Learner> twin;

        RandomJob(int seed) {
            name = "seed " + seed;
            random = new Random(seed);
            int learners = 1 + random.nextInt(4);
            membership = forming(learners);
            twin = forming(learners);
            membership.record(twin::repeat);
        }

        void run() {
            for (int i = 0; i < STEPS; i++) {
                String key = KEYS.get(random.nextInt(KEYS.size()));
                if (membership.member(key) == null) {
                    joined(join(key));
                } else {
                    act(key);
                }
                assertTwinIsTheSame();
            }
            long epoch = 1;
            Partition before = null;
            for (Partition partition : partitions.values()) {
                assertThat(partition.epoch()).as(name).isGreaterThanOrEqualTo(epoch);
                assertThat(before == null || partition.epoch() > epoch || partition.equals(before)).as(name).isTrue();
                epoch = partition.epoch();
                before = partition;
            }
        }

        private void assertTwinIsTheSame() {
            twin.opened(membership.lastOpenedRound());
            MembershipImage<String> image = image(membership);
            assertThat(image(twin)).as(name).isEqualTo(image);
            Membership<String, Learner> restored = forming(1);
            restored.restore(image);
            assertThat(image(restored)).as(name).isEqualTo(image);
        }

        private static MembershipImage<String> image(Membership<String, Learner> of) {
            List<MembershipImage<String>> image = new ArrayList<>();
            of.image(image::add);
            return image.getFirst();
        }

        private void joined(Learner learner) {
            if (random.nextInt(4) == 0) {
                membership.postpone(learner, learner.joinRound() + random.nextInt(3));
            }
            nextRound.put(learner.key(), learner.joinRound());
        }

        private void act(String key) {
            switch (random.nextInt(12)) {
                case 0 -> {
                    forgetIfForming(key);
                    membership.left(key);
                }
                case 1 -> {
                    forgetIfForming(key);
                    membership.lost(key);
                    clock.advance(LEASE);
                    assertThat(membership.expire()).as(name).hasSize(1);
                }
                case 2 -> {
                    forgetIfForming(key);
                    joined(membership.joinAnew(key, false));
                }
                case 3 -> askAll();
                case 4, 5, 6, 7 -> {
                    membership.opened(nextRound.get(key));
                    lastRound = Math.max(lastRound, nextRound.get(key));
                    nextRound.merge(key, 1L, Long::sum);
                }
                default -> ask(key, nextRound.get(key) + random.nextInt(2));
            }
        }

        /** Forgets the ranks of a learner before it leaves a forming job, because another learner can then get the same rank. */
        private void forgetIfForming(String key) {
            if (!membership.roster().formed()) {
                holders.values().forEach(ranks -> ranks.values().remove(membership.member(key).number()));
            }
        }

        private int ask(String key, long round) {
            Partition partition = membership.partition(key, round);
            assertThat(partition.rank()).as(name).isBetween(0, partition.of() - 1);
            long number = membership.member(key).number();
            Long holder = holders.computeIfAbsent(round, r -> new HashMap<>()).putIfAbsent(partition.rank(), number);
            assertThat(holder).as(name).isIn(null, number);
            Partition same = new Partition(0, partition.of(), partition.epoch());
            assertThat(partitions.computeIfAbsent(round, r -> same)).as(name).isEqualTo(same);
            lastRound = Math.max(lastRound, round);
            return partition.rank();
        }

        /** Requests the parts of all current learners in a new round in which all of them take part. */
        private void askAll() {
            List<Learner> members = membership.roster().members();
            long round = Math.max(lastRound + 1, members.stream().mapToLong(Member::joinRound).max().orElseThrow());
            Set<Integer> ranks = new HashSet<>();
            members.forEach(member -> ranks.add(ask(member.key(), round)));
            assertThat(ranks).as(name).hasSize(members.size());
            if (membership.roster().formed()) {
                assertThat(partitions.get(round).of()).as(name).isEqualTo(members.size());
            }
        }
    }
}
