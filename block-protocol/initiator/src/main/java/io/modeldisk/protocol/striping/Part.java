package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.initiator.IoRequest;
import io.modeldisk.protocol.initiator.IscsiSession;

/** A part of a call's range that goes in one command. Reused; guarded by its {@link StripedTransfer}. */
final class Part {
    /** Bytes from the start of the call's range. */
    long offset;
    int bytes;
    /** Whether the round is settled: a part that is sent again keeps its round. */
    boolean granted;
    long round;
    /** The membership of the shard in which the round was settled. */
    int epoch;
    /** Whether it was sent and the connection was lost before the response. */
    boolean doubtful;
    /** The session and the command that carry it, and the command's tag; null if it is not in flight. */
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
