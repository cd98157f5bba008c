package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Reads PDUs from a socket. A digest follows each header and each data segment if the login negotiated digests (RFC 7143 section
 * 11.2). One system call reads several small PDUs. Large data is read into its final memory, in one vectored call that also reads
 * the next header.
 *
 * <p>Only one thread may use a reader, but any thread may call the methods that return times. No objects are allocated after
 * {@link #enable}.
 */
final class PduReader {
    /** The number of bytes to read ahead after small data, enough for many PDUs. */
    private static final int SMALL_READ_AHEAD_BYTES = 32 * 1024;

    /** The number of bytes to read ahead after large data, enough for several headers. Copying these bytes costs little time. */
    private static final int READ_AHEAD_BYTES = 4096;

    /** The minimum length of large data, in bytes. */
    private static final int LARGE_DATA_BYTES = 16 * 1024;

    /** The offset of TotalAHSLength and DataSegmentLength in a header (RFC 7143 section 11.2.1). */
    private static final int LENGTHS = 4;

    private final SocketChannel channel;
    private final String peer;
    private final PduWriter writer;
    private final NanoClock clock;
    private final ByteBuffer[] readVector = new ByteBuffer[2];
    private final ByteBuffer dropped = ByteBuffer.allocateDirect(READ_AHEAD_BYTES);
    private final WireDigest digest = new WireDigest();
    private ByteBuffer ahead = ByteBuffer.allocateDirect(READ_AHEAD_BYTES).limit(0);
    private boolean headerDigests;
    private boolean dataDigests;
    private int readAheadBytes = READ_AHEAD_BYTES;
    private volatile Thread thread;
    private volatile long receivingSinceNs;
    private volatile long lastReceivedNs;

    /**
     * Creates a reader for a connected channel.
     *
     * @param writer the writer of the same connection. The reader flushes the PDUs that are held back before it waits for the
     *     peer
     */
    PduReader(SocketChannel channel, String peer, PduWriter writer, NanoClock clock) {
        this.channel = channel;
        this.peer = peer;
        this.writer = writer;
        this.clock = clock;
        this.lastReceivedNs = clock.nanoTime();
    }

    /**
     * Sets whether headers and data have digests, from the next PDU on. Also enlarges the buffer for read-ahead, which has
     * {@value #READ_AHEAD_BYTES} bytes during the login.
     */
    void enable(boolean headers, boolean data) {
        headerDigests = headers;
        dataDigests = data;
        ahead = ByteBuffer.allocateDirect(SMALL_READ_AHEAD_BYTES).put(ahead).flip();
    }

    /**
     * Waits for a header and reads the header. Drops additional header segments.
     *
     * @throws IOException if the header does not match its digest. The position of the next header is then unknown
     */
    void readHeader(Pdu pdu) throws IOException {
        thread = Thread.currentThread();
        ByteBuffer header = pdu.header();
        header.clear().limit(Pdu.BHS_BYTES);
        boolean first = true;
        while (header.hasRemaining()) {
            if (!ahead.hasRemaining()) {
                if (!first) {
                    receivingSinceNs = clock.nanoTime();
                }
                fillAhead();
            }
            first = false;
            transfer(ahead, header);
        }
        header.clear();
        long now = clock.nanoTime();
        lastReceivedNs = now;
        int ahs = pdu.ahsBytes();
        if (ahs > 0 || headerDigests) {
            receivingSinceNs = now;
            endHeader(header, ahs);
        }
        int dataBytes = pdu.dataSegmentBytes();
        readAheadBytes = dataBytes < LARGE_DATA_BYTES ? ahead.capacity() : READ_AHEAD_BYTES;
        receivingSinceNs = dataBytes > 0 ? now : 0;
        if (dataDigests) {
            digest.begin();
        }
    }

    private void endHeader(ByteBuffer header, int ahsBytes) throws IOException {
        if (!headerDigests) {
            drop(ahsBytes, false);
            return;
        }
        digest.begin();
        digest.add(header, 0, Pdu.BHS_BYTES);
        drop(ahsBytes, true);
        readFully(header.clear().position(Pdu.BHS_BYTES).limit(Pdu.BHS_BYTES + WireDigest.BYTES));
        header.clear();
        if (!digest.matches(header, Pdu.BHS_BYTES)) {
            throw new IOException("a header from " + peer + " does not match its digest");
        }
    }

    /** Reads {@code bytes} bytes of data into memory at {@code offset}. */
    void readData(ByteBuffer[] views, long offset, int bytes) throws IOException {
        long at = offset;
        int left = bytes;
        while (left > 0) {
            ByteBuffer view = views[DataMemory.slabIndex(at)];
            int start = DataMemory.offsetInSlab(at);
            int part = Math.min(left, view.capacity() - start);
            view.limit(start + part).position(start);
            readFully(view);
            if (dataDigests) {
                digest.add(view, start, part);
            }
            at += part;
            left -= part;
        }
    }

    /** Reads data into a buffer, from the buffer's position to its limit. */
    void readData(ByteBuffer to) throws IOException {
        int start = to.position();
        readFully(to);
        if (dataDigests) {
            digest.add(to, start, to.position() - start);
        }
    }

    /** Reads {@code bytes} bytes of data and drops them. */
    void dropData(int bytes) throws IOException {
        drop(bytes, dataDigests);
    }

    /**
     * Reads the padding and the digest that follow {@code dataBytes} bytes of data.
     *
     * @return whether the data matches its digest; true if the data has no digest
     */
    boolean endData(int dataBytes) throws IOException {
        drop(Pdu.paddingOf(dataBytes), dataDigests);
        boolean intact = true;
        if (dataDigests && dataBytes > 0) {
            readFully(dropped.clear().limit(WireDigest.BYTES));
            intact = digest.matches(dropped, 0);
        }
        receivingSinceNs = 0;
        return intact;
    }

    private void drop(int bytes, boolean digested) throws IOException {
        int left = bytes;
        while (left > 0) {
            int part = Math.min(left, dropped.capacity());
            readFully(dropped.clear().limit(part));
            if (digested) {
                digest.add(dropped, 0, part);
            }
            left -= part;
        }
    }

    private void readFully(ByteBuffer to) throws IOException {
        transfer(ahead, to);
        while (to.hasRemaining()) {
            sendHeld();
            ahead.clear().limit(readAheadBytes);
            readVector[0] = to;
            readVector[1] = ahead;
            long count;
            try {
                count = channel.read(readVector, 0, 2);
            } finally {
                ahead.flip();
            }
            checkEnd(count);
        }
    }

    private void fillAhead() throws IOException {
        sendHeld();
        ahead.clear().limit(readAheadBytes);
        long count;
        try {
            count = channel.read(ahead);
        } finally {
            ahead.flip();
        }
        checkEnd(count);
    }

    /** Sends the PDUs that are held back, because the peer might be waiting for one of them. */
    private void sendHeld() throws IOException {
        if (writer.isHolding()) {
            writer.flush();
        }
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

    /** Returns whether the calling thread is the reading thread and the buffer already contains the whole next PDU. */
    boolean hasNext() {
        if (thread != Thread.currentThread() || ahead.remaining() < Pdu.BHS_BYTES) {
            return false;
        }
        int lengths = ahead.getInt(ahead.position() + LENGTHS);
        int ahsBytes = (lengths >>> 24) * Integer.BYTES;
        int dataBytes = lengths & 0xFFFFFF;
        int digestBytes = (headerDigests ? WireDigest.BYTES : 0)
            + (dataDigests && dataBytes > 0 ? WireDigest.BYTES : 0);
        int padded = dataBytes + Pdu.paddingOf(dataBytes);
        return ahead.remaining() >= Pdu.BHS_BYTES + ahsBytes + padded + digestBytes;
    }

    /** The time when the reader began to read the current PDU, or 0 between PDUs. */
    long receivingSinceNs() {
        return receivingSinceNs;
    }

    /** The time when a header was last received. */
    long lastReceivedNs() {
        return lastReceivedNs;
    }
}
