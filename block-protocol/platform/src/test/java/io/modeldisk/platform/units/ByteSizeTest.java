package io.modeldisk.platform.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ByteSizeTest {
    @ParameterizedTest
    @CsvSource({"4096, 4096", "0, 0", "12b, 12", "4k, 4096", "4K, 4096", "256KiB, 262144", "1m, 1048576",
        "8MiB, 8388608",
        "1.5k, 1536", "1g, 1073741824", "2TiB, 2199023255552", "4kB, 4000", "1.5 GB, 1500000000", "' 64k ', 65536"})
    void unitKiBMeans1024BytesAndUnitKbMeans1000Bytes(String text, long bytes) {
        assertThat(ByteSize.parse(text).bytes()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "4x", "4kk", "-1", "4,5k", ".5k", "0x10", "1e3", "4 4"})
    void errorOfAMalformedSizeShowsValidExamples(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text)).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("'" + text + "' is not a size; write it like 4096, 64k, 256KiB, 1.5GB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.5", "1.0001k", "9000000t", "99999999999999999999"})
    void sizeMustBeAWholeNumberOfBytesBelow4EiB(String text) {
        assertThatThrownBy(() -> ByteSize.parse(text)).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the size '" + text + "' must be a whole number of bytes below 4 EiB");
    }

    @Test
    void sizeIsFormattedInTheLargestUnitNotAboveTheSize() {
        assertThat(ByteSize.format(1023)).isEqualTo("1023 B");
        assertThat(ByteSize.format(256 << 10)).isEqualTo("256 KiB");
        assertThat(ByteSize.format(1536)).isEqualTo("1.50 KiB");
        assertThat(ByteSize.format(3L << 40)).isEqualTo("3 TiB");
    }

    @Test
    void exactSizeIsFormattedInTheLargestUnitWithAWholeNumber() {
        assertThat(ByteSize.exact(0)).isEqualTo("0 B");
        assertThat(ByteSize.exact(3000)).isEqualTo("3000 B");
        assertThat(ByteSize.exact(300 << 10)).isEqualTo("300 KiB");
        assertThat(ByteSize.exact(1025 << 10)).isEqualTo("1025 KiB");
        assertThat(ByteSize.parse("2TiB")).hasToString("2 TiB");
    }
}
