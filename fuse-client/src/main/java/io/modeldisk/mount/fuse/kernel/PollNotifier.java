package io.modeldisk.mount.fuse.kernel;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.modeldisk.mount.fuse.PollWakeup;
import io.modeldisk.platform.linux.Descriptors;
import io.modeldisk.platform.linux.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/** Sends wake-ups for poll(2) and other messages to the kernel until the session ends. Thread-safe. */
final class PollNotifier {
    private static final Logger LOG = LogManager.getLogger(PollNotifier.class);

    private final int fd;
    private final ReplyView message;
    private final MemorySegment vector;
    private final MemorySegment state;
    private boolean closed;

    /**
     * Creates a notifier.
     *
     * @param fd the descriptor of the session
     */
    PollNotifier(Arena arena, int fd) {
        this.fd = fd;
        MemorySegment out = arena.allocate(ReplyView.CAPACITY_BYTES, Long.BYTES);
        this.message = new ReplyView(out);
        this.vector = arena.allocate(2 * Long.BYTES, Long.BYTES);
        this.state = Errno.newCallState(arena);
        vector.set(JAVA_LONG, 0, out.address());
    }

    /** Returns a wake-up for the open file with this number, which the kernel has assigned. */
    PollWakeup wakeup(long number) {
        return new PollWakeup() {
            @Override
            public void wake() {
                PollNotifier.this.wake(number);
            }

            @Override
            public void discard() {
                // Nothing to free.
            }
        };
    }

    private long send(int code, int bytes) {
        message.header(0, -code, bytes);
        vector.set(JAVA_LONG, Long.BYTES, bytes);
        return Descriptors.writev(state, fd, vector.address(), 1);
    }

    /** Makes the kernel send again all requests that have no reply. */
    synchronized void resend() {
        long written = send(KernelProtocol.NOTIFY_RESEND, ReplyView.HEADER_BYTES);
        if (written < 0) {
            LOG.error(
                "the kernel did not resend the requests of the previous process ({}): the processes that have made them "
                    + "wait until they are killed",
                Errno.nameOf(-written));
        }
    }

    /**
     * Wakes the processes that wait for the open file with this number. The kernel then requests the events of the file again.
     */
    synchronized void wake(long number) {
        if (closed) {
            return;
        }
        message.pollWakeup(number);
        long written = send(KernelProtocol.NOTIFY_POLL, ReplyView.HEADER_BYTES + message.bodyBytes());
        // ENOENT: the file is no longer open. ENODEV: the directory was unmounted.
        if (written < 0 && written != -Errno.ENOENT.number() && written != -Errno.ENODEV.number()) {
            LOG.warn("a process that waits in poll(2) could not be woken: {}", Errno.nameOf(-written));
        }
    }

    /** Stops sending. Must be called before the descriptor is closed. */
    synchronized void close() {
        closed = true;
    }
}
