package io.modeldisk.bench.report;

import io.modeldisk.bench.load.Direction;
import org.HdrHistogram.Histogram;

/**
 * How long a request takes when it is the only one, in nanoseconds. A pull of less than a logical block reads one and takes that
 * much of it; a push of less pushes a whole one.
 *
 * @param direction push or pull
 * @param requestBytes the size of a request
 * @param baseline over a bare socket
 * @param protocol over the protocol
 */
public record LatencyResult(Direction direction, int requestBytes, Histogram baseline, Histogram protocol) {}
