/** An aggregator on memory alone, beside a loop in C and a copy: no network, no shard. */
package io.modeldisk.bench.aggregator;
