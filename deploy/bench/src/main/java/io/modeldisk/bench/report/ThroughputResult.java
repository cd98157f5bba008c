package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;

/**
 * Throughput in bytes per second, sum of both directions.
 *
 * @param aggregator the shard's aggregator
 * @param direction the direction of the data
 * @param requestBytes the size of a request
 * @param queueDepth the maximum number of requests in flight, each direction
 * @param baseline over sockets without protocol
 * @param baselineWithSgd the same with sgd on each buffer; null if the aggregator is not sgd
 * @param protocol over the protocol, in turn with the baseline
 * @param alone the shard's work alone, by one thread in its own memory; null without shared memory
 */
public record ThroughputResult(
    String aggregator,
    Direction direction,
    int requestBytes,
    int queueDepth,
    Samples baseline,
    Samples baselineWithSgd,
    Samples protocol,
    Samples alone) {
    /** The ratio of the protocol to the baseline, run by run. */
    public Samples ratio() {
        return protocol.over(baseline);
    }

    /** The ratio of the protocol to the shard's work alone, run by run; null without the latter. */
    public Samples ratioToAlone() {
        return alone == null ? null : protocol.over(alone);
    }
}
