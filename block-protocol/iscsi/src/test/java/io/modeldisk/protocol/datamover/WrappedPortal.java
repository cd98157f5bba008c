package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;

/**
 * A portal for tests, which replaces each connection of another portal by a wrapper.
 *
 * @param way the portal that makes the connections
 * @param wrapper returns the replacement of each connection
 */
public record WrappedPortal(InitiatorPortal way, Wrapper wrapper) implements InitiatorPortal {
    /** Replaces connections. */
    @FunctionalInterface
    public interface Wrapper {
        /** Returns the replacement of {@code connection}. {@code numbering} numbers the requests of {@code connection}. */
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
