package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.knowm.xchart.CategoryChart;

/**
 * The result of {@code bench protocol}.
 *
 * @param modelBytes the size of the shard's model
 * @param throughput the throughput of each load; may be empty
 * @param latency the latency of each request size; may be empty
 */
public record ProtocolReport(long modelBytes, List<ThroughputResult> throughput, List<LatencyResult> latency)
    implements
        Report {
    @Override
    public String benchmark() {
        return "protocol";
    }

    @Override
    public String text() {
        return ProtocolText.of(this);
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("modelBytes", modelBytes);
        throughput.forEach(result -> root.withArray("throughput").add(json(result)));
        latency.forEach(result -> root.withArray("latency").add(json(result)));
    }

    private static ObjectNode json(ThroughputResult result) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("aggregator", result.aggregator())
            .put("direction", result.direction().label()).put("requestBytes", result.requestBytes())
            .put("queueDepth", result.queueDepth());
        ReportFiles.put(node, "baselineBytesPerSecond", result.baseline());
        if (result.baselineWithSgd() != null) {
            ReportFiles.put(node, "baselineWithSgdBytesPerSecond", result.baselineWithSgd());
        }
        ReportFiles.put(node, "protocolBytesPerSecond", result.protocol());
        ReportFiles.put(node, "ratio", result.ratio());
        if (result.alone() != null) {
            ReportFiles.put(node, "aloneBytesPerSecond", result.alone());
            ReportFiles.put(node, "ratioToAlone", result.ratioToAlone());
        }
        return node;
    }

    private static ObjectNode json(LatencyResult result) {
        ObjectNode node = JsonNodeFactory.instance.objectNode().put("direction", result.direction().label())
            .put("requestBytes", result.requestBytes());
        ReportFiles.putMicroseconds(node, "baselineMicroseconds", result.baseline());
        ReportFiles.putMicroseconds(node, "protocolMicroseconds", result.protocol());
        return node;
    }

    @Override
    public List<List<CategoryChart>> charts() {
        return ProtocolCharts.of(this);
    }
}
