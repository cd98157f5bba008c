package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;

/** A part of a call's range that one command moves. Reused for later parts. Passed between threads only by {@link PartQueue}. */
final class Part {
    /** The offset from the start of the call's range, in bytes. */
    long offset;
    int bytes;
    /** Whether the part has a round. A part that is sent again keeps its round. */
    boolean granted;
    long round;
    /** The number of the membership in which the part got its round; see {@link PushLedger#epoch}. */
    int epoch;
    /** Whether the connection was lost before the response to the command, so that the shard may have the data of the part. */
    boolean doubtful;
    /**
     * The session, the command and the tag of the command while the part is in flight. Session and command are null otherwise.
     */
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
