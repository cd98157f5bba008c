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
 * PDUs over a socket, header and data each followed by its digest if that was agreed on (RFC 7143 section 11.2). Reads ahead a
 * little, so that small PDUs cost less than a system call each, while data goes straight to where it belongs in one vectored
 * call together with the header behind it.
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
    private final ByteBuffer trailer = ByteBuffer.allocateDirect(2 * Integer.BYTES);
    private final ByteBuffer dropped = ByteBuffer.allocateDirect(READ_AHEAD_BYTES);
    private final WireDigest receivedDigest = new WireDigest();
    private final WireDigest sentDigest = new WireDigest();
    private final ReentrantLock writeLock = new ReentrantLock();
    private volatile boolean headerDigests;
    private volatile boolean dataDigests;
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

    /** From the next PDU on, both ways, headers and data have digests or not. */
    public void enableDigests(boolean headers, boolean data) {
        headerDigests = headers;
        dataDigests = data;
    }

    /**
     * Waits for a header and reads it whole, with any additional header segments dropped.
     *
     * @throws IOException if the header does not match its digest: nothing in it, nor where the next one is, can be trusted
     */
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
        if (ahs > 0 || headerDigests) {
            receivingSinceNanos = now;
            endHeader(header, ahs);
        }
        receivingSinceNanos = pdu.dataSegmentBytes() > 0 ? now : 0;
        if (dataDigests) {
            receivedDigest.begin();
        }
    }

    private void endHeader(ByteBuffer header, int ahsBytes) throws IOException {
        if (!headerDigests) {
            drop(ahsBytes, false);
            return;
        }
        receivedDigest.begin();
        receivedDigest.add(header, 0, Pdu.BHS_BYTES);
        drop(ahsBytes, true);
        readFully(header.clear().position(Pdu.BHS_BYTES).limit(Pdu.BHS_BYTES + WireDigest.BYTES));
        header.clear();
        if (!receivedDigest.matches(header, Pdu.BHS_BYTES)) {
            throw new IOException("a header from " + peer + " does not match its digest");
        }
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
            if (dataDigests) {
                receivedDigest.add(view, start, part);
            }
            at += part;
            left -= part;
        }
    }

    /** Reads data into a buffer, from its position to its limit. */
    public void readData(ByteBuffer to) throws IOException {
        int start = to.position();
        readFully(to);
        if (dataDigests) {
            receivedDigest.add(to, start, to.position() - start);
        }
    }

    private void readFully(ByteBuffer to) throws IOException {
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

    /** Reads data and drops it. */
    public void dropData(int bytes) throws IOException {
        drop(bytes, dataDigests);
    }

    /**
     * Ends a PDU: reads the padding behind {@code dataBytes} of data, and their digest.
     *
     * @return whether the data is as it was sent, as far as a digest can tell
     */
    public boolean endData(int dataBytes) throws IOException {
        drop(Pdu.paddingOf(dataBytes), dataDigests);
        boolean intact = true;
        if (dataDigests && dataBytes > 0) {
            readFully(dropped.clear().limit(WireDigest.BYTES));
            intact = receivedDigest.matches(dropped, 0);
        }
        receivingSinceNanos = 0;
        return intact;
    }

    private void drop(int bytes, boolean digested) throws IOException {
        int left = bytes;
        while (left > 0) {
            int part = Math.min(left, dropped.capacity());
            readFully(dropped.clear().limit(part));
            if (digested) {
                receivedDigest.add(dropped, 0, part);
            }
            left -= part;
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
        writeVector[0] = headerOf(pdu);
        writeAll(1);
    }

    /** Writes a header and its data, from position to limit, padded; with the lock. The header has the length already. */
    public void write(Pdu pdu, ByteBuffer data) throws IOException {
        writeVector[0] = headerOf(pdu);
        writeVector[1] = data;
        writeVector[2] = trailerOf(data);
        writeAll(trailer.hasRemaining() ? 3 : 2);
    }

    /** The bytes of a header, with its digest. */
    private ByteBuffer headerOf(Pdu pdu) {
        ByteBuffer header = pdu.header().clear().limit(Pdu.BHS_BYTES);
        if (headerDigests) {
            sentDigest.begin();
            sentDigest.add(header);
            sentDigest.put(header.limit(Pdu.BHS_BYTES + WireDigest.BYTES), Pdu.BHS_BYTES);
        }
        return header;
    }

    /** What follows data: its padding, and the digest of both. */
    private ByteBuffer trailerOf(ByteBuffer data) {
        int pad = Pdu.paddingOf(data.remaining());
        trailer.clear().putInt(0, 0).limit(pad);
        if (dataDigests && data.hasRemaining()) {
            sentDigest.begin();
            sentDigest.add(data);
            sentDigest.add(trailer);
            sentDigest.put(trailer.limit(pad + WireDigest.BYTES), pad);
        }
        return trailer;
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
