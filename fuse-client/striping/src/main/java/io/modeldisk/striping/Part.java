package io.modeldisk.striping;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;

/**
 * A part of the range of a call. One command moves the part. The object is reused for later parts. Only {@link PartQueue} passes
 * it between threads.
 */
final class Part {
    /** The offset from the start of the call's range, in bytes. */
    long offset;
    int bytes;
    /** True if the part has a round. A part that is sent again keeps its round. */
    boolean granted;
    long round;
    /** The epoch of the membership in which the part got its round; see {@link PushLedger#epoch}. */
    int epoch;
    /** True if the shard might have the data of the part, because the connection was lost before the response to the command. */
    boolean doubtful;
    /** The session, the command and its task tag while the part is in flight; otherwise, the session and the command are null. */
    IscsiSession session;
    IoRequest request;
    int tag;

    Part begin(long at, int length) {
        offset = at;
        bytes = length;
        granted = false;
        doubtful = false;
        session = null;
        request = null;
        return this;
    }
}
