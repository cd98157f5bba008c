package io.modeldisk.striping;

import static io.modeldisk.striping.FakeShards.assertShardFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.modeldisk.platform.cancellation.Cancellation;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Answer;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Result;
import io.modeldisk.protocol.dialect.KeepRoundCommand.Service;
import io.modeldisk.protocol.initiator.ShardException;
import io.modeldisk.protocol.initiator.ShardId;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VersionReaderTest {
    private static final int BLOCK = 4096;
    private static final long NOBODY = -1;

    private final SleptClock clock = new SleptClock();
    private final FakeShard shard = new FakeShard();

    private ReadVersion read(String consistency) throws IOException {
        return read(consistency, clock.nanoTime());
    }

    private ReadVersion read(String consistency, long sinceNs) throws IOException {
        VersionReader reader = new VersionReader(List.of(shard), new ShardId(0, "test"),
            FakeShards.facts(2 * BLOCK, BLOCK, 0, 1, consistency), TimeUnit.MINUTES.toNanos(1), 0, clock,
            (offset, memory, memoryOffset, bytes, cancellation) -> {});
        return reader.read(0, null, 0, 2 * BLOCK, sinceNs, Cancellation.NONE);
    }

    /** A clock on which time passes only while a thread sleeps. */
    private static final class SleptClock implements NanoClock {
        private long nowNs;

        @Override
        public long nanoTime() {
            return nowNs;
        }

        @Override
        public boolean awaitUntil(Condition condition, long deadlineNs) {
            nowNs = Math.max(nowNs, deadlineNs);
            return false;
        }

        @Override
        public void sleepUntil(long deadlineNs) {
            nowNs = Math.max(nowNs, deadlineNs);
        }
    }

    /** A shard of a model whose two learners do not push. Other readers use the shard until {@link #othersEnd}. */
    private final class FakeShard implements VersionReader.Keeper {
        private final List<Long> asked = new ArrayList<>();
        private long minRound = 10;
        private long maxRound = 10;
        private long othersRound = NOBODY;
        private Duration othersEnd = Duration.ofDays(1);
        private boolean isFull;
        /** The number of further requests for which the requested round is already over. */
        private int passed;

        @Override
        public Answer keepRound(Service service, int first, int blocks, long round, Cancellation cancellation) {
            long kept = clock.nanoTime() < othersEnd.toNanos() ? othersRound : NOBODY;
            Result result = Result.DONE;
            if (service == Service.KEEP) {
                asked.add(round);
                if (passed > 0) {
                    passed--;
                    result = Result.PASSED;
                } else if (isFull || kept != NOBODY && kept != round) {
                    result = Result.OTHER_ROUND;
                }
            }
            return new Answer(result, minRound, maxRound, 0, 0, 0, 0, kept, 0, 2);
        }
    }

    @Test
    void roundOfOtherReadersIsSharedIfItIsNewEnough() throws Exception {
        shard.maxRound = 11;
        shard.othersRound = 10;
        assertThat(read("bsp").round()).isEqualTo(10);
        assertThat(shard.asked).containsExactly(11L, 10L);
        assertThat(clock.nanoTime()).as("time for which the reader has waited").isZero();
    }

    @Test
    void roundThatMayNeverCloseIsNotSharedWithOtherReaders() throws Exception {
        shard.othersRound = 18;
        shard.othersEnd = Duration.ofSeconds(30);
        assertThat(read("bsp").round()).isEqualTo(10);
        assertThat(shard.asked).containsOnly(10L);
    }

    @Test
    void readerGivesUpOpenRoundsAndReadsTheNewestClosedRoundWhenLearnersStop() throws Exception {
        shard.passed = 1;
        shard.othersRound = 12;
        shard.othersEnd = Duration.ofSeconds(30);
        assertThat(read("bsp").round()).isEqualTo(10);
        assertThat(shard.asked).startsWith(10L, 11L, 12L, 10L).endsWith(10L);
    }

    @Test
    void callThatBeginsAfterItsDeadlineMakesOneAttempt() throws Exception {
        long longAgoNs = -TimeUnit.MINUTES.toNanos(2);
        assertThat(read("bsp", longAgoNs).round()).isEqualTo(10);
        shard.minRound = 9;
        assertThatThrownBy(() -> read("bsp", longAgoNs))
            .satisfies(e -> assertShardFailed(e, ShardException.Kind.ROUND_TIMEOUT, 0));
        assertThat(shard.asked).containsExactly(10L, 10L);
        assertThat(clock.nanoTime()).as("time for which the reader has waited").isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"bsp", "asp"})
    void readerRetriesWithPausesUntilTheDeadlineWhileAShardHasTooManyReaders(String consistency) {
        shard.isFull = true;
        if (consistency.equals("bsp")) {
            shard.othersRound = 10;
        } else {
            shard.minRound = -1;
            shard.maxRound = -1;
        }
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> assertThatThrownBy(() -> read(consistency))
            .satisfies(e -> assertShardFailed(e, ShardException.Kind.ROUND_TIMEOUT, 0)));
        assertThat(shard.asked).hasSizeBetween(100, 100_000);
    }
}
