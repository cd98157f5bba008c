/**
 * The baselines of {@code bench protocol} that do not use gRPC. Each baseline moves the same data as the session with which it is
 * compared, but without iSCSI. The socket baseline uses blocking sockets with the same options as the sockets of a shard. The
 * memory baseline copies or aggregates with one thread.
 */
package io.modeldisk.bench.baseline;
