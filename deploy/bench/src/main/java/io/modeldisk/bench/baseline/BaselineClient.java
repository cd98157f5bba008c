package io.modeldisk.bench.baseline;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Mover;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.protocol.datamover.tcp.TcpSocketOptions;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.HdrHistogram.Histogram;

/**
 * The learner's end of the baseline. Only the socket buffers limit how many requests are in flight; the queue depth is the number
 * of buffers that are used in turn, as by the protocol. Not thread-safe.
 */
public final class BaselineClient implements Mover, Requester {
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
     * Connects.
     *
     * @param bufferBytes memory for the requests in flight, each direction
     * @param gradientBytes memory that pushes are sent from, if that is more
     */
    public static BaselineClient connect(InetSocketAddress portal, long bufferBytes, long gradientBytes)
        throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.connect(portal);
            TcpSocketOptions.apply(channel);
            ByteBuffer modelBytes = ByteBuffer.allocateDirect(Long.BYTES);
            BaselineRequest.readAll(channel, modelBytes);
            return new BaselineClient(channel, modelBytes.getLong(0), bufferBytes, gradientBytes);
        } catch (IOException e) {
            channel.close();
            throw new IOException("cannot connect to the baseline at " + portal.getHostString() + ":" + portal.getPort()
                + ": " + e.getMessage() + "; start `modeldisk bench baseline` there", e);
        }
    }

    /** The same baseline, but the server folds each buffer into its weights, like sgd, while the buffer is in the cache. */
    public Mover withSgd() {
        return load -> move(load, true);
    }

    @Override
    public long move(Load load) throws IOException {
        return move(load, false);
    }

    private long move(Load load, boolean aggregates) throws IOException {
        long begun = System.nanoTime();
        new BaselineRequest(load.direction(), false, aggregates, load.requestBytes(), load.requests()).send(channel);
        FutureTask<Void> sender = null;
        if (load.direction() == Direction.BOTH) {
            sender = new FutureTask<>(() -> push(load));
            Thread.ofPlatform().daemon().name("baseline-sender").start(sender);
        } else if (load.direction() == Direction.PUSH) {
            push(load);
        }
        if (load.direction().pulls()) {
            pull(load);
        }
        if (sender != null) {
            await(sender);
        }
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

    private void pull(Load load) throws IOException {
        BufferWalk buffers = new BufferWalk(weights, buffersBytes(load), load.requestBytes());
        for (long i = 0; i < load.requests(); i++) {
            BaselineRequest.readAll(channel, buffers.next());
        }
    }

    /** The model offset of the last request; requests go through the model from its start. */
    private long lastOffset(Load load) {
        return (load.requests() - 1) % (modelBytes / load.requestBytes()) * load.requestBytes();
    }

    private static long buffersBytes(Load load) {
        return (long) load.queueDepth() * load.direction().ways() * load.requestBytes();
    }

    /** The offset of the last request's buffer. */
    private static long lastBuffer(Load load) {
        return (load.requests() - 1) % (load.queueDepth() * load.direction().ways()) * load.requestBytes();
    }

    private void checkReceived(Load load) throws IOException {
        ByteBuffer count = ByteBuffer.allocateDirect(Long.BYTES);
        BaselineRequest.readAll(channel, count);
        long received = count.flip().getLong();
        if (received != load.requests() * load.requestBytes()) {
            throw new IOException("the baseline received " + received + " of " + load.bytes() + " bytes");
        }
    }

    private static void await(FutureTask<Void> sender) throws IOException {
        try {
            sender.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
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
