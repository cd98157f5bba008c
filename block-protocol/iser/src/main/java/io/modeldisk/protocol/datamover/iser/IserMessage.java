package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.text.PlainText;
import io.modeldisk.protocol.datamover.ProtocolException;
import io.modeldisk.protocol.memory.DataMemory;
import io.modeldisk.protocol.pdu.Pdu;
import io.modeldisk.protocol.pdu.ScsiCommandPdu;
import io.modeldisk.protocol.rdma.Work;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A buffer for one message (iSER header, PDU header and data), and the work request that sends or receives the message. */
final class IserMessage extends Work {
    /** The maximum length in bytes of the data segment of a message. */
    static final int DATA_SEGMENT_BYTES = 8192;

    /** The length in bytes of the iSER header and the Basic Header Segment together. */
    static final int HEADER_BYTES = IserHeader.BYTES + Pdu.BHS_BYTES;

    /** The length in bytes of a message with all headers, data and padding: a multiple of the cache line size. */
    static final int BYTES = 8448;

    /** The length in bytes of a message without data, which is two cache lines. */
    static final int BYTES_WITHOUT_DATA = 128;

    private final long offset;
    private final MemorySegment segment;
    private final ByteBuffer bytes;
    private final Pdu pdu;
    private final ScsiCommandPdu command;
    private final ByteBuffer data;

    /** Creates a message at an offset of {@code memory}. */
    IserMessage(DataMemory memory, long offset, int length, String name, boolean arrives) {
        super(name, arrives);
        this.offset = offset;
        this.segment = memory.segment(offset, length);
        this.bytes = segment.asByteBuffer().order(ByteOrder.BIG_ENDIAN);
        this.data = bytes.duplicate();
        ByteBuffer header = bytes.slice(IserHeader.BYTES, Pdu.BHS_BYTES);
        this.pdu = new Pdu(header);
        this.command = new ScsiCommandPdu(header);
    }

    /** Returns the offset of the message in its memory. */
    long offset() {
        return offset;
    }

    /** Returns the whole message, which starts with the iSER header. */
    ByteBuffer whole() {
        return bytes;
    }

    MemorySegment segment() {
        return segment;
    }

    Pdu pdu() {
        return pdu;
    }

    ScsiCommandPdu command() {
        return command;
    }

    /** Checks that a received message is complete. Returns the offset of its data segment. */
    int checkReceived(int longestDataSegment) throws ProtocolException {
        if (bytes() < HEADER_BYTES) {
            throw new ProtocolException(
                "the peer sent a message of " + bytes() + " bytes, but the headers need " + HEADER_BYTES);
        }
        if (!IserHeader.isControl(bytes)) {
            throw new ProtocolException(
                PlainText.format("the peer sent an iSER message of type %02Xh instead of a PDU", bytes.get(0)));
        }
        int length = pdu.dataSegmentBytes();
        int start = HEADER_BYTES + pdu.ahsBytes();
        if (length > longestDataSegment) {
            throw new ProtocolException(
                "the peer sent a data segment of " + length + " bytes, but the limit is " + longestDataSegment);
        }
        if (start + length > bytes()) {
            throw new ProtocolException(
                "the peer sent a data segment of " + length + " bytes in a message of only " + bytes() + " bytes");
        }
        return start;
    }

    /** Returns the received data segment. */
    ByteBuffer received(int start) {
        return data.limit(start + pdu.dataSegmentBytes()).position(start);
    }

    /** Writes a PDU and its data, with padding, into the message. Returns the length of the message. */
    int fill(Pdu from, ByteBuffer segment) {
        bytes.put(IserHeader.BYTES, from.header(), 0, Pdu.BHS_BYTES);
        int length = segment == null ? 0 : segment.remaining();
        if (length == 0) {
            return HEADER_BYTES;
        }
        bytes.put(HEADER_BYTES, segment, segment.position(), length);
        int end = HEADER_BYTES + length;
        for (int i = Pdu.paddingOf(length); i > 0; i--) {
            bytes.put(end++, (byte) 0);
        }
        return end;
    }
}
