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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/**
 * Compares the weights with a simple reference model in random sequences of pushes, repeated pushes, departures and joins. In the
 * reference model, a gradient counts once for each membership, logical block and round.
 */
class RoundsModelTest {
    private static final int CASES = 100;
    private static final int STEPS = 120;
    private static final int PAGES = SIZE / PAGE;
    private static final float NONSENSE = 1 << 20;
    // The tolerance covers rounding errors in the mean of three gradients.
    private static final Offset<Float> TOLERANCE = Offset.offset(1e-3f);

    /** A push that was accepted. */
    private record Done(long round, int page, int pages) {}

    /** The gradients that count, for each round of each logical block. */
    private static final class Reference {
        private final Set<String> counted = new HashSet<>();
        private final Map<String, List<Float>> gradients = new HashMap<>();

        void push(long membership, long round, int page, float value) {
            if (counted.add(membership + "/" + round + "/" + page)) {
                gradients.computeIfAbsent(round + "/" + page, key -> new ArrayList<>()).add(value);
            }
        }

        float sum(int page, boolean mean, long rounds) {
            float total = 0;
            for (long round = 1; round <= rounds; round++) {
                List<Float> values = gradients.getOrDefault(round + "/" + page, List.of());
                float sum = values.stream().reduce(0f, Float::sum);
                total += mean && !values.isEmpty() ? sum / values.size() : sum;
            }
            return total;
        }
    }

    /** A learner that obeys PROTOCOL.md: its rounds ascend, and it sometimes repeats earlier pushes. */
    private final class Trainer {
        private final Nexus nexus;
        private final List<Done> done = new ArrayList<>();
        private Learner member;
        private long round;
        private int page;

        Trainer(String name) {
            this.nexus = shard.connect(name);
        }

        void step() throws ScsiException {
            if (member == null) {
                joined(shard.membership.join(nexus));
                return;
            }
            switch (random.nextInt(20)) {
                case 0 -> {
                    shard.expire(nexus);
                    shard.membership.connected(nexus);
                    member = null;
                }
                case 1 -> {
                    joined(shard.membership.joinAnew(nexus));
                    shard.consistency.learnersLeft();
                }
                case 2, 3, 4, 5 -> repeat();
                default -> push();
            }
        }

        private void joined(Learner newcomer) {
            member = newcomer;
            round = newcomer.joinRound();
            page = 0;
            done.clear();
        }

        private void push() throws ScsiException {
            int pages = 1 + random.nextInt(PAGES - page);
            float value = random.nextInt(-8, 9);
            if (send(new Done(round, page, pages), value)) {
                for (int i = page; i < page + pages; i++) {
                    reference.push(member.number(), round, i, value);
                }
                done.add(new Done(round, page, pages));
                page += pages;
                if (page == PAGES) {
                    page = 0;
                    round++;
                }
            }
        }

        private void repeat() throws ScsiException {
            if (!done.isEmpty()) {
                assertThat(send(done.get(random.nextInt(done.size())), NONSENSE)).as("a repeated push is accepted")
                    .isTrue();
            }
        }

        private boolean send(Done push, float value) throws ScsiException {
            FakeTask task = new FakeTask(nexus, (long) push.page * PAGE, push.pages * PAGE).fill(value)
                .ofRound(push.round);
            boolean taken = consistency.push(task);
            if (!taken) {
                consistency.forget(task);
            }
            return taken;
        }
    }

    private SplittableRandom random;
    private RoundsFixture shard;
    private Consistency consistency;
    private Reference reference;

    private void check(boolean bsp) throws ScsiException {
        for (int seed = 0; seed < CASES; seed++) {
            random = new SplittableRandom(seed);
            reference = new Reference();
            try (RoundsFixture fixture = new RoundsFixture(2)) {
                shard = fixture;
                consistency = bsp
                    ? fixture.consistency
                    : new Asp(fixture.store, new SumAggregator(), fixture.membership);
                List<Trainer> learners = List.of(new Trainer("a"), new Trainer("b"));
                for (int step = 0; step < STEPS; step++) {
                    learners.get(random.nextInt(learners.size())).step();
                    compare(bsp, seed, step);
                }
            }
        }
    }

    private void compare(boolean bsp, int seed, int step) {
        for (int page = 0; page < PAGES; page++) {
            long rounds = bsp ? consistency.rounds(shard.store.layout().blockOf((long) page * PAGE)) : STEPS;
            assertThat(shard.weight((long) page * PAGE)).as("logical block %d, seed %d, step %d", page, seed, step)
                .isCloseTo(reference.sum(page, bsp, rounds), TOLERANCE);
        }
    }

    @Test
    void aspAppliesEachGradientOnce() throws Exception {
        check(false);
    }

    @Test
    void bspAddsEachGradientToItsRoundOnce() throws Exception {
        check(true);
    }
}
