package io.modeldisk.server.consistency;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.protocol.engine.Nexus;
import io.modeldisk.server.block.BlockStore;
import io.modeldisk.server.fake.FakeTask;
import io.modeldisk.server.fake.SumAggregator;
import io.modeldisk.server.fake.Weights;
import io.modeldisk.test.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class AspTest {
    private static final int BLOCK = 8192;

    @AutoClose
    private final BlockStore store = new BlockStore(new BlockLayout(4L * BLOCK, BLOCK), 2, 0);
    private final Learners membership = new Learners(1, 0, Duration.ZERO, Integer.MAX_VALUE, store.layout(),
        new ManualClock());
    private final Asp asp = new Asp(store, new SumAggregator(), membership);

    @Test
    void pushIsAppliedImmediatelyUnderAsp() throws Exception {
        Nexus learner = FakeTask.nexus("a");
        assertThat(asp.push(new FakeTask(learner, 4096, BLOCK).fill(2))).isTrue();
        assertThat(Weights.at(store, 0)).isZero();
        assertThat(Weights.at(store, 4096)).isEqualTo(2);
        assertThat(Weights.at(store, BLOCK)).isEqualTo(2);
        assertThat(Weights.at(store, BLOCK + 4096)).isZero();
        assertThat(store.block(0).version()).isEqualTo(1);
        assertThat(store.block(1).version()).isEqualTo(1);
        assertThat(store.block(2).version()).isZero();
        assertThat(membership.member(learner).pushedBytes()).isEqualTo(BLOCK);
        assertThat(asp.admitPull(new FakeTask(learner, 0, BLOCK))).isTrue();
        assertThat(asp.synchronize(new FakeTask(learner, 0, BLOCK))).isTrue();
    }

    @Test
    void concurrentPushesAreAppliedExactlyOnce() throws Exception {
        List<Callable<Void>> learners = new ArrayList<>();
        for (int t = 1; t <= 4; t++) {
            FakeTask push = new FakeTask(FakeTask.nexus("learner" + t), 0, 4096, 3 * BLOCK - 4096, BLOCK).fill(t);
            learners.add(() -> {
                for (int i = 0; i < 500; i++) {
                    asp.push(push);
                }
                return null;
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (Future<Void> done : threads.invokeAll(learners)) {
                done.get();
            }
        }
        for (int offset = 0; offset < 4 * BLOCK; offset += 4) {
            assertThat(Weights.at(store, offset)).isEqualTo(500 * (1 + 2 + 3 + 4));
        }
        assertThat(store.block(3).version()).isEqualTo(2000);
    }
}
