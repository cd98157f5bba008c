package io.modeldisk.protocol.datamover.iser;

import io.modeldisk.platform.time.NanoClock;
import io.modeldisk.protocol.datamover.InitiatorDatamover;
import io.modeldisk.protocol.datamover.InitiatorPortal;
import java.io.IOException;

/** A portal that remembers its last connection. */
final class RememberingPortal implements InitiatorPortal {
    private final InitiatorPortal way;
    private volatile IserInitiatorDatamover last;

    RememberingPortal(InitiatorPortal way) {
        this.way = way;
    }

    /** Returns the last connection. */
    IserInitiatorDatamover last() {
        return last;
    }

    @Override
    public String datamover() {
        return way.datamover();
    }

    @Override
    public boolean needsShareableMemory() {
        return way.needsShareableMemory();
    }

    @Override
    public InitiatorDatamover connect(
        InitiatorDatamover.Numbering numbering, int queueDepth, long timeoutMs, NanoClock clock) throws IOException {
        last = (IserInitiatorDatamover) way.connect(numbering, queueDepth, timeoutMs, clock);
        return last;
    }
}
