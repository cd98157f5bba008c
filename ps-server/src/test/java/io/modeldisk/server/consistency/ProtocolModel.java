package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.PAGE;
import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;

/**
 * A shard with learners that obey PROTOCOL.md, and a reference model with these rules: A gradient counts once for each
 * membership, logical block and round. A pull is admitted exactly when the consistency mode allows this pull. Every waiting task
 * that can be accepted has been resumed.
 */
final class ProtocolModel implements AutoCloseable {
    static final int LEARNERS = 3;
    static final int PAGES = SIZE / PAGE;

    private static final int BLOCKS = 3;
    private static final int FIRST_LEARNERS = 2;
    private static final float NONSENSE = 1 << 20;
    private static final int MAX_STEPS_TO_THE_END = 5_000;
    // The tolerance covers rounding errors in the mean of three gradients.
    private static final Offset<Float> TOLERANCE = Offset.offset(1e-3f);

    /** The actions of a learner. */
    enum Action {
        PUSH, PULL, REPEAT, ABORT, RECONNECT, LEAVE, EXPIRE, JOIN_ANEW, POSTPONE
    }

    /** One step of a sequence. Values that the action does not need are ignored. */
    record Step(int learner, Action action, int size, int value) {}

    /** A consistency mode and its guarantees. */
    record Mode(RoundsFixture.Mode factory, long staleness, boolean inRounds) {
        static Mode asp() {
            return new Mode(Asp::new, Integer.MAX_VALUE, false);
        }

        static Mode ssp(int staleness) {
            return new Mode((store, aggregator, membership) -> new Ssp(staleness, store, aggregator, membership),
                staleness, false);
        }

        static Mode bsp() {
            return new Mode(Bsp::new, 0, true);
        }
    }

    private record Push(long round, int page, int pages, float value) {}

    private record Contribution(long membership, long round, int page) {}

    private final class Trainer {
        private final Nexus nexus;
        private final List<Push> done = new ArrayList<>();
        // For each block, the last round that the learner pushed completely, and the last round that the learner started.
        private final long[] full = new long[BLOCKS];
        private final long[] begun = new long[BLOCKS];
        private Learner member;
        private long round;
        private int page;
        private Push push;
        private FakeTask waitingPush;
        private FakeTask waitingPull;

        Trainer(String name) {
            this.nexus = shard.connect(name);
        }

        void join(boolean anew) {
            boolean formed = isFormed();
            Learner now = anew
                ? shard.membership.joinAnew(nexus, false)
                : shard.membership.join(nexus);
            shard.consistency.learnersLeft();
            if (now != member) {
                member = now;
                assertThat(now.joinRound()).as("the first round of %s", nexus.learner())
                    .isGreaterThan(formed ? lastBegun() : 0);
                round = member.joinRound();
                page = 0;
                done.clear();
                for (int block = 0; block < BLOCKS; block++) {
                    full[block] = 0;
                    begun[block] = 0;
                }
            }
        }

        long clock(int block) {
            return Math.max(member.joinRound() - 1, Math.max(full[block], begun[block] - 1));
        }

        void push(int size, float value) throws ScsiException {
            if (waitingPush == null) {
                int pages = Math.min(size, PAGES - page);
                push = new Push(round, page, pages, value);
                ask(new FakeTask(nexus, (long) page * PAGE, pages * PAGE).fill(value).ofRound(round));
            } else if (drain(waitingPush)) {
                ask(waitingPush);
            }
        }

        private void ask(FakeTask task) throws ScsiException {
            boolean mayGo = mayPush();
            boolean taken;
            try {
                taken = shard.consistency.push(task);
            } catch (ScsiException e) {
                assertThat(e.sense()).isEqualTo(RoundRules.NOT_IN_ROUND);
                assertThat(push.round).as("round of a refused push").isLessThan(member.joinRound());
                waitingPush = null;
                skipToJoinRound();
                return;
            }
            assertThat(taken).as("%s of %s is accepted", push, nexus.learner()).isEqualTo(mayGo);
            waited |= !taken;
            waitingPush = taken ? null : task;
            if (taken) {
                pushed();
            }
        }

        private void pushed() {
            for (int i = push.page; i < push.page + push.pages; i++) {
                counted.put(new Contribution(member.number(), push.round, i), push.value);
                int block = blockOf(i);
                begun[block] = push.round;
                if (isLastOfBlock(i)) {
                    full[block] = push.round;
                }
            }
            done.add(push);
            page = push.page + push.pages;
            if (page == PAGES) {
                page = 0;
                round++;
            }
        }

