package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import org.HdrHistogram.Histogram;

/**
 * The latency of one request at a time, in nanoseconds. A pull of less than a logical block reads one and keeps a part; such a
 * push moves a whole one.
 *
 * @param direction push or pull
 * @param requestBytes the size of a request
 * @param baseline over a socket without protocol
 * @param protocol over the protocol
 */
public record LatencyResult(Direction direction, int requestBytes, Histogram baseline, Histogram protocol) {}
