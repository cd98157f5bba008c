package io.modeldisk.bench.report;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The result of {@code bench aggregator}. Throughputs are in bytes of gradient per second on one core.
 *
 * @param name the name of the aggregator
 * @param aggregator the throughput of the aggregator
 * @param loopName the name of the loop in C
 * @param cLoop the throughput of the loop in C
 * @param memcpy the throughput of a copy of the same number of bytes
 */
public record AggregatorReport(
    String name, String loopName, Samples aggregator, Samples cLoop, Samples memcpy) implements Report {
    @Override
    public String benchmark() {
        return "aggregator";
    }

    @Override
    public String text() {
        return new Table(1, "", "GB/s", "ratio of " + name + " to this")
            .row(name, Units.throughput(aggregator.median()), "")
            .row(loopName + ", a loop in C", Units.throughput(cLoop.median()), Units.ratio(aggregator.over(cLoop)))
            .row("memcpy", Units.throughput(memcpy.median()), Units.ratio(aggregator.over(memcpy)))
            .toString();
    }

    @Override
    public void addTo(ObjectNode root) {
        root.put("aggregator", name);
        root.put("cLoop", loopName);
        ReportFiles.put(root, "aggregatorBytesPerSecond", aggregator);
        ReportFiles.put(root, "cLoopBytesPerSecond", cLoop);
        ReportFiles.put(root, "memcpyBytesPerSecond", memcpy);
    }
}
