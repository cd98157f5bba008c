package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;

/**
 * A way to a target on which each connection is another's, for tests.
 *
 * @param way the way itself
 * @param wrapper makes what is used out of a connection
 */
public record WrappedPortal(InitiatorPortal way, Wrapper wrapper) implements InitiatorPortal {
    /** Makes what is used out of a connection. */
    @FunctionalInterface
    public interface Wrapper {
        /** A connection, and what gives out its numbers. */
        InitiatorDatamover wrap(InitiatorDatamover connection, InitiatorDatamover.Numbering numbering);
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
        return wrapper.wrap(way.connect(numbering, queueDepth, timeoutMs, clock), numbering);
    }
}
