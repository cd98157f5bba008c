package io.modeldisk.bench.baseline;

import io.modeldisk.aggregator.FloatKernels;
import io.modeldisk.bench.load.ClosedLoop;
import io.modeldisk.bench.load.Offsets;
import io.modeldisk.bench.load.Pattern;
import io.modeldisk.protocol.datamover.tcp.TcpSocketOptions;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * The server of the baseline, which moves data over a blocking socket without a protocol. The server sends weights directly
 * from the model's memory, in ascending order of their offsets. All gradients are received into one buffer, which stays in the
 * processor's cache. The server serves one connection at a time.
 */
public final class BaselineServer implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(BaselineServer.class);
    private static final float LEARNING_RATE = 0.1f;

    private final ServerSocketChannel listener;
    private DataMemory model;

    private BaselineServer(ServerSocketChannel listener) {
        this.listener = listener;
    }

    /** Opens a server that listens on an address. {@link #run} serves its connections. */
    public static BaselineServer open(InetSocketAddress listen) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open();
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(listen);
        } catch (IOException e) {
            listener.close();
            throw new IOException("the baseline server cannot listen on " + listen.getHostString() + ":"
                + listen.getPort()
                + ": " + e.getMessage(), e);
        }
        return new BaselineServer(listener);
    }

    /** The address that the server listens on. */
    public InetSocketAddress localAddress() throws IOException {
        return (InetSocketAddress) listener.getLocalAddress();
    }

    /** Serves one connection after another until {@link #close} is called. */
    public void run() throws IOException {
        while (listener.isOpen()) {
            try (SocketChannel channel = listener.accept()) {
                TcpSocketOptions.apply(channel);
                serveQuietly(channel);
            } catch (ClosedChannelException e) {
                return;
            }
        }
    }

    /** Serves one connection. Logs a failure of the connection and throws no exception, so the next connection is served. */
    private void serveQuietly(SocketChannel channel) {
        try {
            serve(channel);
        } catch (IOException e) {
            LOG.warn("the baseline server lost a connection: {}", e.toString());
        }
    }

    private void serve(SocketChannel channel) throws IOException {
        ByteBuffer modelBytes = ByteBuffer.allocateDirect(Long.BYTES);
        BaselineRequest.readAll(channel, modelBytes);
        allocate(modelBytes.getLong(0));
        BaselineRequest request = BaselineRequest.receive(channel);
        while (request != null) {
            if (request.pingPong()) {
                answerEach(channel, request);
            } else {
                stream(channel, request);
            }
            request = BaselineRequest.receive(channel);
        }
    }

    private void allocate(long modelBytes) {
        if (model == null || model.bytes() != modelBytes) {
            if (model != null) {
                model.close();
            }
            model = DataMemory.allocate(modelBytes);
            Pattern.fill(model, 0, 0, modelBytes);
        }
    }

    private void stream(SocketChannel channel, BaselineRequest request) throws IOException {
        if (!request.direction().pushes()) {
            sendWeights(channel, request);
            return;
        }
        List<Callable<Long>> tasks = new ArrayList<>();
        if (request.direction().pulls()) {
            tasks.add(() -> sendWeights(channel, request));
        }
        tasks.add(() -> takeGradients(channel, request));
        long received = ClosedLoop.together(tasks).getLast();
        BaselineRequest.writeAll(channel, ByteBuffer.allocateDirect(Long.BYTES).putLong(received).flip());
    }

    /** Sends weights. Returns the number of requests. */
    private long sendWeights(SocketChannel channel, BaselineRequest request) throws IOException {
        BufferWalk weights = new BufferWalk(model, model.bytes(), request.requestBytes());
        for (long i = 0; i < request.requests(); i++) {
            BaselineRequest.writeAll(channel, weights.next());
        }
        return request.requests();
    }

    private long takeGradients(SocketChannel channel, BaselineRequest request) throws IOException {
        int bytes = request.requestBytes();
        long received = 0;
        try (DataMemory landing = DataMemory.allocate(bytes)) {
            ByteBuffer buffer = landing.newViews()[0];
            MemorySegment gradient = landing.slab(0);
            Offsets walk = new Offsets(model.bytes(), bytes, false);
            for (long i = 0; i < request.requests(); i++) {
                BaselineRequest.readAll(channel, buffer.clear());
                received += buffer.position();
                if (request.aggregates()) {
                    long offset = walk.next();
                    FloatKernels.scaledAdd(model.slab(offset), DataMemory.offsetInSlab(offset), gradient, 0,
                        bytes, -LEARNING_RATE);
                }
            }
        }
        return received;
    }

    private void answerEach(SocketChannel channel, BaselineRequest request) throws IOException {
        boolean push = request.direction().pushes();
        ByteBuffer message = ByteBuffer.allocateDirect(BaselineRequest.SHORT_MESSAGE_BYTES);
        ByteBuffer landing = ByteBuffer.allocateDirect(request.requestBytes());
        BufferWalk weights = new BufferWalk(model, model.bytes(), request.requestBytes());
        for (long i = 0; i < request.requests(); i++) {
            BaselineRequest.readAll(channel, push ? landing.clear() : message.clear());
            BaselineRequest.writeAll(channel, push ? message.clear() : weights.next());
        }
    }

    /** Stops listening. Does not free the memory of the model, because a connection might still use that memory. */
    @Override
    public void close() throws IOException {
        listener.close();
    }
}
