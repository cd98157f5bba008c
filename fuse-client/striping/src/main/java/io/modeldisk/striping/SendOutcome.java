package io.modeldisk.striping;

/** The result of an attempt to send a part. */
enum SendOutcome {
    /** The session has accepted the command of the part. */
    SENT,
    /**
     * An earlier push of the same block is in flight. The next round of the block begins after the earlier push has completed.
     */
    ROUND_PENDING,
    /**
     * A command of an earlier session still occupies the slot of the request, because its completion handler was not called yet.
     */
    SLOT_PENDING,
    /** The session was lost before the part was sent. */
    SESSION_LOST
}
