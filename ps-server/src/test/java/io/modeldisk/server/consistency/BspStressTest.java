package io.modeldisk.server.consistency;

import static io.modeldisk.server.consistency.RoundsFixture.PAGE;
import static io.modeldisk.server.consistency.RoundsFixture.SIZE;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.protocol.scsi.ScsiException;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.Roles;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BspStressTest {
    private static final int LEARNERS = 3;

    private final RoundsFixture shard = new RoundsFixture(LEARNERS);

    @Test
    void pullReturnsOnlyWholeRoundsWhileLearnersJoinAndLeave() throws Exception {
        AtomicBoolean passed = new AtomicBoolean();
        List<Callable<Void>> roles = new ArrayList<>();
        for (int i = 0; i < LEARNERS; i++) {
            String name = "stays" + i;
            roles.add(() -> pushOnes(name, round -> !passed.get(), false));
        }
        roles.add(() -> {
            try {
                for (int i = 0; i < 100; i++) {
                    pushOnes("passes" + i, round -> round < 2, true);
                }
            } finally {
                passed.set(true);
            }
            return null;
        });
        Roles.runAll(roles);
        for (int block = 0; block < 3; block++) {
            assertThat(shard.consistency.rounds(block)).isEqualTo(shard.consistency.rounds(0));
            assertThat(shard.weight(block * 2L * PAGE)).isEqualTo(shard.consistency.rounds(0));
        }
        shard.close();
    }

    /**
     * Pushes and pulls as one learner until {@code goOn} returns false. Every value of every gradient is 1, so every weight
     * after round k is k.
     */
    private Void pushOnes(String name, IntPredicate goOn, boolean leavesHalfARound) throws ScsiException {
        Nexus nexus = shard.connect(name);
        FakeTask front = new FakeTask(nexus, 0, 3 * PAGE).fill(1);
        FakeTask rear = new FakeTask(nexus, 3 * PAGE, 2 * PAGE).fill(1);
        FakeTask pull = new FakeTask(nexus, 0, SIZE);
        long first = shard.membership.join(nexus).joinRound();
        // Each learner pushes one more round at the end, to complete the half rounds of learners that have left.
        boolean last = false;
        for (int i = 0; !last; i++) {
            last = !goOn.test(i);
            push(front);
            push(rear);
            while (!shard.consistency.admitPull(pull)) {
                pull.awaitResume();
            }
            for (long offset = 0; offset < SIZE; offset += PAGE) {
                assertThat(shard.weight(offset)).isEqualTo(first + i);
            }
        }
        if (leavesHalfARound) {
            push(front);
        }
        shard.leave(nexus);
        return null;
    }

    private void push(FakeTask push) throws ScsiException {
        while (!shard.consistency.push(push)) {
            push.awaitResume();
        }
    }
}
