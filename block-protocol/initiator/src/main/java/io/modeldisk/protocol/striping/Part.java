package io.modeldisk.protocol.striping;

import io.modeldisk.protocol.initiator.IoRequest;

/** A part of a call's range that goes in one command. Reused; guarded by its {@link Transfer}. */
final class Part {
    /** Bytes from the start of the call's range. */
    long offset;
    int bytes;
    /** Whether the round is settled: a part that is sent again is of the same one. */
    boolean granted;
    long round;
    /** In which membership of the shard the round was settled. */
    int epoch;
    /** Whether it was sent, and nobody said what became of it. */
    boolean doubtful;
    /** The command that carries it, and its tag; null if it is not in flight. */
    IoRequest request;
    int tag;

    Part begin(long at, int length) {
        offset = at;
        bytes = length;
        granted = false;
        doubtful = false;
        request = null;
        return this;
    }
}
