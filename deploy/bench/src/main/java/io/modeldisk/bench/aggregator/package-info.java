/** {@code bench aggregator}: an aggregator in memory, in turn with a loop in C and a copy; no network and no shard. */
package io.modeldisk.bench.aggregator;
