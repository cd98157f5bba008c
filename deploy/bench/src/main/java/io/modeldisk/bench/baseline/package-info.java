/**
 * The baselines of {@code bench protocol} without gRPC. Each baseline moves the same data as the measured session, but without
 * iSCSI. The socket baseline uses blocking sockets with the same options as the sockets of a shard. The memory baseline copies or
 * aggregates with one thread.
 */
package io.modeldisk.bench.baseline;
