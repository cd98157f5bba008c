package io.modeldisk.server;

import java.net.InetSocketAddress;

/** A target that is being served. */
interface NetworkTarget extends AutoCloseable {
    /** Where it listens. */
    InetSocketAddress localAddress();

    /** Where it shares memory with learners on this host, as text; null if it does not. */
    default String sharesMemoryAt() {
        return null;
    }

    /** Ends all sessions; when this returns, no thread calls the target any more. */
    @Override
    void close();
}
