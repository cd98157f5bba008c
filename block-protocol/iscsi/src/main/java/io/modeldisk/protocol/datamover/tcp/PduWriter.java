package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.threads.ScopedLock.Held;
import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes PDUs to a socket. A digest follows each header and each data segment if the login negotiated digests (RFC 7143 section
 * 11.2). One vectored call writes one PDU, or several small PDUs that were held back.
 *
 * <p>A thread must hold {@link #lock()} while it writes. No objects are allocated after
 * {@link #enable}.
 */
final class PduWriter {
    /** The maximum total length of the PDUs that are held back, in bytes. */
    private static final int HELD_BYTES = 32 * 1024;

    /** The maximum length of the data of one PDU that is held back. Copying such data costs less than another system call. */
    private static final int MOST_HELD_DATA_BYTES = 8 * 1024;

    private final SocketChannel channel;
    private final NanoClock clock;
    /** The buffers of a vectored write: the bytes that are held back, a header, the data, and the padding with the digest. */
    private final ByteBuffer[] vector = new ByteBuffer[4];
    private final ByteBuffer trailer = ByteBuffer.allocateDirect(2 * Integer.BYTES);
    private final WireDigest digest = new WireDigest();
    /** The lock is fair, so a thread that sends many PDUs does not delay a single PDU of another thread. */
    private final ReentrantLock lock = new ReentrantLock(true);
    private final Held writing = this::unlock;
    private ByteBuffer held = ByteBuffer.allocateDirect(0);
    private boolean headerDigests;
    private boolean dataDigests;
    private volatile boolean holding;
    private volatile long sendingSinceNs;

    /** Creates a writer for a connected channel. */
    PduWriter(SocketChannel channel, NanoClock clock) {
        this.channel = channel;
        this.clock = clock;
    }

    /** Sets whether headers and data have digests, from the next PDU on. Before this call, no PDU is held back. */
    void enable(boolean headers, boolean data) {
        lock.lock();
        headerDigests = headers;
        dataDigests = data;
        held = ByteBuffer.allocateDirect(HELD_BYTES);
        lock.unlock();
    }

    /** Acquires the lock that a thread must hold to write. The caller closes the result to release the lock. */
    Held lock() {
        lock.lock();
        sendingSinceNs = clock.nanoTime();
        return writing;
    }

    private void unlock() {
        sendingSinceNs = 0;
        lock.unlock();
    }

    /** Writes a PDU without data. The caller holds {@code lock}. */
    void write(Pdu pdu) throws IOException {
        vector[1] = headerOf(pdu);
        writeAll(2);
    }

    /**
     * Writes a PDU with data, from the buffer's position to its limit, and padding. The header must already contain the length of
     * the data. The caller holds {@code lock}.
     */
    void write(Pdu pdu, ByteBuffer data) throws IOException {
        vector[1] = headerOf(pdu);
        vector[2] = data;
        vector[3] = trailerOf(data);
        writeAll(trailer.hasRemaining() ? 4 : 3);
    }

    /** Writes a PDU with data from memory. The caller holds {@code lock}. */
    void write(Pdu pdu, ByteBuffer[] views, long offset, int bytes) throws IOException {
        write(pdu, view(views, offset, bytes));
    }

    /**
     * Holds back a PDU that has no data, so the PDU is written together with the next PDU. The caller holds {@code lock}.
     */
    void hold(Pdu pdu) throws IOException {
        if (held.remaining() < Pdu.BHS_BYTES + WireDigest.BYTES) {
            write(pdu);
            return;
        }
        holding = true;
        held.put(headerOf(pdu));
    }

    /** Holds back a PDU with data from memory. Writes the PDU at once if the data is large. The caller holds {@code lock}. */
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

    /** True if PDUs are held back. */
    boolean isHolding() {
        return holding;
    }

    /** Writes the PDUs that are held back. Acquires {@code lock}. */
    void flush() throws IOException {
        try (Held _ = lock()) {
            writeAll(1);
        }
    }

    private static ByteBuffer view(ByteBuffer[] views, long offset, int bytes) {
        ByteBuffer view = views[DataMemory.slabIndex(offset)];
        int start = DataMemory.offsetInSlab(offset);
        return view.limit(start + bytes).position(start);
    }

    /** Returns the bytes of a header, followed by its digest if digests are enabled. */
    private ByteBuffer headerOf(Pdu pdu) {
        ByteBuffer header = pdu.header().clear().limit(Pdu.BHS_BYTES);
        if (headerDigests) {
            digest.begin();
            digest.add(header);
            digest.put(header.limit(Pdu.BHS_BYTES + WireDigest.BYTES), Pdu.BHS_BYTES);
        }
        return header;
    }

    /** Returns the padding that follows data, and the digest of data and padding if digests are enabled. */
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

    /** Writes the bytes that are held back and the buffers of the vector, up to index {@code buffers - 1}. */
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

    /** The time when the current write began, or 0 if no thread is writing. */
    long sendingSinceNs() {
        return sendingSinceNs;
    }
}
