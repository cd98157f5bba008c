package io.modeldisk.server;

import io.modeldisk.protocol.engine.Target;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Puts a target on a network: the seam to the iSCSI server of block-protocol. */
interface TargetLauncher {
    /** Listens at {@code listen}, where port 0 means any. */
    NetworkTarget launch(InetSocketAddress listen, Target target) throws IOException;
}
