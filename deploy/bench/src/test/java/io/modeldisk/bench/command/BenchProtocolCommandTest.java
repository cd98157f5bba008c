package io.modeldisk.bench.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.modeldisk.command.Converters;
import io.modeldisk.platform.units.ByteSize;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class BenchProtocolCommandTest {
    private static BenchProtocolCommand parse(String... arguments) {
        BenchProtocolCommand command = new BenchProtocolCommand();
        Converters.register(new CommandLine(command))
            .setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments);
        return command;
    }

    @Test
    void sizeOptionsAcceptListsWithUnits() {
        assertThat(parse("--sizes", "4k,256KiB,8m").requestBytes()).containsExactly(4096, 262_144, 8_388_608);
        assertThat(parse("--latency-sizes", "2,64,4k").latencyBytes()).containsExactly(2, 64, 4096);
    }

    @Test
    void defaultRequestSizesEndAt4MiBForThroughputAnd8MiBForLatency() {
        assertThat(parse().requestBytes()).startsWith(4096).endsWith(4 << 20);
        assertThat(parse().latencyBytes()).startsWith(2).endsWith(8 << 20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "2048", "6k", "4097", "8196k", "16m"})
    void requestSizeForThroughputMustBeAMultipleOfALogicalBlockUpTo8MiB(String size) {
        BenchProtocolCommand command = parse("--sizes", "4k," + size);
        assertThatThrownBy(command::requestBytes).isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("--sizes " + ByteSize.parse(size).bytes() + " must be a positive multiple of 4096");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "8388609"})
    void requestSizeForLatencyMustBeFromOneByteTo8MiB(String size) {
        BenchProtocolCommand command = parse("--latency-sizes", size);
        assertThatThrownBy(command::latencyBytes).isInstanceOf(IllegalArgumentException.class)
            .hasMessageStartingWith("--latency-sizes " + size + " must be from 1 byte to 8 MiB");
    }

    @Test
    void requestLargerThanTheModelIsRefused() {
        BenchProtocolCommand command = parse("--sizes", "1m", "--latency-sizes", "1m", "--model-size", "512k");
        assertThatThrownBy(command::requestBytes).hasMessageContaining("at most the size of the model");
        assertThatThrownBy(command::latencyBytes).hasMessageContaining("at most the size of the model");
    }

    @Test
    void gradientSizeAbove1GiBIsRefused() {
        assertThat(parse().gradientBytes()).isZero();
        assertThat(parse("--gradient-size", "1GiB").gradientBytes()).isEqualTo(1L << 30);
        BenchProtocolCommand command = parse("--gradient-size", "1048577k");
        assertThatThrownBy(command::gradientBytes).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("--gradient-size 1073742848 must be at most 1 GiB");
    }

    @Test
    void commaWithinAggregatorOptionsDoesNotSeparateAggregators() {
        assertThat(parse("--aggregators", "null,mine:lr=0.1,beta=0.9,sgd:lr=0.1").aggregatorList())
            .containsExactly("null", "mine:lr=0.1,beta=0.9", "sgd:lr=0.1");
        assertThat(parse().aggregatorList()).containsExactly("null", "sgd:lr=0.1");
    }
}
