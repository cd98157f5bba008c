package io.modeldisk.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ByteCountTest {
    @ParameterizedTest
    @CsvSource({"4096, 4096", "0, 0", "12b, 12", "4k, 4096", "4K, 4096", "256KiB, 262144", "1m, 1048576",
        "8MiB, 8388608",
        "1.5k, 1536", "1g, 1073741824", "2TiB, 2199023255552", "4kB, 4000", "1.5 GB, 1500000000", "' 64k ', 65536"})
    void unitsOfOneLetterOrWithAnIArePowersOf1024AndThoseInBOf1000(String text, long bytes) {
        assertThat(ByteCount.parse(text).bytes()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "4x", "4kk", "-1", "4,5k", ".5k", "0x10", "1e3", "4 4"})
    void whatIsNoSizeIsNamed(String text) {
        assertThatThrownBy(() -> ByteCount.parse(text)).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("'" + text + "' is no size; it would look like 4096, 64k, 256KiB, 1.5GB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.5", "1.0001k", "9000000t", "99999999999999999999"})
    void partsOfAByteAndMoreThanCanBeAreRefused(String text) {
        assertThatThrownBy(() -> ByteCount.parse(text)).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("'" + text + "' is no whole number of bytes, or too many");
    }

    @Test
    void whatIsShownHasTheLargestUnitThatFits() {
        assertThat(ByteCount.format(1023)).isEqualTo("1023 B");
        assertThat(ByteCount.format(256 << 10)).isEqualTo("256 KiB");
        assertThat(ByteCount.format(1536)).isEqualTo("1.50 KiB");
        assertThat(ByteCount.format(3L << 40)).isEqualTo("3 TiB");
    }
}
