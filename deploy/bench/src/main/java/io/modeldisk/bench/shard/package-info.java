/** The shard under measurement: a child process with known weights, and its counters. */
package io.modeldisk.bench.shard;
