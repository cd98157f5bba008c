package io.modeldisk.server;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.server.fake.SumAggregator;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryBudgetTest {
    private static final long GIB = 1L << 30;

    @Test
    void aShardThatDoesNotFitIsRefusedBeforeMemoryIsTaken() {
        ParameterServer.Context context = new ParameterServer.Context().model("big").sizeBytes(1L << 50)
            .blockSizeBytes(1 << 20).aggregator("sum", new SumAggregator());
        assertThatThrownBy(() -> ShardModel.open(context)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("needs 1048576.1 GiB").hasMessageContaining("more shards");
    }

    @Test
    void aSystemThatTellsIsBelieved(@TempDir Path folder) throws Exception {
        Path meminfo = Files.writeString(folder.resolve("meminfo"), "MemTotal: 9 kB\nMemAvailable:   2097152 kB\n");
        assertThatCode(() -> MemoryBudget.check(2.0 * GIB, meminfo)).doesNotThrowAnyException();
        assertThatThrownBy(() -> MemoryBudget.check(2.0 * GIB + 1, meminfo)).hasMessageContaining("2.0 GiB to give");
    }

    @Test
    void aSystemThatDoesNotTellPasses(@TempDir Path folder) {
        assertThatCode(() -> MemoryBudget.check(1e18, folder.resolve("nothing"))).doesNotThrowAnyException();
    }
}
