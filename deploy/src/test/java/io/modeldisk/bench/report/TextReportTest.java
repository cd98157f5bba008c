package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.load.Direction;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

final class TextReportTest {
    private static final String FOOTNOTE = "less than 4 KiB";

    private static List<LatencyResult> latencies(int... requestBytes) {
        return Arrays.stream(requestBytes)
            .mapToObj(bytes -> new LatencyResult(Direction.PUSH, bytes, nanos(20_000), nanos(50_000))).toList();
    }

    private static Histogram nanos(long value) {
        Histogram histogram = new Histogram(3);
        histogram.recordValue(value);
        return histogram;
    }

    @Test
    void latencyIsInMicrosecondsWithWhatTheProtocolAdds() {
        assertThat(TextReport.latency(latencies(4096)).lines().skip(1).findFirst().orElseThrow())
            .matches("push +4 KiB +20\\.0 +20\\.0 +20\\.0 +50\\.0 +50\\.0 +50\\.0 +30\\.\\d");
    }

    @Test
    void aFootnoteTellsWhatARequestOfLessThanALogicalBlockMoves() {
        assertThat(TextReport.latency(latencies(512, 4096))).contains("512 B *", "4 KiB  ", FOOTNOTE)
            .doesNotContain("4 KiB *");
    }

    @Test
    void withoutSuchARequestThereIsNoFootnote() {
        assertThat(TextReport.latency(latencies(4096, 8192))).doesNotContain(FOOTNOTE, "*");
    }
}
