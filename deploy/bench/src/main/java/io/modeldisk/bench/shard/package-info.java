/** The shard that is measured: a process of its own, filled with weights that are known, and asked what it has counted. */
package io.modeldisk.bench.shard;
