package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.PAGE;
import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.engine.Pin;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Roles;
import io.modeldisk.server.fake.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs each learner in its own thread. Every value of every gradient is 1, so each weight is the number of its applied
 * pushes.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SspStressTest {
    private static final int LEARNERS = 3;
    private static final int ROUNDS = 400;

    private RoundsFixture shard;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void pullIncludesAllRequiredRoundsDuringConcurrentPushes(int staleness) throws Exception {
        shard = RoundsFixture.stale(staleness, LEARNERS);
        List<Callable<Void>> roles = new ArrayList<>();
        for (int i = 0; i < LEARNERS; i++) {
            Nexus nexus = shard.connect("learner" + i);
            roles.add(() -> learn(nexus, ROUNDS, staleness));
        }
        Roles.runAll(roles);
        for (int page = 0; page < SIZE / PAGE; page++) {
            assertThat(shard.weight((long) page * PAGE)).as("number of pushes that were applied")
                .isEqualTo(LEARNERS * ROUNDS);
        }
        assertThat(shard.consistency.waiting()).isZero();
        assertThat(shard.store.spareCount()).isEqualTo(2);
        shard.close();
    }

    private Void learn(Nexus nexus, int rounds, int staleness) throws ScsiException {
        FakeTask pull = new FakeTask(nexus, 0, SIZE);
        Pin pin = new Pin();
        shard.membership.join(nexus);
        for (int round = 1; round <= rounds; round++) {
            // The learner pushes two pieces. The first piece ends in the middle of a block.
            shard.consistency.push(new FakeTask(nexus, 0, 3 * PAGE).fill(1).ofRound(round));
            shard.consistency.push(new FakeTask(nexus, 3 * PAGE, 2 * PAGE).fill(1).ofRound(round));
            pull.ofRound(round);
            while (!shard.consistency.admitPull(pull)) {
                pull.awaitResume();
            }
            // The pull includes all rounds of this learner. At most "staleness" rounds of each other learner may be missing.
            int least = round + (LEARNERS - 1) * Math.max(0, round - staleness);
            for (int done = 0; done < SIZE; done += pin.lengthBytes()) {
                shard.store.pin(pull, done, pin);
                try {
                    float weight = Weights.uniformByPage(pin);
                    assertThat(weight).as("a pull of round %d", round).isGreaterThanOrEqualTo(least);
                } finally {
                    shard.store.unpin(pin);
                }
            }
        }
        return null;
    }
}
