package io.modeldisk.bench.grpc;

import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.modeldisk.bench.grpc.Methods.Range;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * A plain parameter server over gRPC. A pull returns a range of the weights. A push is dropped, as by the aggregator
 * {@code null}. The gRPC library calls the methods on its threads and copies the weights of each pull once.
 */
public final class GrpcServer implements AutoCloseable {
    private static final long END_SECONDS = 5;

    private final Server server;

    private GrpcServer(Server server) {
        this.server = server;
    }

    /**
     * Starts a server with the weights of {@link Pattern}.
     *
     * @param modelBytes the size of the weights, which are on the heap; a multiple of 4096
     * @throws IOException if the server cannot listen on the address
     */
    public static GrpcServer open(InetSocketAddress listen, long modelBytes) throws IOException {
        NettyServerBuilder builder = NettyServerBuilder.forAddress(listen).directExecutor()
            .maxInboundMessageSize(Methods.MAX_MESSAGE_BYTES).addService(shard(weights(Math.toIntExact(modelBytes))));
        try {
            return new GrpcServer(builder.build().start());
        } catch (IOException e) {
            throw new IOException("the gRPC server cannot listen on " + listen.getHostString() + ":" + listen.getPort()
                + ": " + e.getMessage(), e);
        }
    }

    private static byte[] weights(int bytes) {
        byte[] weights = new byte[bytes];
        ByteBuffer floats = ByteBuffer.wrap(weights).order(ByteOrder.nativeOrder());
        while (floats.hasRemaining()) {
            floats.putFloat(floats.position() / LogicalBlock.BYTES);
        }
        return weights;
    }

    private static ServerServiceDefinition shard(byte[] weights) {
        // The benchmark compares gRPC with a shard that drops gradients, so this server does not read the gradient.
        MethodDescriptor<Integer, Integer> push = Methods.push(Payload.receiving(_ -> {}));
        MethodDescriptor<Range, Payload> pull = Methods.pull(Payload.SENDING);
        return ServerServiceDefinition.builder(Methods.SERVICE)
            .addMethod(push, ServerCalls.asyncUnaryCall(GrpcServer::answer))
            .addMethod(pull, ServerCalls.asyncUnaryCall((range, answer) -> answer(weights, range, answer)))
            .build();
    }

    private static void answer(byte[] weights, Range range, StreamObserver<Payload> answer) {
        if (range.length() < 1 || range.offset() < 0 || range.offset() > weights.length - range.length()) {
            answer.onError(Status.OUT_OF_RANGE.withDescription(range + " is outside the model of " + weights.length
                + " bytes")
                .asRuntimeException());
            return;
        }
        answer(new Payload(weights, (int) range.offset(), range.length()), answer);
    }

    private static <T> void answer(T value, StreamObserver<T> answer) {
        answer.onNext(value);
        answer.onCompleted();
    }

    /** The address that the server listens on. */
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) server.getListenSockets().getFirst();
    }

    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
