package io.modeldisk.protocol.datamover.iser;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the connection requests and the connections of a portal. Each has an identifier that uses the portal's event channel,
 * so the portal must not destroy the channel before the count is 0. Thread-safe.
 *
 * @param <I> the type of the identifiers
 * @param <C> the type of the connections
 */
final class ChannelUses<I, C> {
    /** The number of requests and connections. A request that becomes a connection is counted only once. */
    private final AtomicInteger uses = new AtomicInteger();
    private final Map<I, C> connections = new ConcurrentHashMap<>();

    /** Records a connection request. The caller later calls {@link #refused} or {@link #opened} for the request. */
    void requested() {
        uses.incrementAndGet();
    }

    /** Records that a request was refused, and its identifier was destroyed. */
    void refused() {
        uses.decrementAndGet();
    }

    /** Records that a request has become a connection. The caller later calls {@link #ended} for the connection. */
    void opened(I id, C connection) {
        connections.put(id, connection);
    }

    /** Records that the identifier of a connection was destroyed. */
    void ended(I id) {
        if (connections.remove(id) != null) {
            uses.decrementAndGet();
        }
    }

    /** Returns the connection with this identifier, or null if there is none. */
    C connection(I id) {
        return id == null ? null : connections.get(id);
    }

    /** Returns true if no request and no connection uses the event channel. */
    boolean isEmpty() {
        return uses.get() == 0;
    }
}
