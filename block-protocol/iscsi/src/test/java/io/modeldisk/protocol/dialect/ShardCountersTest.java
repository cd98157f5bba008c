package io.modeldisk.protocol.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class ShardCountersTest {
    private static final ShardCounters COUNTERS = new ShardCounters(3, 5, 6, 2, true, false, 8);

    @Test
    void encodedCountersHaveTheBytesThatProtocolMdSpecifies() {
        assertThat(HexFormat.of().formatHex(COUNTERS.toBytes()))
            .isEqualTo("0000000000000003" + "0000000000000005" + "0000000000000006" + "00000002" + "00000001"
                + "0000000000000008");
    }

    @Test
    void additionalBytesOfACountersPageAreIgnored() throws IOException {
        assertThat(ShardCounters.fromBytes(Arrays.copyOf(COUNTERS.toBytes(), 100))).isEqualTo(COUNTERS);
    }

    @Test
    void countersOfAnOlderShardHaveNoHistory() throws IOException {
        assertThat(ShardCounters.fromBytes(Arrays.copyOf(COUNTERS.toBytes(), 32)))
            .isEqualTo(new ShardCounters(3, 5, 6, 2, true, false, 0));
    }

    @Test
    void countersPageThatIsTooShortIsRefused() {
        assertThatThrownBy(() -> ShardCounters.fromBytes(new byte[31])).isInstanceOf(IOException.class)
            .hasMessage("VPD page C2h has 31 bytes; it must have at least 32");
    }

    @Test
    void combinedCountersCoverTheBlocksOfBothShards() {
        assertThat(COUNTERS.and(new ShardCounters(1, 4, 9, 3, false, true, 9)))
            .isEqualTo(new ShardCounters(1, 5, 9, 3, false, true, 31 * 8 + 9));
    }
}
