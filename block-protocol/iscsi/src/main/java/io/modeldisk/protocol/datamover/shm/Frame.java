package io.modeldisk.protocol.datamover.shm;

/**
 * What goes over the socket, 64 bytes and perhaps data behind them: a kind, and for a PDU the steering tag and offset of its
 * task's memory before the Basic Header Segment, as in iSER (RFC 7145 section 9.2). Big-endian; no padding behind data.
 */
final class Frame {
    /** The length of a frame without its data. */
    static final int BYTES = 64;

    /** Where the Basic Header Segment, or what a frame without one says, begins. */
    static final int BODY = 16;

    static final int KIND = 0;
    static final int VERSION_FIELD = 1;
    static final int TAG = 4;
    static final int OFFSET = 8;

    /** The first frame of either side: nothing but the version. */
    static final byte HELLO = 1;
    /** The memory with this steering tag is behind the descriptor that comes along. */
    static final byte REGISTER = 2;
    /** The memory with this steering tag is not used any more. */
    static final byte INVALIDATE = 3;
    /** A PDU, with its data segment behind it. */
    static final byte PDU = 4;
    /** From the target: it does not go on, and why, as text behind the frame. */
    static final byte REFUSE = 5;

    /** The version of this protocol. */
    static final byte VERSION = 1;

    /** The tag of a PDU without memory. */
    static final int NO_TAG = -1;

    private Frame() {}
}
