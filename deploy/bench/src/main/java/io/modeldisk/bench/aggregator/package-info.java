/**
 * The benchmark {@code bench aggregator}. The benchmark compares an aggregator in memory with a loop in C and with memcpy, or on
 * a GPU with the copies of the GPU. The benchmark needs no network and no shard.
 */
package io.modeldisk.bench.aggregator;
