/**
 * The benchmark {@code bench protocol}: one session, many clients, fully connected nodes, and many sessions. Clients, nodes and
 * the latency of one request are the micro-benchmarks of AR-gRPC (Biswas et al., "Accelerating TensorFlow with Adaptive
 * RDMA-based gRPC", HiPC 2018, section V.B).
 */
package io.modeldisk.bench.protocol;
