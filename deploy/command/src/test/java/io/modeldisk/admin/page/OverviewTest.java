package io.modeldisk.admin.page;

import static io.modeldisk.test.Await.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.modeldisk.protocol.dialect.ModelFacts;
import io.modeldisk.striping.ShardReport;
import io.modeldisk.test.Await;
import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class OverviewTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final ManualClock clock = new ManualClock();
    private final Overview overview = new Overview(clock, "a test", 2);

    /** Returns a report from a shard of the model {@code m}, which has two shards. In {@code status}, ' stands for ". */
    static ShardReport report(int shard, String status) throws IOException {
        return new ShardReport(new ModelFacts("m", 8 << 20, 1 << 18, shard, 2, "sum", "bsp", 2, "zeros"),
            JSON.readTree(status.replace('\'', '"')));
    }

    private JsonNode shard(int shard) {
        return overview.look().path("shards").path(shard);
    }

    @Test
    void shardWithoutASourceIsNotWatched() {
        JsonNode json = overview.note("why").look();
        assertThat(json.at("/shards/1/watched").asBoolean()).isFalse();
        assertThat(json.at("/notes/0").asText()).isEqualTo("why");
        assertThat(json.has("model")).isFalse();
    }

    @Test
    void hangingShardDelaysNoOtherShard() {
        CountDownLatch hang = new CountDownLatch(1);
        AtomicInteger reads = new AtomicInteger();
        try (Overview both = overview.with(hang::countDown)) {
            both.shard(0, _ -> afterwards(hang)).shard(1,
                _ -> report(1, "{'updates':" + reads.incrementAndGet() + "}"));
            await("shard 1 is read again and again", () -> shard(1).path("updates").asInt() > 2);
            assertThat(shard(0).has("readAt")).isFalse();
            assertThat(shard(0).has("failure")).isFalse();
            assertThat(both.look().at("/model/blocks").asInt()).isEqualTo(32);
        }
    }

    /** Returns a report after the latch is released. */
    private static ShardReport afterwards(CountDownLatch latch) throws IOException {
        try {
            latch.await(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return report(0, "{}");
    }

    @Test
    void eachRequestBeginsAtMostOneReadOfAShard() {
        AtomicInteger reads = new AtomicInteger();
        overview.shard(0, _ -> report(0, "{'updates':" + reads.incrementAndGet() + "}"));
        assertThat(reads).as("reads before the first look").hasValue(0);
        AtomicInteger looks = new AtomicInteger();
        await("three reads", () -> {
            overview.look();
            assertThat(reads.get()).isLessThanOrEqualTo(looks.incrementAndGet());
            return reads.get() >= 3;
        });
    }

    @Test
    void silentShardKeepsItsLastStatusAndIsReadAgain() {
        AtomicInteger answers = new AtomicInteger(1);
        overview.shard(0, _ -> {
            if (answers.get() == 0) {
                throw new IOException("connection refused");
            }
            return report(0, "{'updates':7}");
        });
        await("the shard has answered", () -> shard(0).path("updates").asInt() == 7);
        answers.set(0);
        await("the shard has failed", () -> shard(0).has("failure"));
        clock.advance(Duration.ofSeconds(9));
        JsonNode silent = shard(0);
        assertThat(silent.path("failure").asText()).isEqualTo("connection refused");
        assertThat(silent.path("silentSeconds").asInt()).isEqualTo(9);
        assertThat(silent.path("updates").asInt()).isEqualTo(7);
        answers.set(1);
        // After a slow read, the next read comes after a pause, which ends only when this manual clock advances.
        await("the shard has answered again", () -> {
            clock.advance(Duration.ofMillis(100));
            return !shard(0).has("failure");
        });
    }

    @Test
    void statusThatNobodyRequestsForLongIsDiscarded() {
        CountDownLatch hang = new CountDownLatch(1);
        AtomicInteger reads = new AtomicInteger();
        overview.shard(0, _ -> reads.incrementAndGet() > 1 ? afterwards(hang) : report(0, "{'updates':7}"));
        await("the shard has answered", () -> shard(0).has("readAt"));
        await("the second read hangs", () -> {
            overview.look();
            return reads.get() == 2;
        });
        clock.advance(Duration.ofSeconds(11));
        assertThat(shard(0).has("readAt")).isFalse();
        hang.countDown();
    }

    @Test
    void laterReadsMustAgreeWithTheFactsOfTheFirstRead() {
        AtomicInteger checked = new AtomicInteger();
        overview.shard(0, _ -> report(0, "{}")).shard(1, same -> {
            if (same != null && same.consistency().equals("bsp")) {
                checked.incrementAndGet();
            }
            throw new IOException("another model");
        });
        await("shard 1 gets the facts of shard 0", () -> {
            overview.look();
            return checked.get() > 0;
        });
    }
}
