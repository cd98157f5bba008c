package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** What a benchmark found, with every figure that was measured, for programs. */
public final class JsonReport {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final double MICRO = 1e3;

    private JsonReport() {}

    /** Writes a file. */
    public static void write(ProtocolReport report, Path file) throws IOException {
        ObjectNode root = JSON.createObjectNode();
        root.put("benchmark", "protocol").put("at", Instant.now().toString()).put("modelBytes", report.modelBytes());
        root.set("machine", machine());
        report.throughput().forEach(result -> root.withArray("throughput").add(throughput(result)));
        report.latency().forEach(result -> root.withArray("latency").add(latency(result)));
        JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
    }

    /** Writes a file. */
    public static void write(SessionsReport report, Path file) throws IOException {
        ObjectNode root = JSON.createObjectNode();
        root.put("benchmark", "sessions").put("at", Instant.now().toString()).put("seconds", report.seconds());
        root.set("machine", machine());
        root.put("stoppedReaders", report.stoppedReaders()).put("busy", report.busy())
            .put("taskSetFull", report.taskSetFull()).put("medianOverSlowest", report.unfairness());
        report.movedBytes().forEach(bytes -> root.withArray("movedBytes").add(bytes));
        report.longestNanos().forEach(nanos -> root.withArray("longestMicroseconds").add(nanos / MICRO));
        report.failures().forEach(failure -> root.withArray("failures").add(failure));
        report.samples().forEach(sample -> root.withArray("shardResidentBytes").add(sample.residentBytes()));
        JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
    }

    /** Writes a file. */
    public static void write(MicroReport report, Path file) throws IOException {
        ObjectNode root = JSON.createObjectNode();
        root.put("benchmark", "micro").put("at", Instant.now().toString()).put("modelBytes", report.modelBytes());
        root.set("machine", machine());
        report.ways().forEach(way -> root.withArray("ways").add(way));
        for (MicroReport.Latency latency : report.latency()) {
            ObjectNode node = JSON.createObjectNode().put("over", latency.over())
                .put("direction", MicroText.name(latency.direction())).put("requestBytes", latency.requestBytes());
            put(node.putObject("microseconds"), latency.nanoseconds());
            root.withArray("latency").add(node);
        }
        report.fanIn().forEach(rate -> root.withArray("fanIn").add(rate(rate, "clients")));
        report.mesh().forEach(rate -> root.withArray("mesh").add(rate(rate, "nodes")));
        report.notes().forEach(note -> root.withArray("notes").add(note));
        JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), root);
    }

    private static ObjectNode rate(MicroReport.Rate rate, String parties) {
        ObjectNode node = JSON.createObjectNode().put("over", rate.over())
            .put("direction", MicroText.name(rate.direction())).put(parties, rate.parties())
            .put("requestBytes", rate.requestBytes());
        put(node, "requestsPerSecond", rate.requestsPerSecond());
        return node.put("p50Microseconds", rate.p50Micros()).put("p99Microseconds", rate.p99Micros());
    }

    private static ObjectNode machine() {
        return JSON.createObjectNode().put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"))
            .put("architecture", System.getProperty("os.arch"))
            .put("processors", Runtime.getRuntime().availableProcessors())
            .put("java", System.getProperty("java.vm.version"));
    }

    private static ObjectNode throughput(ThroughputResult result) {
        ObjectNode node = JSON.createObjectNode().put("aggregator", result.aggregator())
            .put("direction", name(result)).put("requestBytes", result.requestBytes())
            .put("queueDepth", result.queueDepth());
        put(node, "baselineBytesPerSecond", result.baseline());
        if (result.baselineWithSgd() != null) {
            put(node, "baselineWithSgdBytesPerSecond", result.baselineWithSgd());
        }
        put(node, "protocolBytesPerSecond", result.protocol());
        put(node, "ratio", result.ratio());
        if (result.alone() != null) {
            put(node, "aloneBytesPerSecond", result.alone());
            put(node, "ratioToAlone", result.ratioToAlone());
        }
        return node;
    }

    private static String name(ThroughputResult result) {
        return result.direction().name().toLowerCase(Locale.ROOT);
    }

    private static void put(ObjectNode node, String name, Samples samples) {
        ObjectNode figures = node.putObject(name).put("median", samples.median()).put("min", samples.min())
            .put("max", samples.max());
        for (double value : samples.values()) {
            figures.withArray("runs").add(value);
        }
    }

    private static ObjectNode latency(LatencyResult result) {
        ObjectNode node = JSON.createObjectNode().put("direction", result.direction().name().toLowerCase(Locale.ROOT))
            .put("requestBytes", result.requestBytes());
        put(node.putObject("baselineMicroseconds"), result.baseline());
        put(node.putObject("protocolMicroseconds"), result.protocol());
        return node;
    }

    private static void put(ObjectNode node, Histogram nanoseconds) {
        node.put("requests", nanoseconds.getTotalCount()).put("min", nanoseconds.getMinValue() / MICRO)
            .put("p50", nanoseconds.getValueAtPercentile(50) / MICRO)
            .put("p90", nanoseconds.getValueAtPercentile(90) / MICRO)
            .put("p99", nanoseconds.getValueAtPercentile(99) / MICRO)
            .put("p99.9", nanoseconds.getValueAtPercentile(99.9) / MICRO)
            .put("max", nanoseconds.getMaxValue() / MICRO);
    }
}
