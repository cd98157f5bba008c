/** The shard that a benchmark measures: a child process with known weights and with counters. */
package io.modeldisk.bench.shard;
