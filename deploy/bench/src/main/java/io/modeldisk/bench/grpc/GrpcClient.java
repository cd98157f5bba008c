package io.modeldisk.bench.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.modeldisk.bench.grpc.Methods.Range;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Offsets;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.platform.threads.Interruption;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.scsi.LogicalBlock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * A learner that pushes to and pulls from a {@link GrpcServer} over its own connection. Pulled weights are copied to the memory
 * of the learner, since gRPC cannot receive data directly into that memory.
 */
public final class GrpcClient implements Requester {
    /** The name of gRPC in reports. */
    public static final String NAME = "gRPC";

    private static final long TIMEOUT_SECONDS = 60;

    private final ManagedChannel channel;
    private final long modelBytes;
    private final byte[] gradient;
    private final DataMemory weights;
    private final ByteBuffer landing;
    private final MethodDescriptor<Payload, Integer> push = Methods.push(Payload.SENDING);
    private final MethodDescriptor<Range, Integer> pull;

    /**
     * Creates a client, which connects at its first request.
     *
     * @param modelBytes the size of the server's weights
     * @param bufferBytes the size of the largest request
     */
    public GrpcClient(InetSocketAddress server, long modelBytes, int bufferBytes) {
        this.channel = NettyChannelBuilder.forAddress(server).usePlaintext().directExecutor()
            .maxInboundMessageSize(Methods.MAX_MESSAGE_BYTES).build();
        this.modelBytes = modelBytes;
        this.gradient = new byte[bufferBytes];
        this.weights = DataMemory.allocate(bufferBytes);
        this.landing = weights.newViews()[0];
        this.pull = Methods.pull(Payload.receiving(landing::put));
    }

    @Override
    public void pingPong(Direction direction, int requestBytes, long requests, Histogram nanoseconds)
        throws IOException {
        int stepBytes = (requestBytes + LogicalBlock.BYTES - 1) & -LogicalBlock.BYTES;
        Offsets walk = new Offsets(modelBytes, stepBytes, false);
        long offset = 0;
        for (long i = 0; i < requests; i++) {
            offset = walk.next();
            landing.clear();
            long begun = System.nanoTime();
            int moved = direction.pushes()
                ? call(push, new Payload(gradient, 0, requestBytes))
                : call(pull, new Range(offset, requestBytes));
            nanoseconds.recordValue(System.nanoTime() - begun);
            if (moved != requestBytes) {
                throw new IOException("a gRPC call transferred only " + moved + " of " + requestBytes + " bytes");
            }
        }
        if (direction.pulls()) {
            Pattern.check(weights, 0, offset, requestBytes);
        }
    }

    private <Q, A> A call(MethodDescriptor<Q, A> method, Q question) throws IOException {
        try {
            return ClientCalls.futureUnaryCall(channel.newCall(method, CallOptions.DEFAULT), question)
                .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw Interruption.whileIt("waited for a gRPC response");
        } catch (ExecutionException e) {
            Status status = Status.fromThrowable(e);
            throw new IOException("a gRPC call to " + channel.authority() + " failed: "
                + (status.getDescription() == null ? status.getCode() : status.getDescription()), e);
        } catch (TimeoutException e) {
            throw new IOException("the gRPC server " + channel.authority() + " sent no response within "
                + TIMEOUT_SECONDS + " s", e);
        }
    }

    @Override
    public void close() {
        channel.shutdownNow();
        try {
            // Until the channel has terminated, gRPC might still copy a response into the memory of the weights.
            if (channel.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                weights.close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
