package io.modeldisk.admin.overview;

import static io.modeldisk.admin.overview.Reports.report;
import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.striping.ShardReport;
import io.modeldisk.test.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class WatchTest {
    private static final Duration PERIOD = Duration.ofMillis(10);

    private final Overview overview = new Overview(NanoClock.SYSTEM, "a test", 2);
    private final Watch watch = new Watch(NanoClock.SYSTEM, PERIOD, overview);

    @Test
    void shardThatHangsDelaysNoOther() {
        CountDownLatch hang = new CountDownLatch(1);
        AtomicInteger reads = new AtomicInteger();
        try (watch) {
            watch.shard(0, _ -> hung(hang)).shard(1, _ -> {
                reads.incrementAndGet();
                return report(1, "asp", "'version':{'min':" + reads.get() + "}");
            }).with(hang::countDown).start();
            await("shard 1 is read", () -> reads.get() > 3);
            await("shard 1 is shown", () -> overview.newest().at("/shards/1/version/min").asInt() > 2);
            assertThat(overview.newest().at("/shards/0/answers").asBoolean()).isFalse();
            assertThat(overview.isComplete()).as("shard 0 was not read yet").isFalse();
        }
    }

    private static ShardReport hung(CountDownLatch end) throws IOException {
        try {
            end.await(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new IOException("the test has ended");
    }

    @Test
    void shardIsReadAgainAfterAFailure() {
        AtomicInteger reads = new AtomicInteger();
        try (watch) {
            watch.shard(0, _ -> {
                if (reads.incrementAndGet() < 3) {
                    throw new IOException("not yet");
                }
                return report(0, "asp", "'version':{'min':1}");
            }).start();
            await("the shard answers", () -> overview.newest().at("/shards/0/answers").asBoolean());
        }
        int read = reads.get();
        assertThat(read).isGreaterThanOrEqualTo(3);
        assertThat(reads.get()).as("reads after the close").isEqualTo(read);
    }

    @Test
    void laterReadsMustAgreeWithTheFactsOfTheFirst() {
        AtomicInteger checked = new AtomicInteger();
        try (watch) {
            watch.shard(0, _ -> report(0, "asp", "'version':{'min':1}")).shard(1, same -> {
                if (same != null && same.consistency().equals("asp")) {
                    checked.incrementAndGet();
                }
                throw new IOException("another model");
            }).start();
            await("shard 1 gets the facts of shard 0", () -> checked.get() > 0);
        }
    }
}
