/** Tests of the gRPC baseline. */
package io.modeldisk.bench.grpc;
