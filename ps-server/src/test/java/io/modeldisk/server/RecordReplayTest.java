package io.modeldisk.server;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.aggregator.Aggregator;
import io.modeldisk.aggregator.Aggregators;
import io.modeldisk.fault.record.DamagedRecordException;
import io.modeldisk.fault.record.MemberRecords;
import io.modeldisk.fault.record.RateRecords;
import io.modeldisk.fault.record.RecordHeader;
import io.modeldisk.fault.record.RecordKind;
import io.modeldisk.fault.replay.RecordPlayer;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.protocol.engine.IoTask;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.block.Block;
import io.modeldisk.server.consistency.Learner;
import io.modeldisk.server.fake.CountingAggregator;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.server.fake.SumAggregator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Applies the records of a shard to a second shard, the replica, and compares the states of the two shards. */
@Timeout(300)
class RecordReplayTest {
    private static final int PAGE = RecordedShard.PAGE;
    private static final int PAGES = RecordedShard.SIZE / PAGE;
    private static final int SEEDS = 4;

    static Stream<Arguments> shards() {
        List<Supplier<Aggregator>> aggregators = List.of(SumAggregator::new, CountingAggregator::new,
            () -> Aggregators.parse("adam:lr=0.1,weight-decay=0.1,schedule=step,every=3,factor=0.5"));
        return Stream.of("asp", "ssp:1", "bsp")
            .flatMap(mode -> aggregators.stream().map(each -> Arguments.of(mode, each)));
    }

    /** Tries a push. Returns false if the push waits for its round. Otherwise waits until the records of the push are durable. */
    private static boolean completes(RecordedShard shard, FakeTask push) throws ScsiException {
        boolean complete = shard.train.write(push);
        while (!complete && push.isTaken()) {
            push.awaitResume();
            complete = shard.train.write(push);
        }
        return complete;
    }

