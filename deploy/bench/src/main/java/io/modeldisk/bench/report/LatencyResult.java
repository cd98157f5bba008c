package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import org.HdrHistogram.Histogram;

/**
 * The latencies of one request at a time, in nanoseconds. For requests smaller than a logical block, a push moves the whole
 * block, and a pull moves only the requested part.
 *
 * @param direction push or pull
 * @param requestBytes the size of a request
 * @param baseline the latencies over a socket without a protocol
 * @param protocol the latencies over the protocol
 */
public record LatencyResult(Direction direction, int requestBytes, Histogram baseline, Histogram protocol) {}
