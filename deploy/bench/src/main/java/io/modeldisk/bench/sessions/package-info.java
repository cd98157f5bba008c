/**
 * The benchmark {@code bench sessions}: many sessions use one shard at the same time. The benchmark measures the throughput of
 * each session and the memory of the shard.
 */
package io.modeldisk.bench.sessions;
