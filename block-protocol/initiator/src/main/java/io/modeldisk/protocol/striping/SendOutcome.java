package io.modeldisk.protocol.striping;

/** The result of an attempt to send a part. */
enum SendOutcome {
    /** The session has it. */
    SENT,
    /** An earlier push of the same block is in flight; the next round of the block begins after it. */
    ROUND_PENDING,
    /** A command of an earlier session has the same slot, and its end is still to be reported. */
    SLOT_PENDING,
    /** The session was lost before the part was sent. */
    SESSION_LOST
}
