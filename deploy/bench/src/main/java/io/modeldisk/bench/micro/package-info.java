/**
 * The three micro-benchmarks of AR-gRPC (Biswas et al., "Accelerating TensorFlow with Adaptive RDMA-based gRPC", HiPC 2018,
 * section V.B), each beside plain gRPC: latency from point to point, one server with many clients, everybody with everybody.
 */
package io.modeldisk.bench.micro;
