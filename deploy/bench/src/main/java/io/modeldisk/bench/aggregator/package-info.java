/**
 * The benchmark {@code bench aggregator}. It measures an aggregator in memory, in turn with a loop in C and with a copy, and uses
 * no network and no shard.
 */
package io.modeldisk.bench.aggregator;
