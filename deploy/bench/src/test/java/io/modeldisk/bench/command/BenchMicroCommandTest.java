package io.modeldisk.bench.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.bench.micro.MicroPlan;
import io.modeldisk.command.Converters;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class BenchMicroCommandTest {
    private static MicroPlan plan(String... arguments) {
        BenchMicroCommand command = new BenchMicroCommand();
        Converters.register(new CommandLine(command)).parseArgs(arguments);
        return command.plan();
    }

    @Test
    void defaultOptionsOfBenchMicroAreTheParametersOfTheArGrpcPaper() {
        MicroPlan plan = plan();

        assertThat(plan.latency().requestBytes()).startsWith(2).endsWith(8 << 20);
        assertThat(plan.fanIn()).isEqualTo(new MicroPlan.FanIn(List.of(4, 8, 16, 32, 64), 4096));
        assertThat(plan.mesh()).isEqualTo(new MicroPlan.Mesh(4, List.of(2 << 20, 4 << 20, 8 << 20)));
    }

    @Test
    void planOfBenchMicroContainsOnlyTheRequestedMeasures() {
        MicroPlan plan = plan("--measures", "fan-in");

        assertThat(plan.latency()).isNull();
        assertThat(plan.mesh()).isNull();
        assertThat(plan.fanIn()).isNotNull();
    }

    @ParameterizedTest
    @CsvSource({"--measures,speed,must be latency", "--latency-sizes,0,must be from 1 to 8388608",
        "--latency-sizes,9m,must be from 1 to 8388608", "--request-size,5000,must be a multiple of 4096",
        "--mesh-sizes,2k,must be from 4096 to 8388608", "--clients,65,must be from 1 to 64",
        "--nodes,1,must be from 2 to 16", "--rounds,0,must be from 1 to 1000",
        "--duration,21,21s must be from 10ms to 20s",
        "--warm-up,21,21s must be from 0s to 20s", "--model-size,257m,must be from 1048576 to 268435456",
        "--datamover,rdma,must be one of"})
    void optionOfBenchMicroOutsideItsRangeIsRefused(String option, String value, String words) {
        assertThatThrownBy(() -> plan(option, value)).isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining(words);
    }
}