        /** Returns whether every block of the push can accept the push now. */
        boolean mayPush() {
            if (!mode.inRounds) {
                return true;
            }
            // A push first closes the rounds whose learners have all left.
            return IntStream.rangeClosed(blockOf(push.page), blockOf(push.page + push.pages - 1))
                .allMatch(block -> Math.max(closed(block), firstRound() - 1) == push.round - 1);
        }

        void pull(int block) throws ScsiException {
            if (waitingPull == null) {
                int pages = block == BLOCKS - 1 ? 1 : 2;
                pullAt(new FakeTask(nexus, 2L * block * PAGE, pages * PAGE).ofRound(member == null ? 0 : full[block]));
            } else if (drain(waitingPull)) {
                pullAt(waitingPull);
            }
        }

        private void pullAt(FakeTask task) throws ScsiException {
            boolean mayGo = mayPull(task);
            boolean admitted = shard.consistency.admitPull(task);
            assertThat(admitted).as("%s may pull round %s", nexus.learner(), task.round()).isEqualTo(mayGo);
            waited |= !admitted;
            waitingPull = admitted ? null : task;
        }

        void repeat(int which) throws ScsiException {
            if (!done.isEmpty()) {
                Push again = done.get(which % done.size());
                FakeTask task = new FakeTask(nexus, (long) again.page * PAGE, again.pages * PAGE).fill(NONSENSE)
                    .ofRound(again.round);
                assertThat(shard.consistency.push(task)).as("a repeated push is accepted").isTrue();
            }
        }

        /** Forgets the waiting tasks, as after a time-out, an abort or a lost connection. */
        void abort() {
            if (waitingPush != null) {
                shard.consistency.forget(waitingPush);
                waitingPush = null;
            }
            if (waitingPull != null) {
                shard.consistency.forget(waitingPull);
                waitingPull = null;
            }
        }

        void postpone() {
            if (shard.membership.postpone(member, Math.max(round, shard.membership.lastOpenedRound()) + 1)) {
                shard.consistency.learnersLeft();
                // The learner no longer takes part in earlier rounds, so it does not repeat pushes of these rounds.
                done.removeIf(each -> each.round < member.joinRound());
                if (waitingPush == null) {
                    skipToJoinRound();
                }
            }
        }

        private void skipToJoinRound() {
            if (round < member.joinRound()) {
                round = member.joinRound();
                page = 0;
            }
        }

        /** Forgets the waiting tasks of the learner and runs {@code death}, which removes the learner. */
        void end(Runnable death) {
            abort();
            member = null;
            death.run();
        }

        void checkResumedIfItMayContinue() {
            if (waitingPush != null && push.round >= member.joinRound() && mayPush()) {
                assertThat(waitingPush.resumes()).as("resumes of %s by %s", push, nexus.learner()).isPositive();
            }
            if (waitingPull != null && mayPull(waitingPull)) {
                assertThat(waitingPull.resumes()).as("resumes of the pull by %s", nexus.learner()).isPositive();
            }
        }
    }

    private final Mode mode;
    private final RoundsFixture shard;
    private final List<Trainer> learners = new ArrayList<>();
    private final Map<Contribution, Float> counted = new HashMap<>();
    private boolean waited;

    ProtocolModel(Mode mode) {
        this.mode = mode;
        this.shard = new RoundsFixture(FIRST_LEARNERS, new SumAggregator(), mode.factory);
        for (int i = 0; i < LEARNERS; i++) {
            learners.add(new Trainer("learner" + i));
        }
    }

    void perform(Step step) throws ScsiException {
        Trainer learner = learners.get(step.learner);
        if (learner.member == null) {
            learner.join(false);
            return;
        }
        switch (step.action) {
            case PUSH -> learner.push(step.size, step.value);
            case PULL -> learner.pull(step.size % BLOCKS);
            case REPEAT -> learner.repeat(step.size + step.value + 8);
            case ABORT -> learner.abort();
            case RECONNECT -> {
                learner.abort();
                shard.membership.lost(learner.nexus);
                shard.membership.connected(learner.nexus);
                learner.join(false);
            }
            case LEAVE -> learner.end(() -> {
                shard.leave(learner.nexus);
                shard.membership.connected(learner.nexus);
            });
            case EXPIRE -> learner.end(() -> {
                shard.expire(learner.nexus);
                shard.membership.connected(learner.nexus);
            });
            case JOIN_ANEW -> {
                learner.abort();
                learner.join(true);
            }
            case POSTPONE -> learner.postpone();
        }
    }

