package io.modeldisk.protocol.datamover.shm;

/**
 * The layout of a frame on the socket: 64 bytes, followed by data if there is any. It begins with its kind; in a PDU, the
 * steering tag and the offset of the task's memory come before the Basic Header Segment, as in iSER (RFC 7145 section 9.2).
 * Big-endian; data has no padding.
 */
final class Frame {
    /** The length of a frame without its data. */
    static final int BYTES = 64;

    /** The offset of the Basic Header Segment, or of the contents of a frame without one. */
    static final int BODY = 16;

    static final int KIND = 0;
    static final int VERSION_FIELD = 1;
    static final int TAG = 4;
    static final int OFFSET = 8;

    /** The first frame of an initiator: the version. */
    static final byte HELLO = 1;
    /** Registers the memory of the descriptor that comes with the frame under this steering tag. */
    static final byte REGISTER = 2;
    /** Ends the use of the memory with this steering tag. */
    static final byte INVALIDATE = 3;
    /** A PDU, followed by its data segment. */
    static final byte PDU = 4;
    /** From the target: it ends the connection. The reason follows as text. */
    static final byte REFUSE = 5;

    /** The version of this protocol. */
    static final byte VERSION = 1;

    /** The tag of a PDU without memory. */
    static final int NO_TAG = -1;

    private Frame() {}
}
