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
    /** The membership of the shard in which the part got its round. */
    int epoch;
    /** Whether the part was sent and the connection was lost before the response. */
    boolean doubtful;
    /** The session, the command and its tag while the part is in flight. The session and the command are null otherwise. */
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
