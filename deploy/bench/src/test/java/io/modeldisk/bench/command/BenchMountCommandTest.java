package io.modeldisk.bench.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.bench.mount.MountPlan;
import io.modeldisk.command.Converters;
import io.modeldisk.protocol.initiator.Route;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class BenchMountCommandTest {
    private static MountPlan plan(String... arguments) {
        BenchMountCommand command = new BenchMountCommand();
        Converters.register(new CommandLine(command)).parseArgs(arguments);
        return command.plan();
    }

    @Test
    void planOfBenchMountHasTheRequestedVariants() {
        assertThat(plan("--measures", "requests", "--binding", "kernel", "--datamover", "tcp", "--request-size", "256k",
            "--queue-depth", "8",
            "--rounds", "5", "--duration", "2s", "--warm-up", "3s"))
            .isEqualTo(
                new MountPlan(true, false, List.of("kernel"), List.of(Route.Preference.TCP), List.of(256 << 10),
                    List.of(8), 5,
                    2000, 3000, 512 << 20));
    }

    @ParameterizedTest
    @CsvSource({"--binding,fast,must be one of kernel", "--datamover,rdma,must be one of",
        "--request-size,5000,must be a multiple of 4096", "--request-size,5m,must be from 4096 to 4194304",
        "--queue-depth,33,must be from 1 to 32", "--rounds,0,must be from 1 to 1000",
        "--duration,61,must be from 100ms to",
        "--warm-up,61,must be from 0s to", "--measures,copies,must be requests or learner",
        "--model-size,1m,must be from 67108864 to"})
    void optionOfBenchMountOutsideItsRangeIsRefused(String option, String value, String words) {
        assertThatThrownBy(() -> plan(option, value)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(words);
    }
}
