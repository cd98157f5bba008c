package io.modeldisk.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.modeldisk.bench.load.Direction;
import java.util.Arrays;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

final class ProtocolTextTest {
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
    void latencyTableShowsMicrosecondsAndTheDifferenceToTheBaseline() {
        assertThat(ProtocolText.latency(latencies(4096)).lines().skip(1).findFirst().orElseThrow())
            .matches("push +4 KiB +20\\.0 +20\\.0 +20\\.0 +50\\.0 +50\\.0 +50\\.0 +30\\.\\d");
    }

    @Test
    void latencyOfARequestBelowALogicalBlockHasAFootnote() {
        assertThat(ProtocolText.latency(latencies(512, 4096))).contains("512 B *", "4 KiB  ", FOOTNOTE)
            .doesNotContain("4 KiB *");
    }

    @Test
    void latencyOfWholeLogicalBlocksHasNoFootnote() {
        assertThat(ProtocolText.latency(latencies(4096, 8192))).doesNotContain(FOOTNOTE, "*");
    }

    private static ThroughputResult throughput(Samples alone) {
        return new ThroughputResult("sgd:lr=0.1 over shm", Direction.PUSH, 4096, 32, Samples.of(4e9, 5e9), null,
            Samples.of(16e9, 20e9), alone);
    }

    @Test
    void throughputOverShmIsComparedWithTheMemoryBaseline() {
        List<String> lines = ProtocolText.throughput(List.of(throughput(Samples.of(20e9, 40e9)))).lines().toList();
        assertThat(lines.get(0)).endsWith("one thread GB/s  protocol / one thread");
        assertThat(lines.get(1))
            .matches("sgd:lr=0.1 over shm  push +4 KiB +32 +4\\.50 +18\\.00 +4\\.00 \\(4\\.00-4\\.00\\)"
                + " +30\\.00 +0\\.65 \\(0\\.50-0\\.80\\)");
    }

    @Test
    void throughputOverTcpIsNotComparedWithTheMemoryBaseline() {
        assertThat(ProtocolText.throughput(List.of(throughput(null)))).doesNotContain("one thread");
    }
}
