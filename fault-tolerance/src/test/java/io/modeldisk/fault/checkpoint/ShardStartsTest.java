package io.modeldisk.fault.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.test.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ShardStartsTest {
    private static final int MAX_STEPS = 1000;

    @TempDir
    private Path folder;
    private final ManualClock clock = new ManualClock();

    /** A shard that starts again until the other shards agree with it. The shard can load only some of the checkpoints. */
    private final class Starting {
        private final int shard;
        private final int shards;
        private final long[] loadable;
        private long startAtMost = CheckpointSettings.ANY;
        private ShardStarts starts;
        private long checkpoint;
        private boolean stopped;

        Starting(int shard, int shards, long... loadable) throws IOException {
            this.shard = shard;
            this.shards = shards;
            this.loadable = loadable;
            start();
        }

        private void start() throws IOException {
            checkpoint = LongStream.of(loadable).filter(number -> number <= startAtMost).max().orElse(0);
            stopped = checkpoint == 0;
            if (!stopped) {
                starts = ShardStarts.begin(StateDirectory.open(folder), shard, shards, checkpoint, clock);
            }
        }

        /** Returns whether all shards have agreed, or this shard has stopped. */
        boolean step() throws IOException {
            if (stopped) {
                return true;
            }
            StartAgainException disagreement = starts.firstDisagreement(number -> number == checkpoint);
            if (disagreement == null) {
                return starts.firstMissing() < 0;
            }
            startAtMost = Math.min(startAtMost, disagreement.startAtMost());
            start();
            return false;
        }
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, 60);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shardsStartFromTheNewestCheckpointThatAllCanLoad(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        int shards = 2 + random.nextInt(3);
        List<long[]> loadable = new ArrayList<>();
        for (int i = 0; i < shards; i++) {
            loadable.add(LongStream.rangeClosed(1, 8).filter(number -> number == 2 || random.nextInt(3) > 0).toArray());
        }
        long newest = LongStream.rangeClosed(1, 8)
            .filter(number -> loadable.stream().allMatch(each -> LongStream.of(each).anyMatch(n -> n == number)))
            .max().orElseThrow();
        List<Starting> starting = new ArrayList<>();
        for (int i = 0; i < shards; i++) {
            starting.add(new Starting(i, shards, loadable.get(i)));
        }
        runUntilAgreed(starting, random);
        assertThat(starting).extracting(shard -> shard.checkpoint).containsOnly(newest);
    }

    @Test
    void shardStopsIfItCannotLoadACheckpointThatAnotherShardCanLoad() throws IOException {
        Starting first = new Starting(0, 2, 2, 4);
        Starting second = new Starting(1, 2, 3);
        for (int i = 0; i < MAX_STEPS && !(first.stopped || second.stopped); i++) {
            first.step();
            second.step();
        }
        assertThat(second.stopped).isTrue();
    }

    private static void runUntilAgreed(List<Starting> starting, SplittableRandom random) throws IOException {
        for (int i = 0; i < MAX_STEPS; i++) {
            starting.get(random.nextInt(starting.size())).step();
        }
        for (Starting each : starting) {
            assertThat(each.step()).as("all shards agree with shard %d", each.shard).isTrue();
        }
    }

    @Test
    void shardThatSavedTheSameCheckpointAsAStoppedShardNeedNotGoBack() throws IOException {
        ShardStarts first = ShardStarts.begin(StateDirectory.open(folder), 0, 2, 1, clock);
        ShardStarts second = ShardStarts.begin(StateDirectory.open(folder), 1, 2, 1, clock);
        first.firstDisagreement(number -> number == 1);
        assertThat(second.firstDisagreement(number -> number == 1)).isNull();

        ShardStarts again = ShardStarts.begin(StateDirectory.open(folder), 1, 2, 2, clock);
        assertThat(again.firstDisagreement(number -> number == 2)).isNull();
        assertThat(first.firstDisagreement(number -> number == 2)).isNull();
        assertThat(again.firstMissing()).isEqualTo(-1);
    }

    @Test
    void shardGoesBackIfItsWeightsChangeWhileItAgrees() throws IOException {
        ShardStarts first = ShardStarts.begin(StateDirectory.open(folder), 0, 2, 1, clock);
        ShardStarts.begin(StateDirectory.open(folder), 1, 2, 1, clock);
        AtomicInteger calls = new AtomicInteger();
        // The weights change between the check and the write of the agreement.
        assertThat(first.firstDisagreement(number -> calls.getAndIncrement() == 0)).isNotNull();
        assertThat(Files.list(folder)).hasSize(2);
    }

    @Test
    void startWaitsOnlyFiveMinutesForAShardThatNeverUsedTheDirectory() throws IOException {
        ShardStarts first = ShardStarts.begin(StateDirectory.open(folder), 0, 2, 0, clock);
        assertThat(first.areAgreed(_ -> true)).isFalse();
        clock.advance(Duration.ofMinutes(5));
        assertThatThrownBy(() -> first.areAgreed(_ -> true)).isInstanceOf(IOException.class)
            .hasMessage("shard 1 has not started with --state " + folder.toRealPath() + " within 5 min; all shards of a"
                + " model need one shared directory. If shard 1 runs, give it this directory; if it starts later, start"
                + " this shard again then");
    }

    @Test
    void startWaitsWithoutALimitForAShardThatHasUsedTheDirectory() throws IOException {
        ShardStarts.begin(StateDirectory.open(folder), 1, 2, 0, clock);
        ShardStarts first = ShardStarts.begin(StateDirectory.open(folder), 0, 2, 0, clock);
        clock.advance(Duration.ofHours(1));
        assertThat(first.areAgreed(_ -> true)).isFalse();
    }
}
