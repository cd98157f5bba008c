/**
 * The baselines of the benchmarks. Each baseline of {@code bench protocol} moves the same data as the measured session, but
 * without iSCSI. The socket baseline uses blocking sockets with the same options as the sockets of a shard. The memory baseline
 * copies or aggregates with one thread. Other benchmarks compare with a program in C.
 */
package io.modeldisk.bench.baseline;
