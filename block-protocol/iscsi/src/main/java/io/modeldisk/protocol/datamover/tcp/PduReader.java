package io.modeldisk.protocol.datamover.tcp;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Reads PDUs from a socket; a digest follows header and data if the login agreed on it (RFC 7143 section 11.2). One call reads
 * several small PDUs; large data is read into its final memory, in one vectored call with the header behind it.
 *
 * <p>For one thread, except the times. Nothing is allocated after the start.
 */
final class PduReader {
    /** The read-ahead behind small data: many PDUs. */
    private static final int SMALL_READ_AHEAD_BYTES = 32 * 1024;

    /** The read-ahead behind large data: several headers, and so few bytes that copying them costs little. */
    private static final int READ_AHEAD_BYTES = 4096;

    /** The shortest data that counts as large. */
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
     * Reads from a connected channel.
     *
     * @param writer its held PDUs are sent before this waits for the peer
     */
    PduReader(SocketChannel channel, String peer, PduWriter writer, NanoClock clock) {
        this.channel = channel;
        this.peer = peer;
        this.writer = writer;
        this.clock = clock;
        this.lastReceivedNs = clock.nanoTime();
    }

    /** Sets, from the next PDU on, which digests there are. Before the login ends, the read-ahead is small. */
    void enable(boolean headers, boolean data) {
        headerDigests = headers;
        dataDigests = data;
        ahead = ByteBuffer.allocateDirect(SMALL_READ_AHEAD_BYTES).put(ahead).flip();
    }

    /**
     * Waits for a header and reads it; drops additional header segments.
     *
     * @throws IOException if the header does not match its digest: its lengths, which place the next header, may be wrong
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

    /** Reads {@code bytes} of data into memory. */
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

    /** Reads data into a buffer, from its position to its limit. */
    void readData(ByteBuffer to) throws IOException {
        int start = to.position();
        readFully(to);
        if (dataDigests) {
            digest.add(to, start, to.position() - start);
        }
    }

    /** Reads data and drops it. */
    void dropData(int bytes) throws IOException {
        drop(bytes, dataDigests);
    }

    /**
     * Ends a PDU: reads the padding behind {@code dataBytes} of data, and their digest.
     *
     * @return false if the data does not match its digest
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

    /** The peer may be waiting for a PDU that is held back. */
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

    /** Whether the calling thread is the reading one, and the whole next PDU is already in the buffer. */
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

    /** When the PDU began that is being read; 0 between PDUs. */
    long receivingSinceNs() {
        return receivingSinceNs;
    }

    /** When a header last came. */
    long lastReceivedNs() {
        return lastReceivedNs;
    }
}
