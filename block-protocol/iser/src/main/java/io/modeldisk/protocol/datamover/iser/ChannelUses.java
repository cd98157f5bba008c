package io.modeldisk.protocol.datamover.iser;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The connections and connection requests of a portal. Their identifiers use its event channel, so the channel must exist as long
 * as one of them does. Thread-safe.
 *
 * @param <I> the type of an identifier
 * @param <C> the type of a connection
 */
final class ChannelUses<I, C> {
    /** The number of requests and connections. A request that becomes a connection remains counted. */
    private final AtomicInteger uses = new AtomicInteger();
    private final Map<I, C> connections = new ConcurrentHashMap<>();

    /** Records a connection request. {@link #refused} or {@link #opened} follows. */
    void requested() {
        uses.incrementAndGet();
    }

    /** Records that the identifier of a request was destroyed. */
    void refused() {
        uses.decrementAndGet();
    }

    /** Records that a request has become a connection. {@link #ended} follows. */
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

    /** Returns whether nothing uses the channel. */
    boolean isEmpty() {
        return uses.get() == 0;
    }
}
