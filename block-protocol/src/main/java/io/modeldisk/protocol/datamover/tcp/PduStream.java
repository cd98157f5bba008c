package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;

/**
 * PDUs over a socket. Reads ahead a little, so that small PDUs cost less than a system call each, while data goes straight to
 * where it belongs in one vectored call together with the header behind it.
 *
 * <p>Reading is for one thread. Writing takes {@link #lock()} / {@link #unlock()}. Nothing is allocated after the start.
 */
public final class PduStream implements AutoCloseable {
    /** How far is read ahead: several headers, but little enough that copying it on costs nothing beside a block. */
    private static final int READ_AHEAD_BYTES = 4096;

    private final SocketChannel channel;
    private final String peer;
    private final ByteBuffer ahead = ByteBuffer.allocateDirect(READ_AHEAD_BYTES).limit(0);
    private final ByteBuffer[] readVector = {null, ahead};
    private final ByteBuffer[] writeVector = new ByteBuffer[3];
    private final ByteBuffer padding = ByteBuffer.allocateDirect(4);
    private final ByteBuffer dropped = ByteBuffer.allocateDirect(READ_AHEAD_BYTES);
    private final ReentrantLock writeLock = new ReentrantLock();
    private volatile long receivingSinceNanos;
    private volatile long lastReceivedNanos = System.nanoTime();
    private volatile long sendingSinceNanos;

    /** Takes over a connected channel. */
    public PduStream(SocketChannel channel) throws IOException {
        this.channel = channel;
        this.peer = String.valueOf(channel.getRemoteAddress()).replaceFirst("^/", "");
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }

    /** Waits for a header and reads it whole, with any additional header segments dropped. */
    public void readHeader(Pdu pdu) throws IOException {
        ByteBuffer header = pdu.header();
        header.clear().limit(Pdu.BHS_BYTES);
        boolean first = true;
        while (header.hasRemaining()) {
            if (!ahead.hasRemaining()) {
                if (!first) {
                    receivingSinceNanos = System.nanoTime();
                }
                fillAhead();
            }
            first = false;
            transfer(ahead, header);
        }
        header.clear();
        long now = System.nanoTime();
        lastReceivedNanos = now;
        int ahs = pdu.ahsBytes();
        if (ahs > 0) {
            receivingSinceNanos = now;
            drop(ahs);
        }
        receivingSinceNanos = pdu.dataSegmentBytes() > 0 ? now : 0;
    }

    /** Reads {@code bytes} of data into memory. */
    public void readData(ByteBuffer[] views, long offset, int bytes) throws IOException {
        long at = offset;
        int left = bytes;
        while (left > 0) {
            ByteBuffer view = views[DataMemory.slabIndex(at)];
            int start = DataMemory.offsetInSlab(at);
            int part = Math.min(left, view.capacity() - start);
            view.limit(start + part).position(start);
            readFully(view);
            at += part;
            left -= part;
        }
    }

    /** Fills a buffer up to its limit. */
    public void readFully(ByteBuffer to) throws IOException {
        transfer(ahead, to);
        while (to.hasRemaining()) {
            ahead.clear();
            readVector[0] = to;
            long count;
            try {
                count = channel.read(readVector, 0, 2);
            } finally {
                ahead.flip();
            }
            checkEnd(count);
        }
    }

    /** Ends a PDU: reads the padding behind {@code dataBytes} of data. */
    public void endData(int dataBytes) throws IOException {
        drop(Pdu.paddingOf(dataBytes));
        receivingSinceNanos = 0;
    }

    /** Reads bytes and drops them. */
    public void drop(int bytes) throws IOException {
        int left = bytes;
        while (left > 0) {
            dropped.clear().limit(Math.min(left, dropped.capacity()));
            left -= dropped.remaining();
            readFully(dropped);
        }
    }

    private void fillAhead() throws IOException {
        ahead.clear();
        long count;
        try {
            count = channel.read(ahead);
        } finally {
            ahead.flip();
        }
        checkEnd(count);
    }

    private void checkEnd(long count) throws EOFException {
        if (count < 0) {
            throw new EOFException(peer + " closed the connection");
        }
    }

    private static void transfer(ByteBuffer from, ByteBuffer to) {
        int count = Math.min(from.remaining(), to.remaining());
        if (count > 0) {
            to.put(to.position(), from, from.position(), count);
            to.position(to.position() + count);
            from.position(from.position() + count);
        }
    }

    /** Whether nothing more has been read than was asked for. */
    public boolean hasReadAhead() {
        return ahead.hasRemaining();
    }

    /** Begins to write: waits until no other thread does. */
    public void lock() {
        writeLock.lock();
        sendingSinceNanos = System.nanoTime();
    }

    /** Ends writing. */
    public void unlock() {
        sendingSinceNanos = 0;
        writeLock.unlock();
    }

    /** Writes a header alone; with the lock. */
    public void write(Pdu pdu) throws IOException {
        writeVector[0] = pdu.header().clear().limit(Pdu.BHS_BYTES);
        writeAll(1);
    }

    /** Writes a header and its data, from position to limit, padded; with the lock. The header has the length already. */
    public void write(Pdu pdu, ByteBuffer data) throws IOException {
        int pad = Pdu.paddingOf(data.remaining());
        writeVector[0] = pdu.header().clear().limit(Pdu.BHS_BYTES);
        writeVector[1] = data;
        writeVector[2] = padding.clear().limit(pad);
        writeAll(pad == 0 ? 2 : 3);
    }

    /** Writes a header and data from memory; with the lock. */
    public void write(Pdu pdu, ByteBuffer[] views, long offset, int bytes) throws IOException {
        ByteBuffer view = views[DataMemory.slabIndex(offset)];
        int start = DataMemory.offsetInSlab(offset);
        write(pdu, view.limit(start + bytes).position(start));
    }

    private void writeAll(int buffers) throws IOException {
        ByteBuffer last = writeVector[buffers - 1];
        ByteBuffer first = writeVector[0];
        do {
            channel.write(writeVector, 0, buffers);
        } while (last.hasRemaining() || first.hasRemaining() || buffers == 3 && writeVector[1].hasRemaining());
    }

    /** When the PDU that is being read began, 0 between PDUs. */
    public long receivingSinceNanos() {
        return receivingSinceNanos;
    }

    /** When a header last came. */
    public long lastReceivedNanos() {
        return lastReceivedNanos;
    }

    /** When the thread that is writing began, 0 if none is. */
    public long sendingSinceNanos() {
        return sendingSinceNanos;
    }

    /** The other side's address. */
    public String peer() {
        return peer;
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The channel is closed all the same; the peer sees the end of the stream or a reset.
        }
    }
}
