/**
 * The benchmark {@code bench aggregator}. It compares an aggregator in host memory with a loop in C and with memcpy, or an
 * aggregator on a GPU with the GPU's own copies. It needs no network and no shard.
 */
package io.modeldisk.bench.aggregator;
