package io.modeldisk.protocol.datamover.shm;

/**
 * The layout of a frame on the socket: 64 bytes and optional data. The first byte is the kind of the frame. In a PDU frame, the
 * steering tag and the offset of the task's memory precede the Basic Header Segment, as in iSER (RFC 7145 section 9.2). Numbers
 * are big-endian. Data has no padding.
 */
final class Frame {
    /** The length of a frame without its data, in bytes. */
    static final int BYTES = 64;

    /** The offset of the Basic Header Segment in a PDU frame, and of the contents in other frames. */
    static final int BODY = 16;

    static final int KIND = 0;
    static final int VERSION_FIELD = 1;
    static final int TAG = 4;
    static final int OFFSET = 8;

    /** The first frame that an initiator sends, with the version of the protocol. */
    static final byte HELLO = 1;
    /**
     * Registers a range of the initiator's memory under the frame's steering tag. The range starts at the frame's offset and has
     * at most 1 GiB. The memory's file descriptor is sent with the frame.
     */
    static final byte REGISTER = 2;
    /** Unregisters the memory with the frame's steering tag. */
    static final byte INVALIDATE = 3;
    /** A PDU, followed by its data segment. */
    static final byte PDU = 4;
    /** The last frame that a target sends before it closes the connection. The reason follows as text. */
    static final byte REFUSE = 5;

    /** The version of the shared-memory protocol. */
    static final byte VERSION = 1;

    /** The value of the steering tag in a frame that refers to no memory. */
    static final int NO_TAG = -1;

    private Frame() {}
}
