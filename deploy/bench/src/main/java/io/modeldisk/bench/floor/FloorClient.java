package io.modeldisk.bench.floor;

import io.modeldisk.bench.load.Direction;
import io.modeldisk.bench.load.Load;
import io.modeldisk.bench.load.Mover;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.bench.load.Requester;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.HdrHistogram.Histogram;

/**
 * The learner's end of the floor. Nothing bounds how many requests are under way but the sockets; the queue depth says how many
 * buffers are gone round, as those of the protocol's requests are.
 */
public final class FloorClient implements Mover, Requester {
    private final SocketChannel channel;
    private final long modelBytes;
    private final DataMemory gradients;
    private final DataMemory weights;

    private FloorClient(SocketChannel channel, long modelBytes, long bufferBytes, long gradientBytes) {
        this.channel = channel;
        this.modelBytes = modelBytes;
        this.gradients = DataMemory.allocate(Math.max(bufferBytes, gradientBytes));
        this.weights = DataMemory.allocate(bufferBytes);
    }

    /**
     * Connects.
     *
     * @param bufferBytes for the requests under way, each way
     * @param gradientBytes how much memory pushes come from, if that is more
     */
    public static FloorClient connect(InetSocketAddress portal, long bufferBytes, long gradientBytes)
        throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.connect(portal);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            ByteBuffer modelBytes = ByteBuffer.allocateDirect(Long.BYTES);
            FloorRequest.readAll(channel, modelBytes);
            return new FloorClient(channel, modelBytes.getLong(0), bufferBytes, gradientBytes);
        } catch (IOException e) {
            channel.close();
            throw new IOException("the floor's other end at " + portal.getHostString() + ":" + portal.getPort()
                + " does not answer: " + e.getMessage() + "; is `modeldisk bench floor` running there?", e);
        }
    }

    /** The same floor, whose other end folds each buffer into its weights while that is in the cache, as sgd does it. */
    public Mover withSgd() {
        return load -> move(load, true);
    }

    @Override
    public long move(Load load) throws IOException {
        return move(load, false);
    }

    private long move(Load load, boolean aggregates) throws IOException {
        long begun = System.nanoTime();
        new FloorRequest(load.direction(), false, aggregates, load.requestBytes(), load.requests()).send(channel);
        FutureTask<Void> sender = null;
        if (load.direction() == Direction.BOTH) {
            sender = new FutureTask<>(() -> push(load));
            Thread.ofPlatform().daemon().name("floor-sender").start(sender);
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
            FloorRequest.writeAll(channel, buffers.next());
        }
        return null;
    }

    private void pull(Load load) throws IOException {
        BufferWalk buffers = new BufferWalk(weights, buffersBytes(load), load.requestBytes());
        for (long i = 0; i < load.requests(); i++) {
            FloorRequest.readAll(channel, buffers.next());
        }
    }

    /** Where the last request's weights are in the model, which is gone over from its beginning. */
    private long lastOffset(Load load) {
        return (load.requests() - 1) % (modelBytes / load.requestBytes()) * load.requestBytes();
    }

    private static long buffersBytes(Load load) {
        return (long) load.queueDepth() * load.direction().ways() * load.requestBytes();
    }

    /** Where the last request's buffer is. */
    private static long lastBuffer(Load load) {
        return (load.requests() - 1) % (load.queueDepth() * load.direction().ways()) * load.requestBytes();
    }

    private void checkReceived(Load load) throws IOException {
        ByteBuffer count = ByteBuffer.allocateDirect(Long.BYTES);
        FloorRequest.readAll(channel, count);
        long received = count.flip().getLong();
        if (received != load.requests() * load.requestBytes()) {
            throw new IOException("the floor's other end has got " + received + " bytes of " + load.bytes());
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
        new FloorRequest(direction, true, false, requestBytes, requests).send(channel);
        ByteBuffer message = ByteBuffer.allocateDirect(FloorRequest.SHORT_MESSAGE_BYTES);
        ByteBuffer data = (push ? gradients : weights).newViews()[0];
        for (long i = 0; i < requests; i++) {
            long begun = System.nanoTime();
            FloorRequest.writeAll(channel, push ? data.clear().limit(requestBytes) : message.clear());
            FloorRequest.readAll(channel, push ? message.clear() : data.clear().limit(requestBytes));
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
