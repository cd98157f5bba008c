package io.modeldisk.command;

import io.modeldisk.admin.AdminServer;
import io.modeldisk.admin.overview.Overview;
import io.modeldisk.admin.overview.Watch;
import io.modeldisk.platform.time.NanoClock;

/** The HTTP server of a process, and what watches the model for its page. */
final class Admin implements AutoCloseable {
    /** What the page shows before there is a watch. */
    private final Overview empty = new Overview(NanoClock.SYSTEM, "a process that starts", 0);
    private AdminServer server;
    private volatile Watch watch;

    /** Sets the server. Without this call, the user wants none. */
    void serve(AdminServer started) {
        server = started;
    }

    /** Returns what the page shows now. */
    Overview overview() {
        Watch started = watch;
        return started == null ? empty : started.overview();
    }

    /** Returns whether there is a server. */
    boolean isUsed() {
        return server != null;
    }

    /** Starts the watch of the page. */
    void watch(Watch model) {
        watch = model.start();
    }

    /** Returns the end of a ready line, which names the address of the server. */
    String suffix() {
        return server == null ? "" : ", admin " + server.url();
    }

    @Override
    public void close() {
        try {
            if (server != null) {
                server.close();
            }
        } finally {
            if (watch != null) {
                watch.close();
            }
        }
    }
}
