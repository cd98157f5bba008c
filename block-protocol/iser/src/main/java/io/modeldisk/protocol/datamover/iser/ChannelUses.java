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
    /** The number of requests that are neither refused nor a connection yet. */
    private final AtomicInteger requests = new AtomicInteger();
    private final Map<I, C> connections = new ConcurrentHashMap<>();

    /** Records a connection request. {@link #refused} or {@link #opened} follows. */
    void requested() {
        requests.incrementAndGet();
    }

    /** Records that the identifier of a request was destroyed. */
    void refused() {
        requests.decrementAndGet();
    }

    /** Records that a request has become a connection. {@link #ended} follows. */
    void opened(I id, C connection) {
        connections.put(id, connection);
        requests.decrementAndGet();
    }

    /** Records that the identifier of a connection was destroyed. */
    void ended(I id) {
        connections.remove(id);
    }

    /** Returns the connection with this identifier, or null if there is none. */
    C connection(I id) {
        return id == null ? null : connections.get(id);
    }

    /** Returns whether nothing uses the channel. */
    boolean isEmpty() {
        // In this order, because a request becomes a connection before it stops to count as a request.
        return requests.get() == 0 && connections.isEmpty();
    }
}
