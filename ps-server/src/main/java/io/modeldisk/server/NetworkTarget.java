package io.modeldisk.server;

import java.net.InetSocketAddress;

/** A target that is being served. */
interface NetworkTarget extends AutoCloseable {
    /** Where it listens. */
    InetSocketAddress localAddress();

    /** Ends all sessions; when this returns, no thread calls the target any more. */
    @Override
    void close();
}
