package io.modeldisk.bench.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.bench.protocol.ProtocolPlan;
import io.modeldisk.bench.protocol.ProtocolPlan.Measure;
import io.modeldisk.bench.training.TrainingPlan;
import io.modeldisk.command.settings.Converters;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class BenchOptionsTest {
    private static <T> T parse(T command, String... arguments) {
        Converters.register(new CommandLine(command)).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments);
        return command;
    }

    private static ProtocolPlan protocol(String... arguments) throws IOException {
        return parse(new BenchProtocolCommand(), arguments).plan();
    }

    private static TrainingPlan training(String... arguments) {
        return parse(new BenchTrainingCommand(), arguments).plan();
    }

    @Test
    void defaultSizesAndClientsEqualThoseInTheArGrpcPaper() throws IOException {
        ProtocolPlan plan = protocol("--measures", "latency,fan-in,mesh");

        assertThat(plan.measures()).containsExactlyInAnyOrder(Measure.LATENCY, Measure.FAN_IN, Measure.MESH);
        assertThat(plan.sizesOf(Measure.LATENCY)).startsWith(2).endsWith(8 << 20);
        assertThat(plan.sizesOf(Measure.FAN_IN)).containsExactly(4096);
        assertThat(plan.clientsOf(Measure.FAN_IN)).containsExactly(4, 8, 16, 32, 64);
        assertThat(plan.sizesOf(Measure.MESH)).containsExactly(2 << 20, 4 << 20, 8 << 20);
        assertThat(plan.clientsOf(Measure.MESH)).containsExactly(4);
    }

    @Test
    void optionSizesAcceptsUnitsAndReplacesTheDefaultsOfAllMeasures() throws IOException {
        ProtocolPlan plan = protocol("--sizes", "4k,256KiB,8m");

        assertThat(plan.sizesOf(Measure.THROUGHPUT)).containsExactly(4096, 262_144, 8_388_608);
        assertThat(plan.sizesOf(Measure.LATENCY)).isEqualTo(plan.sizesOf(Measure.THROUGHPUT));
        assertThat(protocol("--measures", "latency", "--sizes", "2").sizesOf(Measure.LATENCY)).containsExactly(2);
    }

    @Test
    void defaultSizesLargerThanTheModelAreLeftOut() throws IOException {
        assertThat(protocol("--model-size", "1m").sizesOf(Measure.THROUGHPUT)).endsWith(1 << 20);
    }

    @Test
    void commaWithinAggregatorOptionsDoesNotSeparateAggregators() throws IOException {
        assertThat(protocol("--aggregators", "null,mine:lr=0.1,beta=0.9,sgd:lr=0.1").aggregators())
            .containsExactly("null", "mine:lr=0.1,beta=0.9", "sgd:lr=0.1");
    }

    @Test
    void modelIsANameOrASizeWithAComputationTime() {
        assertThat(training("--model", "lstm").model().bytes()).isEqualTo(35_930_000);
        assertThat(training("--model", "GRU:10").model().computeMs()).hasValue(10);
        assertThat(training("--model", "4MB:2s").model().bytes()).isEqualTo(4_000_000);
        assertThat(training("--model", "4MB:2s").model().computeMs()).hasValue(2000);
    }

    @Test
    void followersEitherReadOrOnlyWait() {
        assertThat(training("--followers", "0,4,16:wait").followers()).extracting(Object::toString)
            .containsExactly("0", "4", "16:wait");
        assertThat(training("--followers", "16:wait").followers().getFirst().reads()).isFalse();
    }

    @Test
    void mappedAccessIsNotMeasuredWithDirect() {
        assertThat(training("--exchange", "direct,sync", "--through", "mount,mapped").cases()).hasSize(3);
    }

    @ParameterizedTest
    @CsvSource({
        "protocol,--sizes,6k,'--sizes 6144 must be a multiple of 4096, except for --measures latency alone'",
        "protocol,--sizes,0,must be from 1 byte to 8 MiB", "protocol,--sizes,9m,must be from 1 byte to 8 MiB",
        "protocol,--clients,0,must be from 1 to 4096", "protocol,--rounds,0,must be from 1 to 1000",
        "protocol,--duration,1ms,1ms must be from 10ms to 1h",
        "protocol,--model-size,4k,must be a multiple of 4096 of at least 1 MiB",
        "protocol,--datamover,rdma,must be one of",
        "protocol,--gradient-size,1048577k,--gradient-size 1073742848 must be at most 1 GiB",
        "protocol,--running,modeldisk://127.0.0.1:1/m,--running and --baseline must be given together",
        "mount,--binding,fast,must be one of kernel", "mount,--datamover,rdma,must be one of",
        "mount,--sizes,5000,must be a multiple of 4096", "mount,--sizes,5m,from 4096 to 4194304",
        "mount,--rounds,0,must be from 1 to 1000",
        "training,--model,Foo,'--model Foo must be a size or one of AlexNet, Inception-v3'",
        "training,--model,ResNet-50,needs the computation time of an iteration",
        "training,--followers,many,must be a number from 0 to 100",
        "training,--learners,65,must be from 1 to 64", "training,--exchange,fast,must be one of"})
    void optionOutsideItsRangeIsRefused(String benchmark, String option, String value, String words) {
        assertThatThrownBy(() -> {
            switch (benchmark) {
                case "protocol" -> protocol(option, value);
                case "training" -> training(option, value);
                // Only the binding kernel is on the class path of this test.
                default -> parse(new BenchMountCommand(), option, value, "--binding", "kernel").bench();
            }
        }).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(words);
    }

    @Test
    void mappedAccessIsRefusedIfDirectIsTheOnlyExchange() {
        assertThatThrownBy(() -> training("--exchange", "direct", "--through", "mapped"))
            .hasMessageContaining("direct has no buffers to map");
    }
}
