package io.modeldisk.server.block;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.fault.shard.BlockLayout;
import io.modeldisk.platform.threads.ScopedLock;
import io.modeldisk.server.fake.FakeTask;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class VersionWaitsTest {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 4;

    @AutoClose
    private final BlockStore store = new BlockStore(new BlockLayout(BLOCKS * BLOCK, BLOCK), 1, 0);
    private final VersionWaits waits = store.versionWaits();

    private static FakeTask knows(long version) {
        return new FakeTask(FakeTask.nexus("follower"), 0, 0).ofRound(version);
    }

    private void update(int block) {
        try (ScopedLock.Held _ = store.block(block).hold()) {
            store.block(block).updated();
        }
    }

    private void updateAll() {
        for (int block = 0; block < BLOCKS; block++) {
            update(block);
        }
    }

    @Test
    void taskDoesNotWaitIfItsVersionIsNotTheLowest() {
        assertThat(waits.admit(knows(-1))).isTrue();
        assertThat(waits.admit(knows(1))).isTrue();
        assertThat(waits.waiting()).isZero();
    }

    @Test
    void taskIsResumedWhenTheLastBlockReachesTheNextVersion() {
        FakeTask task = knows(0);
        assertThat(waits.admit(task)).isFalse();
        for (int block : new int[]{3, 0, 2, 3, 3}) {
            update(block);
            assertThat(task.resumes()).isZero();
        }
        update(1);
        assertThat(task.resumes()).isEqualTo(1);
        assertThat(waits.admit(task)).isTrue();
        assertThat(store.versions().span().min()).isEqualTo(1);
    }

    @Test
    void oneUpdateResumesAllWaitingTasksOnce() {
        List<FakeTask> tasks = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            tasks.add(knows(0));
            assertThat(waits.admit(tasks.get(i))).isFalse();
        }
        for (int round = 0; round < 3; round++) {
            updateAll();
        }
        assertThat(tasks).allSatisfy(task -> assertThat(task.resumes()).isEqualTo(1));
        assertThat(waits.waiting()).isZero();
    }

    @Test
    void forgottenTaskIsNotResumed() {
        FakeTask task = knows(0);
        waits.admit(task);
        waits.forget(task);
        updateAll();
        assertThat(task.resumes()).isZero();
    }

    @Test
    void taskThatIsAdmittedTwiceWaitsOnce() {
        FakeTask task = knows(0);
        waits.admit(task);
        waits.admit(task);
        assertThat(waits.waiting()).isEqualTo(1);
    }

    @Test
    void noChangeIsMissedWhileThreadsUpdateBlocksInAnyOrder() throws InterruptedException {
        int rounds = 2000;
        CountDownLatch started = new CountDownLatch(BLOCKS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < BLOCKS; i++) {
            int block = i;
            threads.add(Thread.ofPlatform().start(() -> {
                started.countDown();
                for (int round = 0; round < rounds; round++) {
                    update(block);
                    if (round % 64 == block) {
                        Thread.yield();
                    }
                }
            }));
        }
        started.await();
        long known = 0;
        while (known < rounds) {
            FakeTask task = knows(known);
            if (!waits.admit(task)) {
                task.awaitResume();
            }
            assertThat(store.versions().span().min()).isGreaterThan(known);
            known = store.versions().span().min();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