    private static int blockOf(int page) {
        return page / 2;
    }

    private static boolean isLastOfBlock(int page) {
        return page % 2 == 1 || page == PAGES - 1;
    }

    private List<Trainer> live() {
        return learners.stream().filter(learner -> learner.member != null).toList();
    }

    private boolean isFormed() {
        return shard.membership.roster().formed();
    }

    /** The last round that any learner has started to push. */
    private long lastBegun() {
        return counted.keySet().stream().mapToLong(Contribution::round).max().orElse(0);
    }

    private long closed(int block) {
        return shard.consistency.rounds(block);
    }

    /** The lowest round at which a current learner joined; 1 before the job has formed. */
    private long firstRound() {
        return isFormed() ? live().stream().mapToLong(learner -> learner.member.joinRound()).min().orElse(1) : 1;
    }

    private boolean mayPull(FakeTask task) {
        int block = blockOf((int) (task.offset() / PAGE));
        if (mode.inRounds) {
            return task.round() <= closed(block);
        }
        long least = isFormed() ? Long.MAX_VALUE : 0;
        for (Trainer learner : live()) {
            least = Math.min(least, learner.clock(block));
        }
        return task.round() - mode.staleness <= least;
    }

    /** Compares the shard with the reference model. Called after each step. */
    void compare() {
        for (int i = 0; i < PAGES; i++) {
            assertThat(shard.weight((long) i * PAGE)).as("logical block %d", i).isCloseTo(expected(i), TOLERANCE);
        }
        if (mode.inRounds) {
            IntStream.range(0, BLOCKS).forEach(this::checkRounds);
        }
        live().forEach(Trainer::checkResumedIfItMayContinue);
    }

    private float expected(int page) {
        Map<Long, List<Float>> rounds = new HashMap<>();
        counted.forEach((key, value) -> {
            if (key.page == page) {
                rounds.computeIfAbsent(key.round, round -> new ArrayList<>()).add(value);
            }
        });
        float total = 0;
        for (Map.Entry<Long, List<Float>> round : rounds.entrySet()) {
            float sum = round.getValue().stream().reduce(0f, Float::sum);
            if (!mode.inRounds) {
                total += sum;
            } else if (round.getKey() <= closed(blockOf(page))) {
                total += sum / round.getValue().size();
            }
        }
        return total;
    }

    /** Checks that a round closes when all its learners have pushed it, and not earlier. */
    private void checkRounds(int block) {
        long open = closed(block) + 1;
        boolean anybody = false;
        boolean all = true;
        for (Trainer learner : live()) {
            assertThat(closed(block)).as("closed rounds of block %d with learner %s", block, learner.nexus.learner())
                .isLessThanOrEqualTo(Math.max(learner.member.joinRound() - 1, learner.full[block]));
            if (learner.member.joinRound() <= open) {
                anybody = true;
                all &= learner.full[block] >= open;
            }
        }
        assertThat(isFormed() && anybody && all).as("round %d of block %d is complete and open", open, block).isFalse();
    }

    /** Makes all learners push and pull until each learner has completed one more round. */
    void finish() throws ScsiException {
        for (Trainer learner : learners) {
            learner.join(false);
        }
        long target = learners.stream().mapToLong(learner -> Math.max(learner.round, learner.member.joinRound())).max()
            .orElseThrow() + 1;
        int steps = 0;
        while (learners.stream().anyMatch(learner -> !isThrough(learner, target))) {
            for (Trainer learner : learners) {
                if (learner.waitingPull != null) {
                    learner.pull(0);
                } else if (learner.round <= target) {
                    learner.push(PAGES, 1);
                } else if (!isThrough(learner, target)) {
                    learner.pull(0);
                }
            }
            compare();
            assertThat(steps++).as("steps to the end").isLessThan(MAX_STEPS_TO_THE_END);
        }
        for (Trainer learner : learners) {
            learner.pull(0);
            assertThat(learner.waitingPull).as("waiting pull after all learners have finished").isNull();
        }
    }

    private static boolean isThrough(Trainer learner, long target) {
        return learner.round > target && learner.waitingPush == null && learner.waitingPull == null;
    }

    int waiting() {
        return shard.consistency.waiting();
    }

    boolean hasWaited() {
        return waited;
    }

    private static boolean drain(FakeTask task) {
        boolean resumed = task.resumes() > 0;
        while (task.resumes() > 0) {
            task.awaitResume();
        }
        return resumed;
    }

    @Override
    public void close() {
        shard.close();
    }
}
