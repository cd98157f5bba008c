/** What stands beside a shard. */
package io.modeldisk.bench.baseline;
