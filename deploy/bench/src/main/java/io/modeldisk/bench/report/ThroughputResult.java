package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;

/**
 * The throughput of one load in bytes per second, as the sum of both directions.
 *
 * @param aggregator the shard's aggregator
 * @param direction the direction of the data
 * @param requestBytes the size of a request
 * @param queueDepth the maximum number of requests in flight, in each direction
 * @param baseline the throughput over sockets without a protocol
 * @param baselineWithSgd the throughput over sockets if the server applies sgd; null for pulls and for other aggregators
 * @param protocol the throughput over the protocol, measured in alternation with the baseline
 * @param alone the throughput of one thread without a protocol, in memory if the datamover is shm, or to a file if the shard has
 *     a journal; null otherwise
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
    /** The ratio of the protocol to the socket baseline, for each run. */
    public Samples ratio() {
        return protocol.over(baseline);
    }

    /** The ratio of the protocol to the baseline of one thread, for each run; null without this baseline. */
    public Samples ratioToAlone() {
        return alone == null ? null : protocol.over(alone);
    }
}
