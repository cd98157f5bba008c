package io.modeldisk.mount.fuse;

import io.modeldisk.platform.linux.Errno;
import java.io.IOException;
import java.util.Arrays;

/**
 * Delivers a FUSE_INTERRUPT to the request that it names: a request that is served is cancelled, a parked one is answered with
 * EINTR. The interrupt may be read before the thread that has received the request begins it; then it is remembered, the last
 * {@value #REMEMBERED} at most. (To ask the kernel to send it again, with EAGAIN, works only on the descriptor that has the
 * request, which is not known here.) Thread-safe.
 */
final class Interrupts {
    private static final int REMEMBERED = 64;

    private final RequestSlot[] slots;
    private final Lanes lanes;
    // Guarded by this; 0 is no request.
    private final long[] early = new long[REMEMBERED];
    private int next;
    private volatile boolean anyEarly;
    private volatile boolean closing;

    Interrupts(RequestSlot[] slots, Lanes lanes) {
        this.slots = slots;
        this.lanes = lanes;
    }

    /**
     * Ends the request with this number, now or when it begins.
     *
     * @param own the slot of the calling thread
     */
    synchronized void interrupt(long unique, RequestSlot own) throws IOException {
        // Remembered first, so that a request that begins or is parked meanwhile sees it.
        int at = next++ % REMEMBERED;
        early[at] = unique;
        anyEarly = true;
        if (cancel(unique) || answerParked(unique, own)) {
            early[at] = 0;
            anyEarly = Arrays.stream(early).anyMatch(number -> number != 0);
        }
    }

    /** Makes the request in this slot one that can be interrupted, and interrupts it if its interrupt was read before. */
    void begin(RequestSlot slot) {
        slot.begin();
        if (anyEarly || closing) {
            interruptIfAsked(slot);
        }
    }

    /** Answers a request that was just parked, if its interrupt was read before. */
    void parked(long unique, RequestSlot own) throws IOException {
        if (!anyEarly) {
            return;
        }
        synchronized (this) {
            for (int i = 0; i < REMEMBERED; i++) {
                if (early[i] == unique && answerParked(unique, own)) {
                    early[i] = 0;
                }
            }
        }
    }

    /** Cancels every request that is served, and every later one. */
    void interruptAll() {
        closing = true;
        for (RequestSlot slot : slots) {
            slot.cancel();
        }
    }

    private boolean cancel(long unique) {
        for (RequestSlot slot : slots) {
            if (slot.interrupt(unique)) {
                return true;
            }
        }
        return false;
    }

    private boolean answerParked(long unique, RequestSlot own) throws IOException {
        ParkedRequest request = lanes.remove(unique);
        if (request != null) {
            own.replyError(request, Errno.EINTR);
        }
        return request != null;
    }

    private synchronized void interruptIfAsked(RequestSlot slot) {
        if (closing) {
            slot.cancel();
            return;
        }
        for (int i = 0; i < REMEMBERED; i++) {
            if (early[i] != 0 && slot.interrupt(early[i])) {
                early[i] = 0;
            }
        }
    }
}
