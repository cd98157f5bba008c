package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;

/**
 * What was moved in a second: bytes, of both directions together.
 *
 * @param aggregator the shard's aggregator
 * @param direction which way data went
 * @param requestBytes the size of a request
 * @param queueDepth how many requests were under way at most, each way
 * @param baseline over bare sockets
 * @param baselineWithSgd the same with sgd on each buffer; null if the aggregator does no such work
 * @param protocol over the protocol, each run beside one over bare sockets
 * @param alone the shard's work alone, by one thread in its own memory; null if data does not go through shared memory
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
    /** How much of the baseline's throughput the protocol reaches, pair by pair. */
    public Samples ratio() {
        return protocol.over(baseline);
    }

    /** How much of the throughput of the shard's work alone the protocol reaches, turn by turn; null if there is none. */
    public Samples ratioToAlone() {
        return alone == null ? null : protocol.over(alone);
    }
}
