package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.PAGE;
import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Removes learners at random steps in many cases. Each case can be repeated with its seed. Every value of a gradient is the
 * ordinal number of its round, so that the mean does not depend on which learners pushed.
 */
class BspDepartureTest {
    private static final int CASES = 3000;
    private static final int ROUNDS = 4;
    private static final int MAX_STEPS = 10_000;
    private static final int PAGES = SIZE / PAGE;

    private final Map<String, FakeTask> tasks = new HashMap<>();

    @Test
    void survivorsCompleteAllRoundsWhenAnotherLearnerDies() throws Exception {
        for (int seed = 0; seed < CASES; seed++) {
            try (RoundsFixture shard = new RoundsFixture(2)) {
                survive(shard, new SplittableRandom(seed), "seed " + seed);
            }
        }
    }

    private void survive(RoundsFixture shard, SplittableRandom random, String seed) throws ScsiException {
        Trainer victim = new Trainer(shard, "victim", random);
        Trainer survivor = new Trainer(shard, "survivor", random);
        Trainer newcomer = null;
        List<Trainer> live = new ArrayList<>(List.of(victim, survivor));
        int stepsToDeath = random.nextInt(60);
        int stepsToBirth = stepsToDeath + random.nextInt(20) - 5;
        int step = 0;
        while (live.stream().anyMatch(learner -> !learner.isDone())) {
            assertThat(step).as("steps of " + seed).isLessThan(MAX_STEPS);
            // One learner dies here, but only after the job has formed.
            if (step == Math.max(stepsToDeath, 2) && shard.membership.roster().formed()) {
                victim.die();
                live.remove(victim);
            } else if (step == Math.max(stepsToDeath, 2)) {
                stepsToDeath++;
            }
            if (newcomer == null && step >= stepsToBirth && shard.membership.roster().formed()) {
                newcomer = new Trainer(shard, "newcomer", random);
                live.add(newcomer);
            }
            live.get(random.nextInt(live.size())).step(seed);
            step++;
        }
        for (int block = 0; block < 3; block++) {
            assertThat(shard.consistency.rounds(block)).as("rounds of block " + block + ", " + seed).isEqualTo(ROUNDS);
        }
        for (long offset = 0; offset < SIZE; offset += PAGE / 2) {
            assertThat(shard.weight(offset)).as("weight at " + offset + ", " + seed).isEqualTo(sumTo(ROUNDS));
        }
        assertThat(shard.consistency.waiting()).as("waiting tasks, " + seed).isZero();
    }

    @Test
    void newcomerFindsAllBlocksInTheSameRoundAfterAllOtherLearnersDied() throws Exception {
        for (int seed = 0; seed < CASES; seed++) {
            try (RoundsFixture shard = new RoundsFixture(2)) {
                SplittableRandom random = new SplittableRandom(seed);
                Trainer first = new Trainer(shard, "victim", random);
                Trainer second = new Trainer(shard, "survivor", random);
                for (int step = random.nextInt(60); step > 0 || !shard.membership.roster().formed(); step--) {
                    (random.nextBoolean() ? first : second).step("seed " + seed);
                }
                first.die();
                second.die();
                long next = shard.membership.lastOpenedRound() + 1;
                Nexus newcomer = shard.connect("newcomer");
                assertThat(shard.consistency.push(task(newcomer, 0, PAGES, 1))).as("push, seed " + seed).isTrue();
                for (int block = 0; block < 3; block++) {
                    assertThat(shard.consistency.rounds(block)).as("closed rounds, seed " + seed).isEqualTo(next);
                }
                shard.leave(newcomer);
            }
        }
    }

    private static float sumTo(long round) {
        return round * (round + 1) / 2f;
    }

    /** Returns a task for a push or a pull. Reuses the tasks of earlier cases, because a new task allocates memory. */
    private FakeTask task(Nexus nexus, int page, int pages, long round) {
        FakeTask task = tasks.computeIfAbsent(
            nexus.learner() + " " + page + "+" + pages + " " + round,
            key -> new FakeTask(nexus, (long) page * PAGE, pages * PAGE).fill(round));
        while (task.resumes() > 0) {
            task.awaitResume();
        }
        return task;
    }

    /** A learner that, in each round, pushes the whole model in random pieces and then pulls the model. */
    private final class Trainer {
        private final RoundsFixture shard;
        private final Nexus nexus;
        private final SplittableRandom random;
        private long round;
        private int page;
        private FakeTask waiting;
        private boolean pulling;

        Trainer(RoundsFixture shard, String name, SplittableRandom random) {
            this.shard = shard;
            this.nexus = shard.connect(name);
            this.random = random;
        }

        boolean isDone() {
            return round > ROUNDS || round == 0 && shard.membership.lastOpenedRound() >= ROUNDS;
        }

        void step(String seed) throws ScsiException {
            if (isDone() || waiting != null && waiting.resumes() == 0) {
                return;
            }
            if (round == 0) {
                round = shard.membership.join(nexus).joinRound();
            }
            if (pulling) {
                pull(seed);
            } else {
                push();
            }
        }

        private void push() throws ScsiException {
            int pages = 1 + random.nextInt(PAGES - page);
            FakeTask task = waiting != null ? drained(waiting) : task(nexus, page, pages, round);
            if (shard.consistency.push(task)) {
                page += task.lengthBytes() / PAGE;
                waiting = null;
                pulling = page == PAGES;
            } else {
                waiting = task;
            }
        }

        private void pull(String seed) throws ScsiException {
            FakeTask task = waiting != null ? drained(waiting) : task(nexus, 0, PAGES, 0);
            if (shard.consistency.admitPull(task)) {
                for (long offset = 0; offset < SIZE; offset += PAGE) {
                    assertThat(shard.weight(offset)).as("pull of round " + round + ", " + seed).isEqualTo(sumTo(round));
                }
                waiting = null;
                pulling = false;
                page = 0;
                round++;
            } else {
                waiting = task;
            }
        }

        private FakeTask drained(FakeTask task) {
            task.awaitResume();
            return task;
        }

        void die() {
            if (waiting != null) {
                shard.consistency.forget(waiting);
            }
            if (random.nextBoolean()) {
                shard.leave(nexus);
            } else {
                shard.expire(nexus);
            }
        }
    }
}
