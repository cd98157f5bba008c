package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes PDUs to a socket; a digest follows header and data if the login agreed on it (RFC 7143 section 11.2). One vectored call
 * writes a PDU, or several small ones if more are known to follow.
 *
 * <p>Writing takes {@link #lock()} / {@link #unlock()}. Nothing is allocated after the start.
 */
final class PduWriter {
    /** The most bytes that are held back. */
    private static final int HELD_BYTES = 32 * 1024;

    /** The longest data that is held back: to copy it costs less than another call. */
    private static final int MOST_HELD_DATA_BYTES = 8 * 1024;

    private final SocketChannel channel;
    private final NanoClock clock;
    /** The held bytes, a header, its data, and the trailer. */
    private final ByteBuffer[] vector = new ByteBuffer[4];
    private final ByteBuffer trailer = ByteBuffer.allocateDirect(2 * Integer.BYTES);
    private final WireDigest digest = new WireDigest();
    /** Fair: a thread that sends much must not starve one with a single PDU for which the other direction waits. */
    private final ReentrantLock lock = new ReentrantLock(true);
    private ByteBuffer held = ByteBuffer.allocateDirect(0);
    private boolean headerDigests;
    private boolean dataDigests;
    private volatile boolean holding;
    private volatile long sendingSinceNs;

    /** Writes to a connected channel. */
    PduWriter(SocketChannel channel, NanoClock clock) {
        this.channel = channel;
        this.clock = clock;
    }

    /** Sets, from the next PDU on, which digests there are. Before the login ends, nothing is held back. */
    void enable(boolean headers, boolean data) {
        lock.lock();
        headerDigests = headers;
        dataDigests = data;
        held = ByteBuffer.allocateDirect(HELD_BYTES);
        lock.unlock();
    }

    /** Begins to write: waits until no other thread does. */
    void lock() {
        lock.lock();
        sendingSinceNs = clock.nanoTime();
    }

    /** Ends writing. */
    void unlock() {
        sendingSinceNs = 0;
        lock.unlock();
    }

    /** Writes a header alone; with the lock. */
    void write(Pdu pdu) throws IOException {
        vector[1] = headerOf(pdu);
        writeAll(2);
    }

    /** Writes a header and its data, from position to limit, padded; with the lock. The header has the length already. */
    void write(Pdu pdu, ByteBuffer data) throws IOException {
        vector[1] = headerOf(pdu);
        vector[2] = data;
        vector[3] = trailerOf(data);
        writeAll(trailer.hasRemaining() ? 4 : 3);
    }

    /** Writes a header and data from memory; with the lock. */
    void write(Pdu pdu, ByteBuffer[] views, long offset, int bytes) throws IOException {
        write(pdu, view(views, offset, bytes));
    }

    /** Holds a header back, to be written with what follows; with the lock. */
    void hold(Pdu pdu) throws IOException {
        if (held.remaining() < Pdu.BHS_BYTES + WireDigest.BYTES) {
            write(pdu);
            return;
        }
        holding = true;
        held.put(headerOf(pdu));
    }

    /** Holds a header and data from memory back, or writes them if they are large; with the lock. */
    void hold(Pdu pdu, ByteBuffer[] views, long offset, int bytes) throws IOException {
        int mostBytes = Pdu.BHS_BYTES + bytes + Pdu.paddingOf(bytes) + 2 * WireDigest.BYTES;
        if (bytes > MOST_HELD_DATA_BYTES || held.remaining() < mostBytes) {
            write(pdu, views, offset, bytes);
            return;
        }
        holding = true;
        ByteBuffer data = view(views, offset, bytes);
        held.put(headerOf(pdu));
        ByteBuffer behind = trailerOf(data);
        held.put(data).put(behind);
    }

    /** Whether anything is held back. */
    boolean isHolding() {
        return holding;
    }

    /** Writes what was held back; without the lock. */
    void flush() throws IOException {
        lock();
        try {
            writeAll(1);
        } finally {
            unlock();
        }
    }

    private static ByteBuffer view(ByteBuffer[] views, long offset, int bytes) {
        ByteBuffer view = views[DataMemory.slabIndex(offset)];
        int start = DataMemory.offsetInSlab(offset);
        return view.limit(start + bytes).position(start);
    }

    /** The bytes of a header, with its digest. */
    private ByteBuffer headerOf(Pdu pdu) {
        ByteBuffer header = pdu.header().clear().limit(Pdu.BHS_BYTES);
        if (headerDigests) {
            digest.begin();
            digest.add(header);
            digest.put(header.limit(Pdu.BHS_BYTES + WireDigest.BYTES), Pdu.BHS_BYTES);
        }
        return header;
    }

    /** The padding behind data, and the digest of both. */
    private ByteBuffer trailerOf(ByteBuffer data) {
        int pad = Pdu.paddingOf(data.remaining());
        trailer.clear().putInt(0, 0).limit(pad);
        if (dataDigests && data.hasRemaining()) {
            digest.begin();
            digest.add(data);
            digest.add(trailer);
            digest.put(trailer.limit(pad + WireDigest.BYTES), pad);
        }
        return trailer;
    }

    /** Writes the first {@code buffers} of the vector. */
    private void writeAll(int buffers) throws IOException {
        vector[0] = held.flip();
        int first = held.hasRemaining() ? 0 : 1;
        try {
            while (first < buffers) {
                channel.write(vector, first, buffers - first);
                while (first < buffers && !vector[first].hasRemaining()) {
                    first++;
                }
            }
        } finally {
            held.clear();
            holding = false;
        }
    }

    /** When the thread began that is writing; 0 if none is. */
    long sendingSinceNs() {
        return sendingSinceNs;
    }
}
