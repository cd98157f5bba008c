package io.modeldisk.mount.fuse;

import java.util.Arrays;

/**
 * Brings a FUSE_INTERRUPT to the request it means. It may be read before the thread that has received the request begins it; then
 * it is remembered, the last {@value #REMEMBERED} at most. (Asking the kernel to send it again, with EAGAIN, works only on the
 * descriptor that has the request, which is not known here.) Thread-safe.
 */
final class Interrupts {
    private static final int REMEMBERED = 64;

    private final RequestSlot[] slots;
    private final long[] early = new long[REMEMBERED];
    private int next;
    private volatile boolean some;
    private volatile boolean closing;

    Interrupts(RequestSlot[] slots) {
        this.slots = slots;
    }

    /** Cancels the request with this number, now or when it begins. */
    synchronized void interrupt(long unique) {
        // Remembered before looking, so that a request that begins meanwhile sees it one way or the other.
        int at = next++ % REMEMBERED;
        early[at] = unique;
        some = true;
        for (RequestSlot slot : slots) {
            if (slot.interrupt(unique)) {
                early[at] = 0;
                some = Arrays.stream(early).anyMatch(number -> number != 0);
                return;
            }
        }
    }

    /** Makes the request in this slot one that can be interrupted, and interrupts it if that was asked for before. */
    void begin(RequestSlot slot) {
        slot.begin();
        if (some || closing) {
            interruptIfAsked(slot);
        }
    }

    /** Cancels every request that is being served, and every later one. */
    void interruptAll() {
        closing = true;
        for (RequestSlot slot : slots) {
            slot.cancel();
        }
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
