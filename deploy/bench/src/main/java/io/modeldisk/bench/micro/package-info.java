/**
 * The three micro-benchmarks of AR-gRPC (Biswas et al., "Accelerating TensorFlow with Adaptive RDMA-based gRPC", HiPC 2018,
 * section V.B): point-to-point latency, one server with many clients, and a full mesh. The measurements of each benchmark
 * alternate with measurements of plain gRPC.
 */
package io.modeldisk.bench.micro;
