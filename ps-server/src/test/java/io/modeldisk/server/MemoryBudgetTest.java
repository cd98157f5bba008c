package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.fault.checkpoint.CheckpointPeriod;
import io.modeldisk.fault.checkpoint.CheckpointSettings;
import io.modeldisk.fault.journal.JournalSettings;
import io.modeldisk.fault.record.RecordLog;
import io.modeldisk.platform.linux.MemoryLimit;
import io.modeldisk.server.fake.SumAggregator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryBudgetTest {
    private static final long GIB = 1L << 30;
    private static final long MILLION = 1_000_000;
    private static final MemoryLimit ENOUGH = new MemoryLimit(Long.MAX_VALUE, MemoryLimit.MACHINE);

    private static ServerContext context() {
        return new ServerContext().model("big").consistency("asp").aggregator("sum", new SumAggregator());
    }

    private static MemoryBudget budget(ServerContext context) throws IOException {
        return MemoryBudget.of(context.conclude());
    }

    @Test
    void shardLargerThanTheMemoryIsRefusedBeforeAllocation() {
        ServerContext context = context().sizeBytes(1L << 43).blockSizeBytes(1 << 20);
        assertThatThrownBy(() -> ShardModel.open(context)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("the shard needs").hasMessageContaining("more shards");
    }

    @Test
    void shardWithAMillionBlocksAnd64LearnersDoesNotFitInAHeapOf512MiB() throws IOException {
        MemoryBudget budget = budget(
            context().sizeBytes(MILLION * 4096).blockSizeBytes(4096).consistency("bsp").learners(64));
        assertThatThrownBy(() -> budget.check(64, 512 << 20, ENOUGH)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageMatching(
                "the shard needs a Java heap of 1\\.\\d+ GiB for its blocks and 64 learners, but the heap is "
                    + "limited to 512 MiB; set JDK_JAVA_OPTIONS=-Xmx\\d+m, or use larger blocks .*");
        assertThatCode(() -> budget.check(64, 2 * GIB, ENOUGH)).doesNotThrowAnyException();
    }

    @Test
    void checkAllowsExactlyTheMaximumNumberOfLearners() throws IOException {
        MemoryBudget budget = budget(context().sizeBytes(MILLION * 4096).blockSizeBytes(4096));
        int most = budget.learnersIn(GIB);
        assertThatCode(() -> budget.check(most, GIB, ENOUGH)).doesNotThrowAnyException();
        assertThatThrownBy(() -> budget.check(most + 1, GIB, ENOUGH)).hasMessageContaining("Java heap");
    }

    @Test
    void journalNeedsMemoryForTwoBuffers() throws IOException {
        CheckpointSettings state = new CheckpointSettings(Path.of("state"), CheckpointPeriod.parse("60s"), 1);
        ServerContext recording = context().sizeBytes(4096).checkpoints(state);
        long without = budget(recording).nativeBytes();
        recording.journal(new JournalSettings(state.state(), 0, Duration.ZERO));
        assertThat(budget(recording).nativeBytes() - without).isEqualTo(2L * RecordLog.DEFAULT_BUFFER_BYTES);
    }

    @Test
    void buffersCountTowardsTheMemoryLimitOfAControlGroup(@TempDir Path root) throws Exception {
        Path group = Files.createDirectories(root.resolve("sys/fs/cgroup"));
        Files.createDirectories(root.resolve("proc/self"));
        Files.writeString(root.resolve("proc/meminfo"), "MemAvailable:   8388608 kB\n");
        Files.writeString(root.resolve("proc/self/cgroup"), "0::/\n");
        Files.writeString(root.resolve("proc/self/mountinfo"),
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
        Files.writeString(group.resolve("memory.max"), "1073741824\n");
        Files.writeString(group.resolve("memory.current"), "0\n");
        MemoryLimit limit = MemoryLimit.read(root);
        ServerContext context = context().sizeBytes(512 << 20);
        assertThatCode(() -> budget(context).check(1, GIB, limit)).doesNotThrowAnyException();
        context.network(network -> network.bufferBytes(512 << 20));
        assertThatThrownBy(() -> budget(context).check(1, GIB, limit)).isInstanceOf(IOException.class)
            .hasMessageContaining("but there is only 1.00 GiB available (control group /)");
    }
}
