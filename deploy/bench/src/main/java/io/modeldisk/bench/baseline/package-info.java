/**
 * The baselines of {@code bench protocol}. They move the same data without iSCSI. The socket baseline uses blocking sockets with
 * the same options as a shard. The memory baseline copies or aggregates with one thread.
 */
package io.modeldisk.bench.baseline;
