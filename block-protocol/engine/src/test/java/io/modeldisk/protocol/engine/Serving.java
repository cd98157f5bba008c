package io.modeldisk.protocol.engine;

import static io.modeldisk.test.Await.await;
import static io.modeldisk.test.RandomBytes.random;

import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/** A target server for one test, which serves plain memory on a free port. */
public final class Serving implements AutoCloseable {
    public static final int BLOCK = 4096;
    private static final int SIZE_BYTES = 8 << 20;
    static final int CONNECTIONS = 8;
    private static final int CHUNKS = 48;
    /** The size in bytes of the medium and the buffers together. */
    public static final int MEMORY_BYTES = SIZE_BYTES + CHUNKS * BufferPool.CHUNK_BYTES;

    public final MemoryTarget target;
    public final TargetServer server;
    public final long allBufferBytes;

    public Serving() throws IOException {
        this(_ -> {});
    }

    /** Starts a server after {@code settings} has changed the default settings of the server. */
    public Serving(Consumer<TargetContext> settings) throws IOException {
        this(settings, TargetPortGroups.single());
    }

    /** Starts a server of a target with several target port groups. */
    public Serving(TargetPortGroups portGroups) throws IOException {
        this(_ -> {}, portGroups);
    }

    private Serving(Consumer<TargetContext> settings, TargetPortGroups portGroups) throws IOException {
        target = new MemoryTarget(DataMemory.allocate(SIZE_BYTES), portGroups);
        TargetContext context = new TargetContext().listen(new InetSocketAddress("127.0.0.1", 0))
            .maxConnections(CONNECTIONS).bufferBytes((long) CHUNKS * BufferPool.CHUNK_BYTES);
        settings.accept(context);
        server = TargetServer.launch(target, context);
        allBufferBytes = server.freeBufferBytes();
    }

    RawInitiator login(String... keys) throws IOException {
        return RawInitiator.loggedIn(server, "iqn.test:raw", keys);
    }

    RawInitiator loginAs(String name, String... keys) throws IOException {
        return RawInitiator.loggedIn(server, name, keys);
    }

    /** Returns the contents of a range in the medium. */
    public byte[] contents(long offset, int length) {
        DataMemory memory = target.unit.memory();
        return memory.segment(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Fills the whole medium with random bytes and returns them. */
    public byte[] fill(long seed) {
        byte[] bytes = random(SIZE_BYTES, seed);
        MemorySegment.copy(bytes, 0, target.unit.memory().slab(0), ValueLayout.JAVA_BYTE, 0, bytes.length);
        return bytes;
    }

    /** Waits until all connections are closed and all buffer memory is free. */
    public void awaitNothingLeft() {
        await("all connections are closed", () -> server.connectionCount() == 0);
        await("all buffer memory is free", () -> server.freeBufferBytes() == allBufferBytes);
    }

    @Override
    public void close() {
        server.close();
        target.close();
    }
}
