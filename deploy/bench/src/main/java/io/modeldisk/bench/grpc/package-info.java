/**
 * A plain gRPC service that moves the same payloads: what modeldisk is measured beside. Nothing else of modeldisk knows gRPC.
 */
package io.modeldisk.bench.grpc;
