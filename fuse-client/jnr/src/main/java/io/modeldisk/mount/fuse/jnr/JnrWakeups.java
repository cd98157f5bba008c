package io.modeldisk.mount.fuse.jnr;

import io.modeldisk.mount.fuse.PollWakeup;
import ru.serce.jnrfuse.LibFuse;
import ru.serce.jnrfuse.struct.FusePollhandle;

/**
 * The wake-ups for poll(2) with libfuse 2. They must end before the session ends, because libfuse then frees the channel that a
 * wake-up needs. Thread-safe.
 */
final class JnrWakeups {
    private final LibFuse libFuse;
    // Guarded by this.
    private boolean closed;

    JnrWakeups(LibFuse libFuse) {
        this.libFuse = libFuse;
    }

    /** Returns a wake-up, which owns {@code waiting} and destroys it after use. */
    PollWakeup of(FusePollhandle waiting) {
        return new PollWakeup() {
            // Guarded by the monitor of the enclosing JnrWakeups.
            private boolean used;

            @Override
            public void wake() {
                end(true);
            }

            @Override
            public void discard() {
                end(false);
            }

            private void end(boolean wakes) {
                synchronized (JnrWakeups.this) {
                    if (used || closed) {
                        return;
                    }
                    used = true;
                    if (wakes) {
                        libFuse.fuse_notify_poll(waiting);
                    }
                    libFuse.fuse_pollhandle_destroy(waiting);
                }
            }
        };
    }

    /** Stops sending wake-ups. Must be called before libfuse frees the channel. */
    synchronized void close() {
        closed = true;
    }
}
