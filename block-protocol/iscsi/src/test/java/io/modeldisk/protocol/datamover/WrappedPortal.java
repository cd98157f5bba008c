package io.modeldisk.protocol.datamover;

import io.modeldisk.platform.time.NanoClock;
import java.io.IOException;
import java.util.function.BiFunction;

/**
 * A portal for tests, which replaces each connection of another portal by a wrapper.
 *
 * @param way the portal that makes the connections
 * @param wrapper returns the replacement of a connection. The second argument numbers the requests of the connection
 */
public record WrappedPortal(InitiatorPortal way,
    BiFunction<InitiatorDatamover, InitiatorDatamover.Numbering, InitiatorDatamover> wrapper)
    implements
        InitiatorPortal {
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
        return wrapper.apply(way.connect(numbering, queueDepth, timeoutMs, clock), numbering);
    }
}
