/**
 * The gRPC baseline of {@code bench protocol}: a plain service that moves the same data as a shard. No other package uses the
 * gRPC library.
 */
package io.modeldisk.bench.grpc;