    /** Returns learners that each perform a number of random operations. {@code steps} counts the operations. */
    private static List<Callable<Void>> actors(RecordedShard shard, int count, long seed, int operations,
        AtomicInteger steps) {
        List<Callable<Void>> actors = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Actor actor = new Actor(shard, i, seed + i);
            actors.add(() -> {
                for (int n = 0; n < operations; n++) {
                    actor.step();
                    steps.incrementAndGet();
                }
                actor.forgetAll();
                return null;
            });
        }
        return actors;
    }

    /** A learner that performs random operations. Used by one thread at a time. */
    private static final class Actor {
        private final RecordedShard shard;
        private final Random random;
        private final Nexus learner;
        /** Tasks that wait for a round. */
        private final List<FakeTask> waiting = new ArrayList<>();
        private long round = 1;
        private boolean connected;

        Actor(RecordedShard shard, int number, long seed) {
            this.shard = shard;
            this.random = new Random(seed);
            this.learner = FakeTask.nexus("learner" + number);
        }

        void step() throws Exception {
            try {
                if (!connected) {
                    shard.connect(learner);
                    connected = true;
                    join(random.nextInt(3) == 0);
                }
                retry();
                act(random.nextInt(25));
            } catch (ScsiException e) {
                // A refused command has no effect. The learner may have to join again.
                if (random.nextBoolean()) {
                    join(false);
                }
            }
        }

        private void join(boolean anew) throws ScsiException {
            round = Math.max(anew ? 1 : round, shard.join(learner, 0, anew).joinRound());
        }

        private void act(int choice) throws Exception {
            switch (choice) {
                case 0 -> {
                    forgetAll();
                    shard.leave(learner);
                    connected = false;
                }
                case 1 -> {
                    forgetAll();
                    shard.expire(learner);
                    connected = false;
                }
                case 2 -> join(true);
                case 3 -> round = shard.join(learner, round + random.nextInt(3), false).joinRound();
                case 4 -> shard.ask(learner, round + random.nextInt(3));
                case 5 -> RecordedShard.write(shard.raw, data(task()));
                case 6 -> fill();
                case 7 -> push(data(task()));
                case 8 -> push(data(task()).ofRound(Math.max(1, round - 1)));
                case 9 -> push(task().fill(Float.NaN).ofRound(round));
                case 10 -> {
                    push(data(new FakeTask(learner, 0, RecordedShard.SIZE)).ofRound(round));
                    round++;
                }
                case 11 -> round++;
                case 12 -> shard.changeLearningRate(learner, Math.max(1, round + random.nextInt(4) - 1),
                    1 + random.nextInt(9));
                default -> push(data(task()).ofRound(round));
            }
        }

        /** Returns a task whose range often spans several blocks, and whose data is often in several pieces. */
        private FakeTask task() {
            int first = random.nextInt(PAGES);
            int pages = 1 + random.nextInt(PAGES - first);
            int split = random.nextInt(pages);
            return split == 0
                ? new FakeTask(learner, (long) first * PAGE, pages * PAGE)
                : new FakeTask(learner, (long) first * PAGE, split * PAGE, (pages - split) * PAGE);
        }

        private FakeTask data(FakeTask task) {
            return task.fill(random.nextInt(1000) / 16f);
        }

        private void fill() throws Exception {
            int page = random.nextInt(PAGES);
            int pages = 1 + random.nextInt(page == PAGES - 1 ? 1 : 2 - page % 2);
            try (DataMemory memory = DataMemory.allocate(PAGE)) {
                memory.segment(0, PAGE).fill((byte) random.nextInt(60));
                FakeTask task = new FakeTask(learner, (long) page * PAGE, pages * PAGE);
                boolean zeros = random.nextBoolean();
                while (!shard.raw.fill(task, task.offset(), task.lengthBytes(),
                    zeros ? null : memory.segment(0, PAGE))) {
                    task.awaitResume();
                }
            }
        }

        private void push(FakeTask task) throws ScsiException {
            if (!completes(shard, task)) {
                waiting.add(task);
            }
            if (waiting.size() > 3) {
                shard.train.forget(waiting.removeFirst());
            }
        }

        private void retry() throws ScsiException {
            for (Iterator<FakeTask> each = waiting.iterator(); each.hasNext();) {
                FakeTask task = each.next();
                if (task.resumes() > 0) {
                    task.awaitResume();
                    each.remove();
                    push(task);
                    return;
                }
            }
        }

        void forgetAll() {
            waiting.forEach(shard.train::forget);
            waiting.clear();
        }
    }

    @ParameterizedTest
    @MethodSource("shards")
    void replicaHasTheStateOfTheShardAfterEachOperation(String mode, Supplier<Aggregator> aggregator) throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            Map<Long, ShardState> states = new TreeMap<>();
            try (RecordedShard shard = new RecordedShard(mode, 2, aggregator);
                RecordedShard replica = new RecordedShard(mode, 2, aggregator)) {
                List<Actor> actors = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    actors.add(new Actor(shard, i, seed * 10L + i));
                }
                Random random = new Random(seed);
                for (int i = 0; i < 200; i++) {
                    actors.get(random.nextInt(actors.size())).step();
                    states.put(shard.shard.records().status().appended(), shard.state());
                }
                actors.forEach(Actor::forgetAll);
                for (RecordHeader record : shard.sink.records()) {
                    replica.player.apply(record);
                    replica.player.apply(record);
                    ShardState expected = states.get(record.position());
                    if (expected != null) {
                        assertThat(replica.state()).as("seed %s, after %s", seed, record).isEqualTo(expected);
                    }
                }
                assertThat(shard.sink.records()).extracting(RecordHeader::kind).contains(RecordKind.PUSH,
                    RecordKind.RAW,
                    RecordKind.LEARNER);
                assertThat(
                    states.values().stream().mapToLong(each -> each.blocks().getFirst().version()).max().orElseThrow())
                    .as("versions of seed " + seed).isGreaterThan(2);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("shards")
    void replicaHasTheStateOfTheShardAfterConcurrentOperations(String mode, Supplier<Aggregator> aggregator)
        throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            try (RecordedShard shard = new RecordedShard(mode, 3, aggregator);
                RecordedShard replica = new RecordedShard(mode, 3, aggregator)) {
                Roles.runAll(actors(shard, 5, seed * 100L, 150, new AtomicInteger()));
                ShardState expected = shard.state();
                replica.play(shard.sink.records());
                assertThat(replica.state()).as("seed " + seed).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("shards")
    void replicaThatStartsFromACheckpointHasTheStateOfTheShard(String mode, Supplier<Aggregator> aggregator)
        throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            try (RecordedShard shard = new RecordedShard(mode, 2, aggregator);
                RecordedShard replica = new RecordedShard(mode, 2, aggregator)) {
                AtomicInteger steps = new AtomicInteger();
                AtomicLong roster = new AtomicLong();
                List<Callable<Void>> roles = actors(shard, 3, seed * 1000L, 100, steps);
                roles.add(() -> {
                    // The second checkpoint is not completed.
                    for (long checkpoint = 7; checkpoint <= 8; checkpoint++) {
                        int begin = 50 * (int) (checkpoint - 6);
                        await("the learners have made enough steps", () -> steps.get() > begin);
                        long position = MemberRecords.appendRoster(shard.shard.learners(), shard.shard.records());
                        RateRecords.append(shard.shard.records(), shard.shard.learningRate());
                        roster.compareAndSet(0, position);
                        for (int i = 0; i < (checkpoint == 7 ? 3 : 2); i++) {
                            save(shard.shard, i, checkpoint, checkpoint == 7 ? replica.shard : null);
                        }
                    }
                    return null;
                });
                Roles.runAll(roles);
                ShardState expected = shard.state();
                replayCheckpoint(shard, replica, roster.get()).end();
                assertThat(replica.state()).as("seed " + seed).isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("shards")
    void recordOfABlockContainsTheOpenRoundAndTheMarksOfTheLearners(String mode, Supplier<Aggregator> aggregator)
        throws Exception {
        try (RecordedShard shard = new RecordedShard(mode, 2, aggregator);
            RecordedShard replica = new RecordedShard(mode, 2, aggregator)) {
            Nexus learner = FakeTask.nexus("a");
            shard.join(learner, 0, false);
            RecordedShard.write(shard.train, new FakeTask(learner, PAGE, 2 * PAGE).fill(3).ofRound(1));
            long roster = MemberRecords.appendRoster(shard.shard.learners(), shard.shard.records());
            for (int i = 0; i < 3; i++) {
                save(shard.shard, i, 7, replica.shard);
            }
            ShardState expected = shard.state();
            replayCheckpoint(shard, replica, roster);
            assertThat(replica.state()).isEqualTo(expected);
            assertThat(expected.blocks().getFirst().marks().values()).first().asString().startsWith("0 1 2");
        }
    }

    /** Applies the records from a position on to a replica that has the blocks of checkpoint 7. */
    private static RecordPlayer<Learner> replayCheckpoint(RecordedShard shard, RecordedShard replica, long from)
        throws DamagedRecordException {
        RecordPlayer<Learner> player = new RecordPlayer<>(replica.shard.store(), replica.shard.consistency(),
            replica.shard.learners(), replica.shard.learningRate(), 7);
        for (RecordHeader record : shard.sink.records()) {
            if (record.position() >= from) {
                player.apply(record);
            }
        }
        return player;
    }

    /** Copies a block to the replica, as a checkpoint would, and appends the record of the block. */
    private static void save(ShardModel shard, int index, long checkpoint, ShardModel replica) throws IOException {
        Block block = shard.store().block(index);
        try (ScopedLock.Held _ = block.hold()) {
            if (replica != null) {
                Block copy = replica.store().block(index);
                copy.writable().weights().copyFrom(block.readable().weights());
                copy.state().copyFrom(block.state());
                replica.store().versions().restore(index, block.version());
            }
            shard.consistency().recordBlock(block, checkpoint);
        }
    }

    @Test
    void recordsThatEndBeforeACheckpointIsCompleteAreRefused() throws Exception {
        try (RecordedShard shard = new RecordedShard("bsp", 1, SumAggregator::new);
            RecordedShard replica = new RecordedShard("bsp", 1, SumAggregator::new)) {
            save(shard.shard, 0, 7, replica.shard);
            save(shard.shard, 1, 7, replica.shard);
            shard.sink.await(3);
            RecordPlayer<Learner> player = replayCheckpoint(shard, replica, 1);
            assertThatThrownBy(player::end).isInstanceOf(DamagedRecordException.class)
                .hasMessageContaining("block 2");
        }
    }

    /**
     * Learners that push each round in several pieces. Their gradients are whole numbers. A learner repeats a push until it is
     * answered.
     */
    private static final class Job {
        static final int ROUNDS = 3;
        static final int LEARNERS = 2;

        private record Push(int learner, long round, int page, int pages) {}

        private final Random random;
        private final List<List<Push>> pushes = new ArrayList<>();
        /** For each push, the last durable log position when the push was answered. */
        final Map<Push, Long> answered = new HashMap<>();

        Job(long seed) {
            random = new Random(seed);
            for (int learner = 0; learner < LEARNERS; learner++) {
                List<Push> own = new ArrayList<>();
                for (long round = 1; round <= ROUNDS; round++) {
                    for (int page = 0; page < PAGES;) {
                        int pages = 1 + random.nextInt(PAGES - page);
                        own.add(new Push(learner, round, page, pages));
                        page += pages;
                    }
                }
                pushes.add(own);
            }
        }

        private static Nexus nexus(int learner) {
            return FakeTask.nexus("learner" + learner);
        }

        private static FakeTask task(Push push) {
            float[] values = new float[push.pages];
            for (int i = 0; i < values.length; i++) {
                // Each learner and round has its own power of 4, so a weight shows how often each push was applied.
                values[i] = 1 << 2 * (push.learner * ROUNDS + (int) push.round - 1);
            }
            return new FakeTask(nexus(push.learner), (long) push.page * PAGE, push.pages * PAGE).fillEach(values)
                .ofRound(push.round);
        }

        /** Sends each push that was not answered up to log position {@code position}, and repeats it until it is answered. */
        void run(RecordedShard shard, long position) throws Exception {
            List<Iterator<Push>> left = new ArrayList<>();
            Map<Integer, FakeTask> waiting = new TreeMap<>();
            Map<Integer, Push> current = new TreeMap<>();
            for (List<Push> own : pushes) {
                left.add(
                    own.stream().filter(push -> answered.getOrDefault(push, Long.MAX_VALUE) > position).iterator());
                shard.connect(nexus(left.size() - 1));
            }
            for (int learner = 0; learner < LEARNERS; learner++) {
                assertThat(shard.join(nexus(learner), 0, false).joinRound()).isEqualTo(1);
            }
            while (left.stream().anyMatch(Iterator::hasNext) || !current.isEmpty()) {
                int learner = random.nextInt(LEARNERS);
                if (!current.containsKey(learner) && left.get(learner).hasNext()) {
                    Push next = left.get(learner).next();
                    current.put(learner, next);
                    waiting.put(learner, task(next));
                }
                FakeTask task = waiting.get(learner);
                if (task == null) {
                    continue;
                }
                if (completes(shard, task)) {
                    Push push = current.remove(learner);
                    waiting.remove(learner);
                    if (position == 0) {
                        answered.put(push, shard.shard.records().status().durable());
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("shards")
    void pushesCountOnceAfterAReplayOfAnyPrefixOfTheRecords(String mode, Supplier<Aggregator> ignored)
        throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            Job job = new Job(seed);
            List<RecordHeader> records;
            List<Integer> expected;
            Map<Nexus, Long> numbers = new HashMap<>();
            try (RecordedShard shard = new RecordedShard(mode, Job.LEARNERS, SumAggregator::new)) {
                job.run(shard, 0);
                expected = weights(shard);
                records = shard.sink.records();
                shard.shard.learners().roster().members().forEach(each -> numbers.put(each.key(), each.number()));
            }
            for (int prefix = 0; prefix <= records.size(); prefix++) {
                try (RecordedShard again = new RecordedShard(mode, Job.LEARNERS, SumAggregator::new, 0)) {
                    again.play(records.subList(0, prefix));
                    List<Learner> restored = again.shard.learners().roster().members();
                    restored.forEach(each -> assertThat(each.isLost()).isTrue());
                    again.shard.record(List.of(again.sink), prefix + 1, 64 * PAGE);
                    List<Long> before = restored.stream().map(Learner::number).toList();
                    job.run(again, prefix == 0 ? -1 : prefix);
                    assertThat(weights(again)).as("seed %s, prefix %s", seed, prefix).isEqualTo(expected);
                    assertThat(again.shard.learners().roster().members().subList(0, before.size()))
                        .extracting(Learner::number).containsExactlyElementsOf(before);
                    before.forEach(number -> assertThat(numbers).containsValue(number));
                    if (mode.equals("bsp")) {
                        assertThat(again.state().blocks()).extracting(ShardState.BlockState::round)
                            .containsOnly((long) Job.ROUNDS + 1);
                    }
                }
            }
        }
    }

    private static List<Integer> weights(RecordedShard shard) throws Exception {
        return shard.state().blocks().stream().map(ShardState.BlockState::weights).toList();
    }

    @Test
    void missingRecordIsDetected() throws Exception {
        try (RecordedShard shard = new RecordedShard("asp", 1, SumAggregator::new);
            RecordedShard replica = new RecordedShard("asp", 1, SumAggregator::new)) {
            Nexus learner = FakeTask.nexus("a");
            for (int i = 0; i < 4; i++) {
                RecordedShard.write(shard.train, new FakeTask(learner, 0, PAGE).fill(1));
            }
            List<RecordHeader> records = shard.sink.records();
            replica.play(records.subList(0, 3));
            assertThatThrownBy(() -> replica.player.apply(records.get(4))).isInstanceOf(DamagedRecordException.class)
                .hasMessageContaining("does not follow record 3");
        }
    }

    @Test
    void recordOfAnotherConsistencyModeIsRefused() throws Exception {
        try (RecordedShard shard = new RecordedShard("bsp", 1, SumAggregator::new);
            RecordedShard replica = new RecordedShard("asp", 1, SumAggregator::new)) {
            RecordedShard.write(shard.train, new FakeTask(FakeTask.nexus("a"), 0, PAGE * PAGES).fill(1).ofRound(
                IoTask.IMPLIED_ROUND));
            assertThatThrownBy(() -> replica.play(shard.sink.records())).isInstanceOf(DamagedRecordException.class);
        }
    }
}
