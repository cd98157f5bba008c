package io.modeldisk.command.options;

import io.modeldisk.admin.AdminServer;
import io.modeldisk.admin.page.Overview;
import io.modeldisk.platform.time.NanoClock;

/** The HTTP server of a process, and the overview that its page shows. */
public final class Admin implements AutoCloseable {
    private volatile Overview overview = new Overview(NanoClock.SYSTEM, "a process that starts", 0);
    private AdminServer server;

    /** Sets the server. Without this call, there is none. */
    public void serve(AdminServer started) {
        server = started;
    }

    /** Returns what the page shows now. */
    Overview overview() {
        return overview;
    }

    /** Returns whether there is a server. */
    public boolean isUsed() {
        return server != null;
    }

    /** Sets the overview that the page shows from now on. This object closes the overview. */
    public void watch(Overview model) {
        overview = model;
    }

    /** Returns the end of a ready line, which names the address of the server. */
    public String suffix() {
        return server == null ? "" : ", admin " + server.url();
    }

    @Override
    public void close() {
        try {
            if (server != null) {
                server.close();
            }
        } finally {
            overview.close();
        }
    }
}
