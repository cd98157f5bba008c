package io.modeldisk.bench.baseline;

import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.protocol.datamover.tcp.TcpSocketOptions;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;

/**
 * The client of the baseline, which moves data over a blocking socket without a protocol. Only the socket buffers limit the
 * number of requests in flight. The client uses its buffers in turn. It has at least as many buffers as the queue depth of the
 * load. Not thread-safe.
 */
public final class BaselineClient implements Requester {
    private final SocketChannel channel;
    private final long modelBytes;
    private final DataMemory gradients;
    private final DataMemory weights;

    private BaselineClient(SocketChannel channel, long modelBytes, long bufferBytes, long gradientBytes) {
        this.channel = channel;
        this.modelBytes = modelBytes;
        this.gradients = DataMemory.allocate(Math.max(bufferBytes, gradientBytes));
        this.weights = DataMemory.allocate(bufferBytes);
    }

    /**
     * Connects to a {@link BaselineServer}.
     *
     * @param modelBytes the size of the model that the server allocates for this client, a multiple of 4096
     * @param bufferBytes the size of the memory for the requests in flight, in each direction
     * @param gradientBytes the size of the gradient; at least {@code bufferBytes} are allocated
     */
    public static BaselineClient connect(
        InetSocketAddress portal, long modelBytes, long bufferBytes, long gradientBytes) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.connect(portal);
            TcpSocketOptions.apply(channel);
            BaselineRequest.writeAll(channel, ByteBuffer.allocateDirect(Long.BYTES).putLong(modelBytes).flip());
            return new BaselineClient(channel, modelBytes, bufferBytes, gradientBytes);
        } catch (IOException e) {
            channel.close();
            throw new IOException("the connection to the baseline server at " + portal.getHostString() + ":"
                + portal.getPort()
                + " failed: " + e.getMessage() + "; start `modeldisk bench baseline` on that machine", e);
        }
    }

    /**
     * Moves the data of a load. Returns the time in nanoseconds until the receiver has all data.
     *
     * @param aggregates whether the server applies each received buffer to the model with sgd, while the buffer is in the
     *     processor's cache
     */
    public long move(Load load, boolean aggregates) throws IOException {
        long begun = System.nanoTime();
        new BaselineRequest(load.direction(), false, aggregates, load.requestBytes(), load.requests()).send(channel);
        List<Callable<Void>> tasks = new ArrayList<>();
        if (load.direction().pushes()) {
            tasks.add(() -> push(load));
        }
        if (load.direction().pulls()) {
            tasks.add(() -> pull(load));
        }
        ClosedLoop.together(tasks);
        if (load.direction().pushes()) {
            checkReceived(load);
        }
        long nanos = System.nanoTime() - begun;
        if (load.direction().pulls()) {
            Pattern.check(weights, lastBuffer(load), lastOffset(load), load.requestBytes());
        }
        return nanos;
    }

    private Void push(Load load) throws IOException {
        long bytes = Math.max(buffersBytes(load), (long) load.pushBuffers() * load.requestBytes());
        BufferWalk buffers = new BufferWalk(gradients, bytes, load.requestBytes());
        for (long i = 0; i < load.requests(); i++) {
            BaselineRequest.writeAll(channel, buffers.next());
        }
        return null;
    }

    private Void pull(Load load) throws IOException {
        BufferWalk buffers = new BufferWalk(weights, buffersBytes(load), load.requestBytes());
        for (long i = 0; i < load.requests(); i++) {
            BaselineRequest.readAll(channel, buffers.next());
        }
        return null;
    }

    /**
     * Returns the model offset of the last request. The offsets ascend from 0, and start again at 0 after the end of the model.
     */
    private long lastOffset(Load load) {
        return (load.requests() - 1) % (modelBytes / load.requestBytes()) * load.requestBytes();
    }

    private static long buffersBytes(Load load) {
        return (long) load.queueDepth() * load.direction().ways() * load.requestBytes();
    }

    /** Returns the offset of the last request's buffer in the memory for pulled weights. */
    private static long lastBuffer(Load load) {
        return (load.requests() - 1) % (load.queueDepth() * load.direction().ways()) * load.requestBytes();
    }

    private void checkReceived(Load load) throws IOException {
        ByteBuffer count = ByteBuffer.allocateDirect(Long.BYTES);
        BaselineRequest.readAll(channel, count);
        long received = count.flip().getLong();
        long pushed = load.requests() * load.requestBytes();
        if (received != pushed) {
            throw new IOException("the baseline server received " + received + " of " + pushed + " pushed bytes");
        }
    }

    @Override
    public void pingPong(Direction direction, int requestBytes, long requests, Histogram nanoseconds)
        throws IOException {
        boolean push = direction.pushes();
        new BaselineRequest(direction, true, false, requestBytes, requests).send(channel);
        ByteBuffer message = ByteBuffer.allocateDirect(BaselineRequest.SHORT_MESSAGE_BYTES);
        ByteBuffer data = (push ? gradients : weights).newViews()[0];
        for (long i = 0; i < requests; i++) {
            long begun = System.nanoTime();
            BaselineRequest.writeAll(channel, push ? data.clear().limit(requestBytes) : message.clear());
            BaselineRequest.readAll(channel, push ? message.clear() : data.clear().limit(requestBytes));
            nanoseconds.recordValue(System.nanoTime() - begun);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        gradients.close();
        weights.close();
    }
}
