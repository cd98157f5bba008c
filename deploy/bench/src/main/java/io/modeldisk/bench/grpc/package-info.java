/**
 * The gRPC baseline of {@code bench micro}: a plain service that moves the same payloads. No other package uses gRPC.
 */
package io.modeldisk.bench.grpc;
