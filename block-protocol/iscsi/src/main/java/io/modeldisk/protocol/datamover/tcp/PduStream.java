package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.login.Digest;
import io.modeldisk.protocol.login.OperationalParameters;
import io.modeldisk.protocol.memory.DataMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Map;

/** The reader and the writer of a TCP connection. */
final class PduStream implements AutoCloseable {
    private final SocketChannel channel;
    private final String peer;
    private final PduWriter writer;
    private final PduReader reader;

    /** Creates a stream over a connected channel. {@link #close} closes the channel. */
    PduStream(SocketChannel channel, NanoClock clock) throws IOException {
        this.channel = channel;
        this.peer = String.valueOf(channel.getRemoteAddress()).replaceFirst("^/", "");
        TcpSocketOptions.apply(channel);
        this.writer = new PduWriter(channel, clock);
        this.reader = new PduReader(channel, peer, writer, clock);
    }

    /** Enables the negotiated digests in both directions, from the next PDU on. Only the reading thread may call this method. */
    void enable(OperationalParameters agreed) {
        boolean headers = agreed.headerDigest() == Digest.CRC32C;
        boolean data = agreed.dataDigest() == Digest.CRC32C;
        writer.enable(headers, data);
        reader.enable(headers, data);
    }

    PduReader reader() {
        return reader;
    }

    PduWriter writer() {
        return writer;
    }

    /** The peer's address. */
    String peer() {
        return peer;
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The channel is closed even if close() throws. The peer sees the end of the stream or a reset.
        }
    }

    /**
     * Returns byte buffers that view the slabs of a memory. The first call for a memory creates these buffers and stores them
     * in {@code cache}. Only one thread at a time may use a cache.
     */
    static ByteBuffer[] views(Map<DataMemory, ByteBuffer[]> cache, DataMemory memory) {
        return cache.computeIfAbsent(memory, DataMemory::newViews);
    }
}
