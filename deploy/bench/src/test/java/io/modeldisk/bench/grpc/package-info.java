/** Tests of the gRPC service that is measured beside the protocol. */
package io.modeldisk.bench.grpc;
